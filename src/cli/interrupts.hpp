// Handles SIGINT and SIGTERM during a run: the first lets the run settle, the second exits at once. A
// dedicated thread waits for the signals, so no code runs in a signal handler.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace praxis::cli {

/// Must be created before any other thread, so that all threads inherit the blocked signals. Takes the
/// signals even if the process was started with them ignored, like a shell's background jobs: a run can
/// always be stopped, and resumed later.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Sets the action for the first signal, which runs on the waiting thread. Without an action, the signal
  /// ends the process.
  void on_first(std::function<void()> action);
  /// The first signal received, or 0.
  int received() const { return received_; }

 private:
  void wait();

  sigset_t awaited_;
  std::mutex mutex_;
  std::function<void()> action_;
  std::atomic<int> received_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace praxis::cli
