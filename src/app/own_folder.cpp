#include "app/own_folder.hpp"

#include <cstdlib>

namespace praxis::app {

namespace fs = std::filesystem;

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

fs::path own_folder(const std::string& variable, const char* fallback) {
  // By the XDG specification, a relative path in the variable counts as unset.
  if (const fs::path folder = environment_variable(variable); folder.is_absolute()) return folder / "praxis";
  const std::string home = environment_variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / fallback / "praxis";
}

}  // namespace praxis::app
