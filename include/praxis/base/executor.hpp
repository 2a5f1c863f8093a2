// Runs work: short tasks, timers, and blocking tasks on a pool that grows; and `Strand`, which runs a
// session's tasks one at a time. Asio is not visible through this header.
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

#pragma GCC visibility push(default)
namespace praxis {

using Task = std::move_only_function<void()>;

/// Thread-safe. The destructor joins the executor's threads and drops tasks that have not started. When one
/// of those threads drops the last reference, another thread destroys the executor soon after. Tasks must not
/// throw.
class Executor {
 public:
  /// Opaque handle of a timer; 0 is never a timer.
  using TimerId = std::uint64_t;

  virtual ~Executor() = default;
  /// Runs a short, non-blocking task soon, on the I/O thread.
  virtual void post(Task task) = 0;
  /// Runs a task that may block soon. It delays the I/O thread by a few milliseconds at most.
  virtual void post_blocking(Task task) = 0;
  /// Runs a short task once `delay` has passed on the monotonic clock.
  virtual TimerId after(std::chrono::nanoseconds delay, Task task) = 0;
  /// Drops a timer that has not fired and destroys its task without running it. No-op for an unknown or fired
  /// timer.
  virtual void cancel(TimerId timer) = 0;

  /// What `watch` waits for.
  enum class Readiness : std::uint8_t { kReadable, kWritable };
  /// Opaque handle of a watch; 0 is never a watch.
  using WatchId = std::uint64_t;
  /// Runs a short task once, on the I/O thread, when the descriptor `fd` is ready (or has failed: the next
  /// read or write on it says why). Watch again for the next time. Reading and writing may be watched at the
  /// same time. The caller keeps `fd` and must `unwatch` it before closing it. Returns 0, without a watch,
  /// when this executor cannot wait for descriptors or the system refuses.
  virtual WatchId watch(int fd, Readiness readiness, Task task);
  /// Drops a watch and destroys its task without running it, unless the task has begun. No-op for an unknown
  /// watch.
  virtual void unwatch(WatchId watch);
  /// Whether the caller has to post work that it could do itself: true for an executor on which each run is
  /// the same, except on its own thread.
  virtual bool wants_work() const { return false; }
};

/// Creates an executor with one I/O thread (short tasks, timers, sockets), a standby thread, and up to
/// `max_workers` workers. The I/O thread also runs blocking tasks that it posted itself, one at a time, while
/// such tasks stay short; when one does not return within milliseconds, the standby thread takes over the
/// loop.
std::shared_ptr<Executor> make_executor(std::size_t max_workers = 512);

/// Creates an executor for tests and demonstrations: one thread runs all tasks in the order in which they
/// were posted, and timers in the order of their due times on a virtual clock that skips short delays.
/// Together with `fixed_environment`, a run on models that answer the same is then the same each time,
/// however many calls it makes in parallel. A task that blocks, such as a tool that waits for a sub-agent
/// (`SubAgent::run`), must not wait for another task. Tools of `Agent::as_tool`, `fork_tool` and others with
/// a `ContinuingHandler` do not.
std::shared_ptr<Executor> make_orderly_executor();

/// Runs tasks one at a time, in order. When the strand is free, the calling thread runs the task, so a strand
/// costs no thread switch; otherwise the thread that holds the strand runs it next. Keep tasks short: they
/// must not block or throw. Thread-safe; must outlive every call of `run`.
class Strand {
 public:
  void run(Task task);
  /// Runs `work` at once if the strand is free; returns false, without running it, if it is held. `work` is
  /// never queued, so it may refer to the caller's locals.
  template <class F>
  bool run_if_free(F&& work) {
    if (!enter()) return false;
    [&]() noexcept { work(); }();
    leave();
    return true;
  }
  /// Whether the calling thread is running one of this strand's tasks.
  bool runs_here() const { return runner_.load() == std::this_thread::get_id(); }

 private:
  /// Takes the strand. False when a thread holds it already.
  bool enter();
  /// Runs the tasks queued for the holder, then releases the strand.
  void leave();

  std::atomic<std::thread::id> runner_;
  std::mutex mutex_;
  std::vector<Task> queue_;
  bool busy_ = false;
};

}  // namespace praxis
#pragma GCC visibility pop
