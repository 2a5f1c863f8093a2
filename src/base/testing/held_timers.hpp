// An executor for tests: threads and descriptors are real, and timers fire only when the test lets virtual
// time pass, except those without a delay. So a test states what ends without a timer, and after which delay
// the rest does, on any machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/testing/manual_executor.hpp"

namespace praxis {

/// `advance` belongs to the test's thread, which also runs the timers that fall due; all else is thread-safe.
class HeldTimers final : public Executor {
 public:
  explicit HeldTimers(std::shared_ptr<Executor> threads) : threads_(std::move(threads)) {}

  void post(Task task) override { threads_->post(std::move(task)); }
  void post_blocking(Task task) override { threads_->post_blocking(std::move(task)); }
  WatchId watch(int fd, Readiness readiness, Task task) override {
    return threads_->watch(fd, readiness, std::move(task));
  }
  void unwatch(WatchId watch) override { threads_->unwatch(watch); }
  bool wants_work() const override { return threads_->wants_work(); }

  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    if (delay <= std::chrono::nanoseconds(0)) return 2 * threads_->after(delay, std::move(task)) + 1;
    const TimerId timer = 2 * timers_.after(delay, std::move(task));
    const std::lock_guard lock(mutex_);
    delays_.push_back(delay);
    return timer;
  }
  void cancel(TimerId timer) override {
    if (timer % 2 == 1) return threads_->cancel(timer / 2);
    timers_.cancel(timer / 2);
  }

  /// Fires the timers that fall due within `duration`.
  void advance(std::chrono::nanoseconds duration) { timers_.advance(duration); }
  /// How many timers with this delay have been set, fired and cancelled ones included.
  std::size_t set_for(std::chrono::nanoseconds delay) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count(delays_, delay));
  }

 private:
  const std::shared_ptr<Executor> threads_;
  ManualExecutor timers_;
  mutable std::mutex mutex_;
  std::vector<std::chrono::nanoseconds> delays_;
};

}  // namespace praxis
