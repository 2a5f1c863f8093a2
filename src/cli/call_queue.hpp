// Runs calls that may block one after the other, on a thread of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace praxis::cli {

/// Thread-safe.
class CallQueue {
 public:
  CallQueue();
  /// Drops the calls that have not begun; waits for the one that runs.
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  void add(std::function<void()> call);
  /// Waits until no call is left, at most `limit`.
  void settle(std::chrono::milliseconds limit);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;
  bool runs_ = false, ends_ = false;
  std::jthread thread_;
};

}  // namespace praxis::cli
