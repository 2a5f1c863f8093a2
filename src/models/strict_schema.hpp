// Which JSON Schemas a server can hold a model to word for word.
#pragma once

#include "praxis/json/json.hpp"

namespace praxis {

/// Whether a schema may be held to strictly: every object lists all its properties as required and takes no
/// others, and no keyword is used that strict servers refuse.
bool is_strict_schema(const Json& schema);

}  // namespace praxis
