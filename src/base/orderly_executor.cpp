// An executor that runs its tasks one after the other on one thread, and timers in the order of their due
// times, independent of the machine's speed: what a run records then depends only on its input.
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "praxis/base/executor.hpp"

namespace praxis {
namespace {

/// Time is virtual and passes only while no task is ready: short delays a hundred times as fast as real time,
/// limits no faster, so that a loaded machine does not reach them.
class OrderlyExecutor final : public Executor {
 public:
  OrderlyExecutor() : thread_([this] { work(); }) {}
  ~OrderlyExecutor() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  /// Destroys it, from another thread if this is its own.
  static void destroy(OrderlyExecutor* executor) {
    if (executor->thread_.get_id() != std::this_thread::get_id()) return delete executor;
    std::thread([executor] { delete executor; }).detach();
  }
  OrderlyExecutor(const OrderlyExecutor&) = delete;
  OrderlyExecutor& operator=(const OrderlyExecutor&) = delete;

  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(task));
    changed_.notify_all();
  }
  void post_blocking(Task task) override { post(std::move(task)); }
  bool wants_work() const override { return thread_.get_id() != std::this_thread::get_id(); }
  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    const std::lock_guard lock(mutex_);
    timers_.emplace(std::pair(now_ + delay, ++last_timer_), std::move(task));
    changed_.notify_all();
    return last_timer_;
  }
  void cancel(TimerId timer) override {
    Task dropped;  // destroyed outside the lock
    const std::lock_guard lock(mutex_);
    for (auto at = timers_.begin(); at != timers_.end(); ++at) {
      if (at->first.second != timer) continue;
      dropped = std::move(at->second);
      timers_.erase(at);
      return;
    }
  }

 private:
  static constexpr int kFaster = 100;
  static constexpr std::chrono::seconds kShort{1};

  void work() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      if (ready_.empty() && !await_timer(lock)) continue;
      if (ready_.empty()) {
        auto timer = timers_.extract(timers_.begin());
        now_ = timer.key().first;
        ready_.push_back(std::move(timer.mapped()));
      }
      Task task = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }
  /// Waits until the first timer is due; false if the queue has changed meanwhile.
  bool await_timer(std::unique_lock<std::mutex>& lock) {
    if (timers_.empty()) return changed_.wait(lock), false;
    const auto first = timers_.begin()->first;
    const auto left = first.first - now_;
    const auto pause = left > kShort ? left : left / kFaster;
    if (pause.count() <= 0) return true;
    return changed_.wait_for(lock, pause) == std::cv_status::timeout && ready_.empty() && !stopped_ &&
           !timers_.empty() && timers_.begin()->first == first;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> ready_;
  std::map<std::pair<std::chrono::nanoseconds, TimerId>, Task> timers_;
  std::chrono::nanoseconds now_{0};
  TimerId last_timer_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<Executor> make_orderly_executor() {
  return {new OrderlyExecutor(), OrderlyExecutor::destroy};
}

}  // namespace praxis
