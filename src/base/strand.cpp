#include <utility>
#include <vector>

#include "praxis/base/executor.hpp"

namespace praxis {
namespace {

/// A task that throws (nothing but memory can run out there) leaves its work half done, and the strand would
/// be held for good by a caller that catches: the process ends instead, as if it had been killed.
void run_through(Task& task) noexcept {
  task();
  task = nullptr;  // what it captured may call `run` again: never destroy it under the lock
}

}  // namespace

void Strand::run(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (busy_) {
      queue_.push_back(std::move(task));
      return;
    }
    busy_ = true;
  }
  runner_ = std::this_thread::get_id();
  run_through(task);
  leave();
}

bool Strand::enter() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(busy_, true)) return false;
  }
  runner_ = std::this_thread::get_id();
  return true;
}

void Strand::leave() {
  for (std::vector<Task> batch;; batch.clear()) {
    {
      const std::lock_guard lock(mutex_);
      batch.swap(queue_);
      if (batch.empty()) {
        runner_ = std::thread::id{};
        busy_ = false;
        return;
      }
    }
    for (Task& next : batch) run_through(next);
  }
}

}  // namespace praxis
