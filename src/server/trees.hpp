// Agent trees of the journal that were read before, so that reading one again costs only what has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "praxis/runtime/agent_tree.hpp"

namespace praxis::server {

/// Thread-safe. What was asked for least recently is forgotten first.
class Trees {
 public:
  explicit Trees(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}
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

  const std::shared_ptr<Journal> journal_;
  std::mutex mutex_;  // guards the next members; never held while a tree is read
  std::unordered_map<SessionId, std::shared_ptr<Kept>> trees_;
  std::uint64_t uses_ = 0;
};

}  // namespace praxis::server
