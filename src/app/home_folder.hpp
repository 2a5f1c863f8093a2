// The home folder as a workspace: tools that reach it reach keys, start files and the settings of every
// program, so an agent gets it, or a folder above it, only if the user agrees.
#pragma once

#include <functional>
#include <string>

#include "praxis/app/agent_file.hpp"

namespace praxis::app {

/// Decides whether tools may reach `folder`, which is or holds the home folder; an error refuses.
using HomeAcceptance = std::function<Status(const std::string& folder)>;

/// Whether `folder` is the user's home folder or one above it, by any of its names. The home folder is that
/// of `HOME` and that of the user database.
bool holds_home(const std::string& folder);

/// Finds out whether the tools of an agent reach the home folder.
class HomeReach {
 public:
  /// Lets the reader of agent files report each folder that a tool gets. `options` must not outlive this
  /// object.
  void watch(AgentFileOptions& options);
  /// Asks `accept` (null: refuses) if a tool reaches the home folder and the user has not agreed before.
  Status check(bool accepted_before, const HomeAcceptance& accept) const;
  /// Whether a tool reaches it.
  bool reached() const { return !folder_.empty(); }

 private:
  std::string folder_;  ///< the first such folder
};

}  // namespace praxis::app
