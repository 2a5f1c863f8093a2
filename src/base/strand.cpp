#include <utility>
#include <vector>

#include "praxis/base/executor.hpp"

namespace praxis {

Executor::WatchId Executor::watch(int /*fd*/, Readiness /*readiness*/, Task /*task*/) { return 0; }
void Executor::unwatch(WatchId /*watch*/) {}

namespace {

/// Ends the process if a task throws (only running out of memory can): the task's work would be half done,
/// and a caller that caught the exception would leave the strand held for ever.
void run_through(Task& task) noexcept {
  task();
  task = nullptr;  // its captures may call `run` again: never destroy them under the lock
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
