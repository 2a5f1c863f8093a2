// Timers ordered by due time. Most are cancelled long before they are due.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "praxis/base/executor.hpp"

namespace praxis {

/// Not thread-safe. Returns tasks and destroys none, so that its owner can run and destroy them outside a
/// lock.
class TimerQueue {
 public:
  using TimerId = Executor::TimerId;
  using TimePoint = std::chrono::steady_clock::time_point;

  TimerId add(TimePoint now, std::chrono::nanoseconds delay, Task task) {
    const TimerId id = ++last_;
    const TimePoint due = now + std::min<std::chrono::nanoseconds>(delay, kLongest);
    queue_.emplace(std::pair(due, id), std::move(task));
    due_.emplace(id, due);
    return id;
  }
  /// Cancels a timer and returns its task; empty for an unknown timer.
  Task take(TimerId id) {
    const auto known = due_.extract(id);
    return known ? std::move(queue_.extract({known.mapped(), id}).mapped()) : Task();
  }
  /// Removes the earliest timer that is due at `now` and returns its task; empty when no timer is due.
  Task take_due(TimePoint now) {
    if (queue_.empty() || queue_.begin()->first.first > now) return {};
    const auto timer = queue_.extract(queue_.begin());
    due_.erase(timer.key().second);
    return std::move(timer.mapped());
  }
  /// Returns when the earliest timer is due; `std::nullopt` without timers.
  std::optional<TimePoint> earliest() const {
    return queue_.empty() ? std::nullopt : std::optional(queue_.begin()->first.first);
  }

 private:
  static constexpr std::chrono::hours kLongest{24 * 365};  // so that sums of time points cannot overflow

  std::map<std::pair<TimePoint, TimerId>, Task> queue_;
  std::unordered_map<TimerId, TimePoint> due_;
  TimerId last_ = 0;
};

}  // namespace praxis
