#include "praxis/base/executor.hpp"

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <thread>
#include <utility>

#include "base/event_loop.hpp"
#include "base/idle_task.hpp"
#include "base/loop_timers.hpp"
#include "base/worker_pool.hpp"

namespace praxis {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

// To hand a task to a worker and its outcome back costs two switches of threads, more than most tools need
// to run. So the thread of the event loop runs one such task itself between two events; if that does not
// return soon, a thread that stands by takes the loop over.
constexpr std::chrono::milliseconds kLook{4};     // how often the one who stands by looks
constexpr int kIdleLooks = 5;                     // then it sleeps until there is something to look at
constexpr std::chrono::microseconds kQuick{200};  // a task that took longer had better not be run in place,
constexpr int kWary = 64;                         // nor had as many after it
constexpr int kPatience = 16;                     // events that a task for an idle loop lets pass

class AsioExecutor;
/// The executor that the calling thread belongs to.
thread_local const AsioExecutor* own_executor = nullptr;
/// The executor whose event loop the calling thread runs; null while it runs a task that may block.
thread_local AsioExecutor* leading = nullptr;

class AsioExecutor final : public Executor, public EventLoop {
 public:
  explicit AsioExecutor(std::size_t max_workers) : work_(io_.get_executor()), workers_(max_workers) {
    timers_.start(io_);
    try {
      for (std::thread& thread : threads_) {
        thread = std::thread([this, leads = &thread == threads_.data()] { serve(leads); });
      }
    } catch (...) {  // no destructor is called for who never was
      end();
      throw;
    }
  }

  ~AsioExecutor() override { end(); }

  void post(Task task) override { asio::post(io_, std::move(task)); }

  void post_blocking(Task task) override {
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
    return timers_.add(delay, std::move(task));
  }
  void cancel(TimerId id) override { timers_.cancel(id); }

  /// By the leader.
  bool take_for_idle(Task& task) {
    if (idle_ || !stood_by_) return false;
    if (held_up_ > 0) {
      --held_up_;
      return false;
    }
    idle_ = std::move(task);
    return true;
  }

  asio::io_context& io() override { return io_; }
  bool runs_here() const override { return leading == this; }

 private:
  /// Nothing runs any more after this, and no timer outlives the loop.
  void end() {
    io_.stop();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
    timers_.stop();
  }

  /// One thread leads, the other stands by; they change places until the executor ends.
  void serve(bool leads) {
    own_executor = this;
    while (leads ? lead() : stand_by()) leads = !leads;
  }

  /// Runs the event loop. True when the other thread has taken it over.
  bool lead() {
    leading = this;
    for (int passed = 0;;) {
      const bool ran = (idle_ ? io_.poll_one() : io_.run_one()) != 0;
      if (!ran && !idle_) break;
      while (handy_) {
        if (!run_handy()) return true;
      }
      if (idle_ && ran && ++passed < kPatience) continue;
      passed = 0;
      if (idle_ && !run_in_place(std::exchange(idle_, nullptr))) return true;
    }
    leading = nullptr;
    return false;
  }

  /// False when the loop was taken over meanwhile.
  bool run_handy() {
    const Clock::time_point begun = Clock::now();
    if (!run_in_place(std::exchange(handy_, nullptr))) return false;
    if (Clock::now() - begun > kQuick) wary_ = kWary;
    return true;
  }

  /// False when the loop was taken over meanwhile.
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

  bool may_block_here() {
    if (wary_ > 0) --wary_;
    return wary_ == 0 && stood_by_;
  }

  void rouse() {
    {
      const std::lock_guard lock(mutex_);
      asleep_ = false;
    }
    wake_.notify_all();
  }

  /// Watches the leader. True when it was stuck and the loop is ours.
  bool stand_by() {
    std::unique_lock lock(mutex_);
    stood_by_ = true;
    std::uint64_t runs = 0;
    for (int idle = 0;;) {
      const std::uint64_t before = in_place_;
      if (idle < kIdleLooks) {
        wake_.wait_for(lock, kLook, [this] { return stopping_; });
      } else {
        // Either we see what the leader has begun, or it sees that we are asleep.
        asleep_ = true;
        wake_.wait(lock, [this] { return stopping_ || !asleep_ || in_place_ != 0; });
        asleep_ = false;
      }
      if (stopping_) return false;
      std::uint64_t now = in_place_;
      if (now != 0 && now == before) {
        stood_by_ = false;
        if (in_place_.compare_exchange_strong(now, 0)) {
          wary_ = kWary;
          held_up_ = kWary;
          return true;
        }
        stood_by_ = true;
      }
      idle = runs == runs_ ? idle + 1 : 0;
      runs = runs_;
    }
  }

  LoopTimers timers_;  // tasks dropped with `io_` or `workers_` may still cancel one, so they outlive both
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  WorkerPool workers_;

  // What the leader alone touches.
  Task handy_;  ///< to be run once the event loop has nothing else in hand
  int wary_ = 0;
  Task idle_;        ///< to be run when no event is ready
  int held_up_ = 0;  ///< so many tasks are not taken for an idle loop

  std::atomic<std::uint64_t> runs_ = 0;      ///< in place so far
  std::atomic<std::uint64_t> in_place_ = 0;  ///< the number of the one under way; 0: none, or taken over
  std::atomic<bool> stood_by_ = false;
  std::atomic<bool> asleep_ = false;  ///< the one who stands by has to be roused
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::array<std::thread, 2> threads_;
};

/// Destroys executors on threads of its own, and holds up the end of the program until that is done. It is
/// never destroyed itself: a thread may come here even after that.
class Undertaker {
 public:
  static Undertaker& instance() {
    static Undertaker* const undertaker = new Undertaker;
    static const AtExit wait{*undertaker};
    return *undertaker;
  }

  void take(AsioExecutor* executor) {
    {
      const std::lock_guard lock(mutex_);
      ++under_way_;
    }
    std::thread([this, executor] {
      delete executor;
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

/// A thread cannot join itself: when one of the executor's own drops the last reference, another destroys it.
void destroy(AsioExecutor* executor) {
  if (own_executor == executor) {
    Undertaker::instance().take(executor);
  } else {
    delete executor;
  }
}

}  // namespace

std::shared_ptr<Executor> make_executor(std::size_t max_workers) {
  return {new AsioExecutor(max_workers), destroy};
}

bool run_when_idle(Task& task) { return leading != nullptr && leading->take_for_idle(task); }

EventLoop* event_loop_of(Executor& executor) { return dynamic_cast<EventLoop*>(&executor); }

}  // namespace praxis
