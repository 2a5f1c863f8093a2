// The files that the user's configuration names: programs that run with the rights of the user, and keys.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.hpp"

namespace praxis::app {

/// What no tool may write, or not even read.
struct NamedFiles {
  std::vector<std::string> run;     ///< programs of hooks, of the chat and of secrets; the folder of agents
  std::vector<std::string> secret;  ///< files with keys and secrets
};

/// The files that the configuration names, seen from the current folder.
NamedFiles named_files(const Workspace& workspace);

}  // namespace praxis::app
