// Human in the loop: the handler that this process asks about parked steps, and the questions waiting for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis {

/// The approval handler of one process and its queue of questions. At most `kMostAtOnce` questions run at
/// once, because a handler may block a worker for as long as a human needs. Thread-safe.
class People {
 public:
  void set(ApprovalHandler handler);
  /// Null when no handler is set.
  std::shared_ptr<const ApprovalHandler> handler() const;
  /// A different number for each handler that was set; 0 without a handler.
  std::uint64_t generation() const { return generation_; }

  /// Queues a task that asks the handler. Returns true when the caller has to run `work` on one more worker.
  bool add(Task task);
  /// Runs queued tasks until the queue is empty.
  void work();

 private:
  static constexpr std::size_t kMostAtOnce = 64;

  mutable std::mutex mutex_;
  std::shared_ptr<const ApprovalHandler> handler_;
  std::deque<Task> waiting_;
  std::size_t workers_ = 0;
  std::uint64_t generations_ = 0;
  std::atomic<std::uint64_t> generation_ = 0;
};

}  // namespace praxis
