// Everything that could run, as one list: each step takes one entry, chosen by the seed, so that a run with
// many threads, timers and disks is a repeatable sequence. Code that blocks has a thread of its own, but only
// one thread runs at a time: where it waits (for a future, a condition variable, a sleep) it hands the baton
// back and continues in a later step. This works for waits anywhere in the library, because this program
// replaces the few functions in which threads wait (threads_waits.cpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <semaphore>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "fault.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"

namespace praxis::faults::threads {

/// At most one per process; it lives until the process ends, as do its threads.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Returns the schedule whose blocking code the calling thread runs; else null.
  static Schedule* of_this_thread();
  /// Returns the schedule of this process; null if none exists.
  static Schedule* of_this_process();

  Random& random() { return random_; }
  std::chrono::nanoseconds now() const { return now_; }
  std::uint64_t steps() const { return steps_; }
  bool in_short_task() const { return in_short_task_; }

  void post(Task task);
  void post_blocking(Task task);
  Executor::TimerId after(std::chrono::nanoseconds delay, Task task);
  void cancel(Executor::TimerId timer);

  /// Runs one entry; false if nothing is left to do, now or later.
  bool step();
  /// Simulates the death of the process: nothing that exists now runs any further, not even a destructor.
  void die();

  // For blocking code, on its own thread.
  /// Hands the baton back until `awake` holds.
  void wait(std::function<bool()> awake);
  /// Lets virtual time pass; less when a stop is requested.
  void sleep(std::chrono::nanoseconds delay, const std::stop_token& stop = {});
  /// A condition variable was notified.
  void notified(const void* condition) { ++notified_[condition]; }
  std::uint64_t notifications(const void* condition) { return notified_[condition]; }

 private:
  struct Worker {
    std::binary_semaphore go{0};
    Task task;                    ///< none: it is idle
    std::function<bool()> awake;  ///< none: it runs, or is idle
    std::thread thread;
  };
  /// The parts of one life of the process.
  struct Life {
    std::vector<Task> ready, blocking;
    std::map<std::pair<std::chrono::nanoseconds, Executor::TimerId>, Task> timers;
    std::vector<Worker*> waiting;
  };

  void run_short(std::size_t index);
  void run_blocking(std::size_t index);
  void resume(Worker& worker);
  void fire_timer();
  void work(Worker& self);

  Random random_;
  std::chrono::nanoseconds now_{std::chrono::seconds(1)};
  std::uint64_t steps_ = 0;
  Executor::TimerId last_timer_ = 0;
  bool in_short_task_ = false;
  std::unique_ptr<Life> life_ = std::make_unique<Life>();
  std::vector<Worker*> idle_;
  std::map<const void*, std::uint64_t> notified_;
  std::binary_semaphore back_{0};  ///< released when the schedule has the baton again
};

/// The executor of one life.
class SimExecutor final : public Executor {
 public:
  explicit SimExecutor(Schedule& schedule) : schedule_(schedule) {}
  void post(Task task) override { schedule_.post(std::move(task)); }
  void post_blocking(Task task) override { schedule_.post_blocking(std::move(task)); }
  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    return schedule_.after(delay, std::move(task));
  }
  void cancel(TimerId timer) override { schedule_.cancel(timer); }

 private:
  Schedule& schedule_;
};

}  // namespace praxis::faults::threads
