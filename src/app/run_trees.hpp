// The agent trees of a journal, as lists and live views show them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// Whether the session neither runs nor waits for an approver.
bool is_idle(const AgentNode& node);

/// Agent trees of one journal, refreshed by reading what was added. Not thread-safe.
class RunTrees {
 public:
  enum class Roots : std::uint8_t {
    kBusy,  ///< those that are not idle; a tree that was shown once stays
    kLast,  ///< the same, or the last one if all are idle
    kAll
  };
  RunTrees(std::shared_ptr<Journal> journal, Roots roots) : journal_(std::move(journal)), roots_(roots) {}
  /// A single tree.
  RunTrees(std::shared_ptr<Journal> journal, const SessionId& root);

  /// Reads what has changed. Leaves out trees that were removed after they were listed. Error `kJournal`;
  /// also `kNotFound` if the single tree does not exist.
  Status refresh();
  /// The roots of the trees that are not idle.
  std::vector<SessionId> busy() const;
  /// The busy roots with an open turn that no process has open. Error `kJournal`.
  Result<std::vector<SessionId>> deserted() const;
  /// Parents before their children; the trees that are not idle first, the newest of them on top.
  std::vector<AgentNode> nodes() const;

 private:
  Status find_trees();
  void add_tree(const SessionId& root);

  std::shared_ptr<Journal> journal_;
  std::optional<Roots> roots_;  ///< nothing: the one that was given
  std::map<SessionId, JournalTree> trees_;
};

}  // namespace praxis::app
