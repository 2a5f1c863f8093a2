// The agent files that are being read for one agent, each named by the one before it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace praxis::app {

struct FileChain {
  std::vector<std::string> files;
  std::size_t read = 0;  ///< total number, for the whole chain; a file counts each time it is named
  std::size_t root = 1;  ///< length of the chain down to an agent with a session of its own
  std::vector<std::string> tools = {};  ///< of the agents that were read
  std::vector<std::string> named = {};  ///< what all of them name (`named_by_agents`), for the whole chain

  /// Whether the file read now is of an agent with a session of its own: the first file, or a team's member.
  bool is_root() const { return files.size() == root; }
  /// Why the last file cannot name this one; empty if it can.
  std::string why_not(const std::string& path) const;
};

}  // namespace praxis::app
