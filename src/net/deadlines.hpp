// Many deadlines on one timer. Nearly all are moved later or dropped before they fall due, so moving one
// later costs nothing: it is checked again at its old time.
#pragma once

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "praxis/base/executor.hpp"

namespace praxis {

using TimePoint = std::chrono::steady_clock::time_point;

/// An object with one deadline; drop it from its `Deadlines` before it is destroyed.
class Timed {
 public:
  /// Called when the deadline has passed; it is no longer set and may be set again.
  virtual void on_deadline() = 0;
  virtual ~Timed() = default;

 private:
  friend class Deadlines;
  TimePoint deadline_ = TimePoint::max();
  /// When it will be checked; never later than `deadline_`.
  TimePoint queued_ = TimePoint::max();
};

/// Used only on the thread that runs the short tasks of `executor`, which must outlive it.
class Deadlines {
 public:
  explicit Deadlines(Executor& executor) : executor_(executor) {}
  ~Deadlines() { stop(); }
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  void set(Timed& timed, TimePoint deadline) {
    timed.deadline_ = deadline;
    if (deadline >= timed.queued_) return;
    unqueue(timed);
    enqueue(timed);
    arm();
  }
  void drop(Timed& timed) {
    timed.deadline_ = TimePoint::max();
    unqueue(timed);
  }
  /// Removes all deadlines and cancels the timer.
  void stop() {
    queue_.clear();
    executor_.cancel(timer_);
  }

 private:
  void enqueue(Timed& timed) {
    timed.queued_ = timed.deadline_;
    queue_.emplace(timed.queued_, &timed);
  }
  void unqueue(Timed& timed) {
    if (timed.queued_ != TimePoint::max()) queue_.erase({timed.queued_, &timed});
    timed.queued_ = TimePoint::max();
  }

  void arm() {
    if (queue_.empty() || queue_.begin()->first >= armed_) return;
    armed_ = queue_.begin()->first;
    executor_.cancel(timer_);
    timer_ = executor_.after(armed_ - std::chrono::steady_clock::now(), [this] { fire(); });
  }

  void fire() {
    armed_ = TimePoint::max();
    const TimePoint now = std::chrono::steady_clock::now();
    while (!queue_.empty() && queue_.begin()->first <= now) {
      Timed& timed = *queue_.begin()->second;
      unqueue(timed);
      if (timed.deadline_ > now) {
        enqueue(timed);
      } else {
        timed.deadline_ = TimePoint::max();
        timed.on_deadline();
      }
    }
    arm();
  }

  Executor& executor_;
  Executor::TimerId timer_ = 0;
  std::set<std::pair<TimePoint, Timed*>> queue_;
  TimePoint armed_ = TimePoint::max();
};

}  // namespace praxis
