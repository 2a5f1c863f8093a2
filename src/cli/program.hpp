// The program around the commands: sound standard streams, parsing, and one way in which every failure is
// told.
#pragma once

#include <string>
#include <vector>

namespace praxis::cli {

/// Carries out the arguments (without the program's name) and returns the exit status.
int run_program(const std::vector<std::string>& arguments);

}  // namespace praxis::cli
