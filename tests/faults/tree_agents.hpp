// For `tree_io`: a tree of twenty agents whose tools act outside, and a model that reads every request for
// words of ours about the disk.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "praxis/praxis.hpp"

namespace praxis::faults {

/// The outside of the tree, over all processes that work on it. Thread-safe.
class Outside {
 public:
  void act(const std::string& key) {
    const std::lock_guard lock(mutex_);
    ++acts_[key];
  }
  int acts(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = acts_.find(key);
    return found == acts_.end() ? 0 : found->second;
  }
  std::map<std::string, int> all() const {
    const std::lock_guard lock(mutex_);
    return acts_;
  }
  /// A model was sent this text.
  void hear(std::string text) {
    const std::lock_guard lock(mutex_);
    heard_.insert(std::move(text));
  }
  std::set<std::string> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> acts_;  ///< by idempotency key
  std::set<std::string> heard_;      ///< everything that models were sent
};

/// The number of sessions of a tree.
constexpr std::size_t kTreeSize = 20;
/// The final answer of its root.
constexpr const char* kTreeAnswer = "All is done.";

/// Returns the root: it pays, and delegates to agents on models, a plan, six steps, a handler that swallows
/// every error and a session of Python. They and their sub-agents pay too.
Agent tree_of_twenty(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Outside>& outside,
                     InDoubt in_doubt);

}  // namespace praxis::faults
