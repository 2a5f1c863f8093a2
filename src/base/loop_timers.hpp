// The timers of an event loop, on one Asio timer. Most timers are cancelled long before they are due, so
// cancelling costs the loop nothing: the Asio timer is only ever moved to an earlier time.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "praxis/base/executor.hpp"

namespace praxis {

/// Thread-safe. Captures of a task are destroyed outside the lock, because their destructors may call this
/// object.
class LoopTimers {
 public:
  using TimerId = Executor::TimerId;

  void start(boost::asio::io_context& io) { clock_.emplace(io); }
  /// Destroys all tasks; later calls of `add` do nothing. Call it before the loop is destroyed.
  void stop() {
    Queue dropped;
    const std::lock_guard lock(mutex_);
    clock_.reset();
    due_.clear();
    dropped.swap(queue_);
  }

  /// Returns 0 after `stop`.
  TimerId add(std::chrono::nanoseconds delay, Task task) {
    const std::lock_guard lock(mutex_);
    if (!clock_) return 0;
    const TimerId id = ++last_;
    const TimePoint due = Clock::now() + std::min<std::chrono::nanoseconds>(delay, kLongest);
    queue_.emplace(std::pair(due, id), std::move(task));
    due_.emplace(id, due);
    arm();
    return id;
  }

  void cancel(TimerId id) {
    Queue::node_type dropped;
    const std::lock_guard lock(mutex_);
    if (const auto known = due_.extract(id)) dropped = queue_.extract({known.mapped(), id});
  }

 private:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
  using Queue = std::map<std::pair<TimePoint, TimerId>, Task>;
  static constexpr std::chrono::hours kLongest{24 * 365};  // sums of time points cannot overflow

  void arm() {
    if (queue_.empty() || queue_.begin()->first.first >= armed_) return;
    armed_ = queue_.begin()->first.first;
    clock_->expires_at(armed_);
    clock_->async_wait([this](const boost::system::error_code& superseded) {
      if (!superseded) fire();
    });
  }

  void fire() {
    std::unique_lock lock(mutex_);
    armed_ = TimePoint::max();
    const TimePoint now = Clock::now();
    while (!queue_.empty() && queue_.begin()->first.first <= now) {
      auto timer = queue_.extract(queue_.begin());
      due_.erase(timer.key().second);
      lock.unlock();
      timer.mapped()();
      timer = {};
      lock.lock();
    }
    arm();
  }

  std::mutex mutex_;
  std::optional<boost::asio::steady_timer> clock_;
  Queue queue_;
  std::unordered_map<TimerId, TimePoint> due_;
  TimerId last_ = 0;
  TimePoint armed_ = TimePoint::max();
};

}  // namespace praxis
