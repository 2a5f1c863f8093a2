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

  /// Runs `task` on a worker; queues it when `max_workers` are busy, not counting those that wait for other
  /// tasks (`WaitForTasks`).
  void post(Task task);
  /// The number of threads, including idle ones.
  std::size_t size() const;

 private:
  friend class WaitForTasks;
  using Workers = std::list<std::thread>;

  bool has_room() const { return workers_.size() < max_workers_ + waiting_; }
  void begin_wait();
  void end_wait();
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
  std::size_t waiting_ = 0;  ///< workers that wait for other tasks
  bool stopping_ = false;
};

/// While one exists, the calling thread waits for something that other tasks bring about, such as the turn of
/// a sub-agent. If the thread is a worker, its pool may start another one in its place: otherwise a full pool
/// of waiting workers would never run the tasks that they wait for. No effect on other threads; may be
/// nested.
class WaitForTasks {
 public:
  WaitForTasks();
  ~WaitForTasks();
  WaitForTasks(const WaitForTasks&) = delete;
  WaitForTasks& operator=(const WaitForTasks&) = delete;
};

}  // namespace praxis
