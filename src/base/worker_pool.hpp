// The threads under `Executor::post_blocking`. A thread is created only when none is idle, and ends when it
// has been idle for a while.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "praxis/base/executor.hpp"

namespace praxis {

/// Thread-safe. Destroying it joins every thread; tasks not yet started are dropped.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t max_workers,
                      std::chrono::milliseconds idle_lifetime = std::chrono::seconds(10));
  ~WorkerPool();

  /// Runs `task` on a worker; queues it when all `max_workers` are busy.
  void post(Task task);
  /// The number of threads, including idle ones.
  std::size_t size() const;

 private:
  using Workers = std::list<std::thread>;

  void add_worker();
  void work(Workers::iterator self);

  const std::size_t max_workers_;
  const std::chrono::milliseconds idle_lifetime_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> queue_;
  Workers workers_;
  std::thread last_to_leave_;  ///< joined by the next worker that ends, or by the destructor
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace praxis
