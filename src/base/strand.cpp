#include <utility>
#include <vector>

#include "praxis/base/executor.hpp"

namespace praxis {

void Strand::run(Task task) {
  std::vector<Task> batch;
  {
    std::lock_guard lock(mutex_);
    if (busy_) {
      queue_.push_back(std::move(task));
      return;
    }
    busy_ = true;
  }
  batch.push_back(std::move(task));
  while (!batch.empty()) {
    for (Task& next : batch) {
      next();
      next = nullptr;  // what it captured may call `run` again: never destroy it under the lock
    }
    batch.clear();
    std::lock_guard lock(mutex_);
    batch.swap(queue_);
    busy_ = !batch.empty();
  }
}

}  // namespace praxis
