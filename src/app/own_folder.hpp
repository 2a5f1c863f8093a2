// The user's own folders, by the XDG base directory specification.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace praxis::app {

/// The value of an environment variable; empty if unset.
std::string environment_variable(const std::string& name);
/// The names of all environment variables.
std::vector<std::string> environment_names();
/// Praxis's folder in an XDG base folder: `$variable/praxis`, or `~/fallback/praxis`. Empty if neither the
/// variable nor HOME is set.
std::filesystem::path own_folder(const std::string& variable, const char* fallback);

}  // namespace praxis::app
