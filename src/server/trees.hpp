// Agent trees of the journal that were read before, so that reading one again costs only what has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "praxis/runtime/agent_tree.hpp"
#include "server/folds.hpp"

namespace praxis::server {

/// Thread-safe. What was asked for least recently is forgotten first.
class Trees {
 public:
  /// A session without sub-agents is folded by `folds`, so that a long log is not folded a second time for
  /// its tree.
  Trees(std::shared_ptr<Journal> journal, std::shared_ptr<Folds> folds)
      : journal_(std::move(journal)), folds_(std::move(folds)) {}
  /// The session and all below it, as they are now; the session comes first. Errors of the journal.
  Result<std::vector<AgentNode>> of(const SessionId& root);

 private:
  static constexpr std::size_t kMost = 128;
  struct Kept {
    explicit Kept(JournalTree read) : tree(std::move(read)) {}
    std::mutex mutex;  // guards `tree`
    JournalTree tree;
    std::uint64_t used = 0;
  };

  /// The node of a session that has no sub-agents; nothing if it has some, or cannot be folded.
  Result<std::optional<AgentNode>> lone(const SessionId& id) const;

  const std::shared_ptr<Journal> journal_;
  const std::shared_ptr<Folds> folds_;
  std::mutex mutex_;  // guards the next members; never held while a tree is read
  std::unordered_map<SessionId, std::shared_ptr<Kept>> trees_;
  std::uint64_t uses_ = 0;
};

}  // namespace praxis::server
