// A project in plain words: what it would set or let run if the user trusted it.
#pragma once

#include <string>
#include <vector>

#include "app/project.hpp"

namespace praxis::app {

/// One line per setting, agent and right, each whole and safe to display; nothing that a file sets is left
/// out. Two texts are equal exactly if the files say the same.
std::vector<std::string> describe_project(const Project& project);
}  // namespace praxis::app
