// Runs tasks, timers and watched descriptors, one at a time. One system call (epoll_wait) waits for all of
// them. Descriptors are watched edge-triggered, so no other system call is needed between two messages: a
// model call costs 1.1 epoll_wait and no epoll_ctl, where Asio's loop made 3.2 and 1.2.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "base/event_loop.hpp"
#include "base/file_descriptor.hpp"
#include "base/timer_queue.hpp"

namespace praxis {

/// Any thread may call `post`, `after`, `cancel`, `stop` and `watch`; only the thread that runs the reactor
/// calls the rest.
class Reactor {
 public:
  using TimerId = Executor::TimerId;
  using Watcher = EventLoop::Watcher;

  /// Throws `std::system_error` when the kernel refuses a descriptor.
  Reactor();
  ~Reactor() { close(); }
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  void post(Task task);
  /// Returns 0 after `close`.
  TimerId after(std::chrono::nanoseconds delay, Task task);
  void cancel(TimerId id);
  /// Makes `run_one` return false from now on.
  void stop();

  bool watch(int descriptor, Watcher& watcher);
  void unwatch(int descriptor, Watcher& watcher);
  /// Runs one task, timer or watcher that is ready. Otherwise waits if `may_wait`, else returns false.
  bool run_one(bool may_wait);
  /// Destroys all tasks and timers and drops later ones. No thread may run the reactor any more.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kEvents = 64;   // the most that one system call reports
  static constexpr int kBatchesUnpolled = 16;  // batches of posted tasks that run before the next poll

  bool run_ready();
  bool run_watcher();
  bool run_timer();
  bool take_posted();
  bool gather(bool may_wait);
  void poll(bool may_wait);
  int time_to_sleep(bool may_wait);
  void wake();

  FileDescriptor epoll_;
  FileDescriptor wakeup_;  ///< an eventfd
  std::atomic<bool> stopped_ = false;

  std::mutex mutex_;  // guards the next four
  std::vector<Task> posted_;
  TimerQueue timers_;
  bool asleep_ = false;  ///< the thread that runs this waits in `epoll_wait`, or is about to
  bool closed_ = false;

  // Only the thread that runs this touches the rest.
  std::array<epoll_event, kEvents> events_;
  std::size_t next_event_ = 0, event_count_ = 0;
  std::vector<Task> tasks_;  ///< taken from `posted_`
  std::size_t tasks_run_ = 0;
  int batches_unpolled_ = 0;
  std::optional<Clock::time_point> timers_due_at_;  ///< set while timers due at this time may be left
};

}  // namespace praxis
