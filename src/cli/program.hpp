// The program around the commands: valid standard streams, argument parsing, and uniform error reports.
#pragma once

#include <string>
#include <vector>

namespace praxis::cli {

/// Runs the command given by the arguments (without the program's name) and returns the exit status.
int run_program(const std::vector<std::string>& arguments);

}  // namespace praxis::cli
