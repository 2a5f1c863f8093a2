// The definition of the command line. app.cpp contains every command, option, help text and example.
#pragma once

#include <span>
#include <string>

#include "cli/options.hpp"
#include "praxis/base/result.hpp"

namespace praxis::cli {

/// Parses the arguments (without the program's name). Error `kInput` names the nearest valid name.
Result<Invocation> parse_arguments(std::span<const std::string> arguments);

}  // namespace praxis::cli
