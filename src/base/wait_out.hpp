// Waits for a time that a stop request ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace praxis {

/// Waits until the time has passed, the deadline comes (the epoch: there is no deadline) or a stop is
/// requested.
inline void wait_out(std::chrono::nanoseconds time, std::chrono::steady_clock::time_point deadline,
                     const std::stop_token& stop) {
  auto end = std::chrono::steady_clock::now() + time;
  if (deadline != std::chrono::steady_clock::time_point{}) end = std::min(end, deadline);
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_until(lock, stop, end, [] { return false; });
}

}  // namespace praxis
