// Everything that may happen next in a simulated process, as one list: each step takes one entry, chosen by
// the seed. There is one thread and no waiting: code that would wait continues in a later entry.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fault.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"

namespace praxis::faults::sim {

class Agenda {
 public:
  using TimerId = std::uint64_t;

  explicit Agenda(std::uint64_t seed) : random_(seed) {}

  Random& random() { return random_; }
  std::chrono::nanoseconds now() const { return now_; }
  std::uint64_t steps() const { return steps_; }

  /// Adds an entry that may run at any later step, in any order with the others.
  void post(Task task) { ready_.push_back(std::move(task)); }
  /// Adds an entry that runs at the earliest after `delay`; timers fire in order of their due time.
  TimerId after(std::chrono::nanoseconds delay, Task task);
  /// No-op for a timer that has fired.
  void cancel(TimerId timer);

  /// Runs one entry; false if none is left.
  bool step();
  /// Drops all entries, as when the process dies.
  void clear();

 private:
  void fire_timer();

  Random random_;
  std::chrono::nanoseconds now_{std::chrono::seconds(1)};
  std::uint64_t steps_ = 0;
  TimerId last_timer_ = 0;
  std::vector<Task> ready_;
  std::map<std::pair<std::chrono::nanoseconds, TimerId>, Task> timers_;
  std::unordered_map<TimerId, std::chrono::nanoseconds> due_;
};

}  // namespace praxis::faults::sim
