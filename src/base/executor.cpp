#include "praxis/base/executor.hpp"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/worker_pool.hpp"

namespace praxis {
namespace {

namespace asio = boost::asio;

/// The executor that the calling thread belongs to.
thread_local const Executor* own_executor = nullptr;

class AsioExecutor final : public Executor {
 public:
  AsioExecutor(std::size_t io_threads, std::size_t max_workers)
      : io_(static_cast<int>(io_threads)), work_(io_.get_executor()), workers_(max_workers) {
    for (std::size_t i = 0; i < io_threads; ++i) {
      io_threads_.emplace_back([this] {
        own_executor = this;
        io_.run();
      });
    }
  }

  ~AsioExecutor() override {
    io_.stop();
    for (std::thread& thread : io_threads_) thread.join();
    Timers dropped;  // destroyed after the lock is released: what a task captured may come back here
    std::lock_guard lock(timers_mutex_);
    dropped.swap(timers_);
  }

  void post(Task task) override { asio::post(io_, std::move(task)); }
  void post_blocking(Task task) override {
    workers_.post([this, task = std::move(task)]() mutable {
      own_executor = this;
      task();
    });
  }

  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    std::lock_guard lock(timers_mutex_);
    if (io_.stopped()) return 0;
    const TimerId id = ++last_timer_;
    Timer& timer = timers_.try_emplace(id, io_, std::move(task)).first->second;
    timer.clock.expires_after(delay);
    timer.clock.async_wait([this, id](const boost::system::error_code&) { fire(id); });
    return id;
  }

  void cancel(TimerId id) override { take(id); }

 private:
  struct Timer {
    Timer(asio::io_context& io, Task t) : clock(io), task(std::move(t)) {}
    asio::steady_timer clock;
    Task task;
  };
  using Timers = std::unordered_map<TimerId, Timer>;

  // The node is destroyed by the caller, outside the lock: what its task captured may come back here.
  Timers::node_type take(TimerId id) {
    std::lock_guard lock(timers_mutex_);
    return timers_.extract(id);
  }

  void fire(TimerId id) {
    if (auto timer = take(id)) timer.mapped().task();
  }

  // Tasks dropped with `io_` or `workers_` may still cancel a timer, so the timers' table outlives both.
  std::mutex timers_mutex_;
  Timers timers_;
  TimerId last_timer_ = 0;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  WorkerPool workers_;
  std::vector<std::thread> io_threads_;
};

/// A thread cannot join itself: when one of the executor's own drops the last reference, another destroys it.
void destroy(AsioExecutor* executor) {
  if (own_executor == executor) {
    std::thread([executor] { delete executor; }).detach();
  } else {
    delete executor;
  }
}

}  // namespace

std::shared_ptr<Executor> make_executor(std::size_t io_threads, std::size_t max_workers) {
  return {new AsioExecutor(std::max<std::size_t>(io_threads, 1), max_workers), destroy};
}

}  // namespace praxis
