// JSON for a person to read and edit.
#pragma once

#include <string>

#include "praxis/json/json.hpp"

namespace praxis::app {

/// Text with one member per line, indented by two spaces, and a final newline; keys in insertion order.
std::string pretty_json(const Json& value);

}  // namespace praxis::app
