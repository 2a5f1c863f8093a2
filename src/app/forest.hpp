// The trees of sessions that a command looks at.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "praxis/runtime/agent_tree.hpp"

namespace praxis::cli {

/// Whether nothing of the session goes on or waits.
bool at_rest(const AgentNode& node);

/// Trees of one journal, read again and again. Not thread-safe.
class Forest {
 public:
  enum class Roots : std::uint8_t {
    kBusy,  ///< those that are not at rest; what was shown once stays
    kLast,  ///< the same, or the last one if all are at rest
    kAll
  };
  Forest(std::shared_ptr<Journal> journal, Roots roots) : journal_(std::move(journal)), roots_(roots) {}
  /// One tree alone.
  Forest(std::shared_ptr<Journal> journal, const SessionId& root);

  /// Reads what has changed. Error `kJournal`.
  Status refresh();
  /// The roots of the trees that are not at rest.
  std::vector<SessionId> busy() const;
  /// Those of them that are in the middle of a turn although no process has them open. Error `kJournal`.
  Result<std::vector<SessionId>> deserted() const;
  /// Parents before their children; the trees that are not at rest first, the newest of them on top.
  std::vector<AgentNode> nodes() const;

 private:
  Status find_trees();
  void plant(const SessionId& root);

  std::shared_ptr<Journal> journal_;
  std::optional<Roots> roots_;  ///< nothing: the one that was given
  std::map<SessionId, JournalTree> trees_;
};

}  // namespace praxis::cli
