// An executor for tests, without threads or a real clock: runs work on the calling thread, only when the test
// asks, in a fixed order; time is virtual.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "praxis/base/executor.hpp"

namespace praxis {

/// `post` and `after` are thread-safe; `run_ready` and `advance` belong to the test's thread. Blocking tasks
/// share the queue of short ones, so a task must not wait for a later one.
class ManualExecutor final : public Executor {
 public:
  void post(Task task) override {
    std::lock_guard lock(mutex_);
    ready_.push_back(std::move(task));
  }
  void post_blocking(Task task) override { post(std::move(task)); }

  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    std::lock_guard lock(mutex_);
    timers_.emplace(Due{now_ + delay, ++last_timer_}, std::move(task));
    return last_timer_;
  }

  void cancel(TimerId id) override {
    Task dropped;
    std::lock_guard lock(mutex_);
    for (auto timer = timers_.begin(); timer != timers_.end(); ++timer) {
      if (timer->first.second != id) continue;
      dropped = std::move(timer->second);
      timers_.erase(timer);
      return;
    }
  }

  /// Runs queued tasks, and the tasks that they queue, until the queue is empty; returns how many ran.
  std::size_t run_ready() {
    std::size_t count = 0;
    for (; auto task = take_ready(); ++count) (*task)();
    return count;
  }

  /// Lets `duration` pass: runs each timer that falls due at its own time, in order, with the tasks that it
  /// queues.
  void advance(std::chrono::nanoseconds duration) {
    run_ready();
    const auto until = now() + duration;
    while (auto task = take_due(until)) {
      (*task)();
      run_ready();
    }
    std::lock_guard lock(mutex_);
    now_ = std::max(now_, until);  // a task may have let more time pass
  }

  /// Virtual time since the executor was made.
  std::chrono::nanoseconds now() const {
    std::lock_guard lock(mutex_);
    return now_;
  }
  /// Timers that have not fired.
  std::size_t pending_timers() const {
    std::lock_guard lock(mutex_);
    return timers_.size();
  }

 private:
  using Due = std::pair<std::chrono::nanoseconds, TimerId>;

  std::optional<Task> take_ready() {
    std::lock_guard lock(mutex_);
    if (ready_.empty()) return std::nullopt;
    Task task = std::move(ready_.front());
    ready_.pop_front();
    return task;
  }

  std::optional<Task> take_due(std::chrono::nanoseconds until) {
    std::lock_guard lock(mutex_);
    if (timers_.empty() || timers_.begin()->first.first > until) return std::nullopt;
    auto timer = timers_.extract(timers_.begin());
    now_ = timer.key().first;
    return std::move(timer.mapped());
  }

  mutable std::mutex mutex_;
  std::deque<Task> ready_;
  std::map<Due, Task> timers_;
  std::chrono::nanoseconds now_{0};
  TimerId last_timer_ = 0;
};

}  // namespace praxis
