#include "praxis/base/executor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <thread>
#include <utility>

#include "base/descriptor_watches.hpp"
#include "base/event_loop.hpp"
#include "base/executor_end.hpp"
#include "base/idle_task.hpp"
#include "base/reactor.hpp"
#include "base/worker_pool.hpp"

namespace praxis {

struct ExecutorEnd::Ended {
  std::mutex mutex;
  std::condition_variable changed;
  bool has_ended = false;

  void note() {
    const std::lock_guard lock(mutex);
    has_ended = true;
    changed.notify_all();
  }
};

namespace {

using Clock = std::chrono::steady_clock;

// Handing a task to a worker and its result back costs two thread switches, more than most tools need to run.
// So the loop thread runs one such task itself between two events. If the task does not return soon, the
// standby thread takes over the loop.
constexpr std::chrono::milliseconds kLook{4};     // interval at which the standby thread polls
constexpr int kIdleLooks = 5;                     // then the standby thread sleeps until it is woken
constexpr std::chrono::microseconds kQuick{200};  // a task that took longer was slow
constexpr int kPatience = 16;                     // events that run before a task for an idle loop

/// Decides whether the loop thread runs the next task itself, after tasks that proved slow. The number of
/// tasks that go to workers grows with each slow task and halves with each quick one. On a busy machine a
/// quick task looks slow at times; a fixed number of 64 cost a model call with SQLite six futex calls.
class Caution {
 public:
  void slow() { raise(2); }
  /// The task blocked the loop until the standby thread took over.
  void stuck() { raise(8); }
  void quick() { level_ /= 2; }
  /// Returns whether the loop thread may run the next task itself.
  bool allows() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }

 private:
  static constexpr int kMost = 64;
  void raise(int factor) { left_ = level_ = std::clamp(level_ * factor, factor / 2, kMost); }

  int level_ = 0;
  int left_ = 0;
};

class LoopExecutor;
/// The executor that the calling thread belongs to.
thread_local const LoopExecutor* own_executor = nullptr;
/// The executor whose event loop the calling thread runs; null while it runs a task that may block.
thread_local LoopExecutor* leading = nullptr;

class LoopExecutor final : public Executor, public EventLoop {
 public:
  explicit LoopExecutor(std::size_t max_workers) : workers_(max_workers) {
    try {
      for (std::thread& thread : threads_) {
        thread = std::thread([this, leads = &thread == threads_.data()] { serve(leads); });
      }
    } catch (...) {  // the destructor does not run for an object whose constructor failed
      end();
      throw;
    }
  }

  ~LoopExecutor() override { end(); }

  void post(Task task) override { reactor_.post(std::move(task)); }

  /// A thread outside this executor passes the task to the loop thread, which may run it itself. Waking a
  /// worker and being woken by it takes two to four more futex calls. A blocking task of this executor may
  /// wait for the new task, so there the task goes straight to a worker.
  void post_blocking(Task task) override {
    if (own_executor != this) {
      return post([this, task = std::move(task)]() mutable { post_blocking(std::move(task)); });
    }
    if (leading == this && !handy_ && may_block_here()) {
      handy_ = std::move(task);
      return;
    }
    workers_.post([this, task = std::move(task)]() mutable {
      own_executor = this;
      task();
    });
  }

  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    return reactor_.after(delay, std::move(task));
  }
  void cancel(TimerId id) override { reactor_.cancel(id); }

  WatchId watch(int fd, Executor::Readiness readiness, Task task) override {
    return watches_.add(fd, readiness, std::move(task));
  }
  void unwatch(WatchId id) override { watches_.drop(id); }

  /// Called by the leader, the thread that runs the event loop.
  bool take_for_idle(Task& task) {
    if (idle_ || !stood_by_) return false;
    if (!about_idle_.allows()) return false;
    idle_ = std::move(task);
    return true;
  }

  bool watch(int descriptor, Watcher& watcher) override { return reactor_.watch(descriptor, watcher); }
  void unwatch(int descriptor, Watcher& watcher) override { reactor_.unwatch(descriptor, watcher); }
  bool runs_here() const override { return leading == this; }

 private:
  /// Joins both threads and destroys all timers and tasks.
  void end() {
    reactor_.stop();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
    reactor_.close();
    watches_.stop();
  }

  /// One thread runs the event loop (the leader), the other is on standby; they may swap roles until the
  /// executor ends.
  void serve(bool leads) {
    own_executor = this;
    while (leads ? lead() : stand_by()) leads = !leads;
  }

  /// Runs the event loop. Returns true when the standby thread has taken it over.
  bool lead() {
    leading = this;
    for (int passed = 0;;) {
      const bool may_wait = !idle_;
      const bool ran = reactor_.run_one(may_wait);
      if (!ran && !idle_) break;
      while (handy_) {
        if (!run_handy()) return true;
      }
      if (idle_ && ran && ++passed < kPatience) continue;
      passed = 0;
      if (idle_ && !run_idle()) return true;
    }
    leading = nullptr;
    return false;
  }

