// The trees of sessions that a command shows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "praxis/runtime/agent_tree.hpp"

namespace praxis::cli {

/// Whether the session is idle: nothing runs and nothing waits.
bool at_rest(const AgentNode& node);

/// Trees of one journal, refreshed on demand. Not thread-safe.
class Forest {
 public:
  enum class Roots : std::uint8_t {
    kBusy,  ///< trees that are not idle; a tree once shown stays
    kLast,  ///< the same, or the last one if all are idle
    kAll
  };
  Forest(std::shared_ptr<Journal> journal, Roots roots) : journal_(std::move(journal)), roots_(roots) {}
  /// Shows a single tree.
  Forest(std::shared_ptr<Journal> journal, const SessionId& root);

  /// Reads the changes. Error `kJournal`.
  Status refresh();
  /// The roots of the trees that are not idle.
  std::vector<SessionId> busy() const;
  /// Those roots that are in a turn although no process has them open. Error `kJournal`.
  Result<std::vector<SessionId>> deserted() const;
  /// Parents before their children; trees that are not idle first, newest first.
  std::vector<AgentNode> nodes() const;

 private:
  Status find_trees();
  void plant(const SessionId& root);

  std::shared_ptr<Journal> journal_;
  std::optional<Roots> roots_;  ///< unset: the given root
  std::map<SessionId, JournalTree> trees_;
};

}  // namespace praxis::cli
