// Where work runs: short tasks, timers, and a growing pool for blocking code; and the strand that keeps a
// session's state on one thread at a time. Asio stays behind this header.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace praxis {

using Task = std::move_only_function<void()>;

/// Thread-safe. Destroying it joins its threads; tasks not yet started are dropped. When one of its own
/// threads drops the last reference, it is destroyed on another, soon. Tasks must not throw.
class Executor {
 public:
  /// Opaque handle of a timer; 0 is never a timer.
  using TimerId = std::uint64_t;

  virtual ~Executor() = default;
  /// Runs a short, non-blocking task soon, on the I/O thread.
  virtual void post(Task task) = 0;
  /// Runs a task that may block, soon and without holding up the I/O thread for more than milliseconds.
  virtual void post_blocking(Task task) = 0;
  /// Runs a short task once `delay` has passed on the monotonic clock.
  virtual TimerId after(std::chrono::nanoseconds delay, Task task) = 0;
  /// Drops a timer that has not fired; its task is destroyed unrun. No effect on an unknown or fired timer.
  virtual void cancel(TimerId timer) = 0;
};

/// An executor with one thread for short tasks, timers and sockets, at most `max_workers` workers, and a
/// thread that stands by: the first also runs blocking tasks of its own making, one at a time, for as long as
/// they prove quick; should one not return within milliseconds, the other takes its place.
std::shared_ptr<Executor> make_executor(std::size_t max_workers = 512);

/// Runs tasks one at a time, in order. A task is run on the calling thread when the strand is free, so a
/// strand costs no hop; otherwise the thread that holds it runs the task next. Keep tasks short: they must
/// not block or throw. Thread-safe; must outlive every call of `run`.
class Strand {
 public:
  void run(Task task);
  /// Runs `work` at once if nobody holds the strand; false when it was left alone. Unlike a task it is never
  /// kept, so it may refer to what the caller has.
  template <class F>
  bool run_if_free(F&& work) {
    if (!enter()) return false;
    [&]() noexcept { work(); }();
    leave();
    return true;
  }
  /// Whether the calling thread is running one of its tasks.
  bool runs_here() const { return runner_.load() == std::this_thread::get_id(); }

 private:
  /// False when somebody holds the strand.
  bool enter();
  /// Runs what was left for the holder, and lets go.
  void leave();

  std::atomic<std::thread::id> runner_;
  std::mutex mutex_;
  std::vector<Task> queue_;
  bool busy_ = false;
};

}  // namespace praxis
