// Handles SIGINT, SIGTERM and SIGHUP during a run: the first lets the run settle, the second exits at once. A
// dedicated thread waits for the signals, so no code runs in a signal handler.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace praxis::cli {

/// Must be created before any other thread, so that all threads inherit the blocked signals. Takes the
/// signals even if the process was started with them ignored, like a shell's background jobs: a run can
/// always be stopped, and resumed later. SIGHUP, which a terminal sends when it is closed, stays ignored:
/// that is what `nohup` asks for.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Sets the action for the first signal, which runs on the waiting thread. Without an action, the signal
  /// ends the process.
  void on_first(std::function<void()> action);
  /// Requests a stop of what `stop_token` was given to, once `limit` has passed from now.
  void limit(std::chrono::milliseconds limit);
  /// Stopped by the first signal and by the limit.
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// The first signal received, or 0.
  int received() const { return received_; }

 private:
  void wait();
  int next_signal();

  sigset_t awaited_;
  std::stop_source stop_;
  std::atomic<std::chrono::steady_clock::rep> deadline_ = 0;  ///< 0: there is no limit
  std::mutex mutex_;
  std::function<void()> action_;
  std::atomic<int> received_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace praxis::cli
