#include <span>
#include <string>
#include <vector>

#include "cli/program.hpp"

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  return praxis::cli::run_program({arguments.begin() + (argc > 0 ? 1 : 0), arguments.end()});
}
