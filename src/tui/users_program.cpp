#include "tui/users_program.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/own_folder.hpp"

namespace praxis::tui {

ProcessSpec users_program(std::vector<std::string> argv) {
  std::error_code failed;
  ProcessSpec spec;
  spec.argv = std::move(argv);
  for (const std::string& name : app::environment_names())
    spec.environment[name] = app::environment_variable(name);
  spec.folder = std::filesystem::current_path(failed).string();
  return spec;
}

}  // namespace praxis::tui