  /// Returns false when the standby thread took over the loop; so do `run_idle` and `run_in_place`.
  bool run_handy() {
    const Clock::time_point begun = Clock::now();
    in_hand_ = &about_blocking_;
    if (!run_in_place(std::exchange(handy_, nullptr))) return false;
    Clock::now() - begun > kQuick ? about_blocking_.slow() : about_blocking_.quick();
    return true;
  }

  bool run_idle() {
    in_hand_ = &about_idle_;
    if (!run_in_place(std::exchange(idle_, nullptr))) return false;
    about_idle_.quick();
    return true;
  }

  bool run_in_place(Task task) {
    leading = nullptr;
    std::uint64_t mine = ++runs_;
    in_place_ = mine;
    if (asleep_) rouse();
    task();
    task = nullptr;
    const bool leads = in_place_.compare_exchange_strong(mine, 0);
    if (leads) leading = this;
    return leads;
  }

  bool may_block_here() { return stood_by_ && about_blocking_.allows(); }

  void rouse() {
    {
      const std::lock_guard lock(mutex_);
      asleep_ = false;
    }
    wake_.notify_all();
  }

  /// Watches the leader. Returns true when the leader was stuck and this thread took over the loop.
  bool stand_by() {
    std::unique_lock lock(mutex_);
    stood_by_ = true;
    std::uint64_t runs = 0;
    for (int idle = 0;;) {
      const std::uint64_t before = in_place_;
      if (idle < kIdleLooks) {
        wake_.wait_for(lock, kLook, [this] { return stopping_; });
      } else {
        // Either this thread sees the task that the leader has begun, or the leader sees `asleep_`.
        asleep_ = true;
        wake_.wait(lock, [this] { return stopping_ || !asleep_ || in_place_ != 0; });
        asleep_ = false;
      }
      if (stopping_) return false;
      std::uint64_t now = in_place_;
      if (now != 0 && now == before) {
        stood_by_ = false;
        if (in_place_.compare_exchange_strong(now, 0)) {
          in_hand_->stuck();
          return true;
        }
        stood_by_ = true;
      }
      idle = runs == runs_ ? idle + 1 : 0;
      runs = runs_;
    }
  }

  Reactor reactor_;  // destroyed after `workers_`, whose tasks may still call it
  DescriptorWatches watches_{reactor_};
  WorkerPool workers_;

  // Used by the leader only.
  Task handy_;  ///< runs when the event loop has finished its current event
  Task idle_;   ///< to be run when no event is ready
  Caution about_blocking_, about_idle_;
  Caution* in_hand_ = nullptr;  ///< that of the task that runs in place

  std::atomic<std::uint64_t> runs_ = 0;  ///< tasks begun in place so far
  std::atomic<std::uint64_t> in_place_ =
      0;  ///< the number of the task in place; 0: no task, or the loop was taken over
  std::atomic<bool> stood_by_ = false;
  std::atomic<bool> asleep_ = false;  ///< the standby thread sleeps and has to be woken
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::array<std::thread, 2> threads_;
};

/// Destroys executors on its own threads, and delays the end of the program until that is done. It is itself
/// never destroyed: a thread may use it even after that.
class Undertaker {
 public:
  static Undertaker& instance() {
    static Undertaker* const undertaker = new Undertaker;
    static const AtExit wait{*undertaker};
    return *undertaker;
  }

  void take(LoopExecutor* executor, std::shared_ptr<ExecutorEnd::Ended> end) {
    {
      const std::lock_guard lock(mutex_);
      ++under_way_;
    }
    std::thread([this, executor, end = std::move(end)] {
      delete executor;
      end->note();
      const std::lock_guard lock(mutex_);
      if (--under_way_ == 0) done_.notify_all();
    }).detach();
  }

 private:
  struct AtExit {
    Undertaker& undertaker;
    ~AtExit() { undertaker.wait(); }
  };

  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return under_way_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable done_;
  int under_way_ = 0;
};

/// A thread cannot join itself: when one of the executor's own threads drops the last reference, another
/// thread destroys the executor.
struct Destroy {
  std::shared_ptr<ExecutorEnd::Ended> end = std::make_shared<ExecutorEnd::Ended>();

  void operator()(LoopExecutor* executor) const {
    if (own_executor == executor) return Undertaker::instance().take(executor, end);
    delete executor;
    end->note();
  }
};

}  // namespace

std::shared_ptr<Executor> make_executor(std::size_t max_workers) {
  return {new LoopExecutor(max_workers), Destroy()};
}

ExecutorEnd::ExecutorEnd(const std::shared_ptr<Executor>& executor) {
  if (const auto* destroy = std::get_deleter<Destroy>(executor)) ended_ = destroy->end;
}

bool ExecutorEnd::wait(std::chrono::milliseconds patience) const {
  if (!ended_) return true;
  std::unique_lock lock(ended_->mutex);
  return ended_->changed.wait_for(lock, patience, [&] { return ended_->has_ended; });
}

bool run_when_idle(Task& task) { return leading != nullptr && leading->take_for_idle(task); }

EventLoop* event_loop_of(Executor& executor) { return dynamic_cast<EventLoop*>(&executor); }

}  // namespace praxis
