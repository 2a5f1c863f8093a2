// People in the loop: whoever this process asks about the steps that wait, and how long those wait.
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

/// Who decides for people in one process, and the questions that wait for their turn: few are asked at once,
/// because whoever answers may hold a worker for as long as a person needs. Thread-safe.
class People {
 public:
  void set(ApprovalHandler handler);
  /// Null when there is nobody.
  std::shared_ptr<const ApprovalHandler> handler() const;
  /// Another number for each handler that was set; 0 when there is none.
  std::uint64_t generation() const { return generation_; }

  /// Takes a task that asks somebody; true when one more worker is to `work`.
  bool add(Task task);
  /// Asks until there is nothing left to ask.
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
