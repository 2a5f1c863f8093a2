#include "base/worker_pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace praxis {
namespace {

/// The pool that the calling thread works for.
thread_local WorkerPool* own_pool = nullptr;
/// How many `WaitForTasks` the calling thread has.
thread_local int waits = 0;

}  // namespace

WaitForTasks::WaitForTasks() {
  if (waits++ == 0 && own_pool != nullptr) own_pool->begin_wait();
}

WaitForTasks::~WaitForTasks() {
  if (--waits == 0 && own_pool != nullptr) own_pool->end_wait();
}

WorkerPool::WorkerPool(std::size_t max_workers, std::chrono::milliseconds idle_lifetime)
    : max_workers_(std::max<std::size_t>(max_workers, 1)), idle_lifetime_(idle_lifetime) {}

WorkerPool::~WorkerPool() {
  Workers workers;
  std::deque<Task> dropped;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
    workers.swap(workers_);
  }
  wake_.notify_all();
  for (std::thread& worker : workers) worker.join();
  if (last_to_leave_.joinable()) last_to_leave_.join();
}

void WorkerPool::post(Task task) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  queue_.push_back(std::move(task));
  if (queue_.size() > idle_ && has_room()) {
    add_worker();
  } else {
    wake_.notify_one();
  }
}

void WorkerPool::begin_wait() {
  std::lock_guard lock(mutex_);
  ++waiting_;
  if (!stopping_ && queue_.size() > idle_ && has_room()) add_worker();
}

/// From now on more than `max_workers_` may be busy, until one of them has finished its task.
void WorkerPool::end_wait() {
  std::lock_guard lock(mutex_);
  --waiting_;
}

std::size_t WorkerPool::size() const {
  std::lock_guard lock(mutex_);
  return workers_.size();
}

void WorkerPool::add_worker() {
  const auto self = workers_.emplace(workers_.end());
  try {
    *self = std::thread([this, self] { work(self); });
  } catch (const std::system_error&) {  // the machine is out of threads: the existing workers run the task
    workers_.erase(self);
    if (workers_.empty()) throw;
  } catch (...) {
    workers_.erase(self);  // the thread was not created, so there is nothing to join
    throw;
  }
}

void WorkerPool::work(Workers::iterator self) {
  own_pool = this;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      ++idle_;
      const bool woken =
          wake_.wait_for(lock, idle_lifetime_, [this] { return stopping_ || !queue_.empty(); });
      --idle_;
      if (!woken) break;
      continue;
    }
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    if (workers_.size() > max_workers_ + waiting_) break;  // others came back from their wait
  }
  if (stopping_) return;  // the destructor joins
  std::thread previous = std::exchange(last_to_leave_, std::move(*self));
  workers_.erase(self);
  lock.unlock();
  if (previous.joinable()) previous.join();
}

}  // namespace praxis
