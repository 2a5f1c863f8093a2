#include "app/own_folder.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace praxis::app {

namespace fs = std::filesystem;

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::vector<std::string> environment_names() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

fs::path own_folder(const std::string& variable, const char* fallback) {
  // By the XDG specification, a relative path in the variable counts as unset.
  if (const fs::path folder = environment_variable(variable); folder.is_absolute()) return folder / "praxis";
  const std::string home = environment_variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / fallback / "praxis";
}

}  // namespace praxis::app
