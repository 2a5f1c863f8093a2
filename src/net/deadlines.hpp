// Many deadlines on one timer. Nearly all are moved later or dropped before they fall due, so moving one
// later costs nothing: it is checked again at its old time.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <set>
#include <utility>

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

/// Used only on the thread that runs `io`.
class Deadlines {
 public:
  explicit Deadlines(boost::asio::io_context& io) : timer_(io) {}

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
  /// Cancels the timer, so that the event loop can end.
  void stop() {
    queue_.clear();
    timer_.cancel();
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
    timer_.expires_at(armed_);
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled) fire();
    });
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

  boost::asio::steady_timer timer_;
  std::set<std::pair<TimePoint, Timed*>> queue_;
  TimePoint armed_ = TimePoint::max();
};

}  // namespace praxis
