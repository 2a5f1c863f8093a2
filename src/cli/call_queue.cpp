#include "cli/call_queue.hpp"

#include <utility>

namespace praxis::cli {

CallQueue::CallQueue() : thread_([this] { work(); }) {}

CallQueue::~CallQueue() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  calls_.clear();
  changed_.notify_all();
}

void CallQueue::add(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
  changed_.notify_all();
}

void CallQueue::settle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return calls_.empty() && !runs_; });
}

void CallQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !calls_.empty(); });
    if (ends_) return;
    const auto call = std::move(calls_.front());
    calls_.pop_front();
    runs_ = true;
    lock.unlock();
    call();
    lock.lock();
    runs_ = false;
    changed_.notify_all();
  }
}

}  // namespace praxis::cli
