// The definition of the command line: every command, option, help text and example stands in app.cpp and
// nowhere else.
#pragma once

#include <span>
#include <string>

#include "cli/options.hpp"
#include "praxis/base/result.hpp"

namespace praxis::cli {

/// What the arguments (without the program's name) ask for. Error `kInput`, with the nearest valid name.
Result<Invocation> parse_arguments(std::span<const std::string> arguments);

}  // namespace praxis::cli
