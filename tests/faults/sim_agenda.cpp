#include "sim_agenda.hpp"

#include <algorithm>

namespace praxis::faults::sim {

Agenda::TimerId Agenda::after(std::chrono::nanoseconds delay, Task task) {
  const auto due = now_ + std::max(delay, std::chrono::nanoseconds{0});
  timers_.emplace(std::pair(due, ++last_timer_), std::move(task));
  due_.emplace(last_timer_, due);
  return last_timer_;
}

void Agenda::cancel(TimerId timer) {
  const auto found = due_.extract(timer);
  // The task is destroyed when the table is consistent again.
  if (found) const auto dropped = timers_.extract({found.mapped(), timer});
}

bool Agenda::step() {
  if (ready_.empty() && timers_.empty()) return false;
  ++steps_;
  // Time also passes while there is work, which simulates slow tasks.
  if (ready_.empty() || (!timers_.empty() && random_.once_in(16))) {
    fire_timer();
    return true;
  }
  std::swap(ready_[random_.below(ready_.size())], ready_.back());
  Task task = std::move(ready_.back());
  ready_.pop_back();
  task();
  return true;
}

void Agenda::fire_timer() {
  auto timer = timers_.extract(timers_.begin());
  due_.erase(timer.key().second);
  now_ = std::max(now_, timer.key().first);
  timer.mapped()();
}

void Agenda::clear() {
  ready_.clear();
  timers_.clear();
  due_.clear();
}

}  // namespace praxis::faults::sim
