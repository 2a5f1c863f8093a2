// Repairs of the user's own folders and files that lose nothing: missing folders, and rights that are too
// wide.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.hpp"

namespace praxis::app {

/// What was done to a file or folder, or why it could not be.
struct Repair {
  std::string path;
  std::string done;   ///< such as `created`; empty: it failed
  std::string error;  ///< why it failed
};

/// Creates the user's folders for configuration, agents and state. Takes write access to the configuration,
/// profiles, agents and rules, and all access to the state folder and the server's tokens, from other users.
/// Leaves alone what belongs to another user, is a link, or is in order. Neither reads nor deletes anything.
std::vector<Repair> repair_own_files();
/// The same for what the configuration names: creates the journal's folder, takes all access to key files
/// from other users.
std::vector<Repair> repair_configured_files(const Workspace& workspace);

}  // namespace praxis::app
