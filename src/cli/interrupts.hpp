// SIGINT and SIGTERM while a run is in progress: the first lets it settle, the second leaves at once. They
// are taken by a thread that waits for them, so nothing ever runs inside a signal handler.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace praxis::cli {

/// Made before any other thread, which then inherits the blocked signals. They are taken even if the process
/// was started to ignore them, as a shell's background jobs are: a run can always be stopped, and then
/// resumed.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// What the first signal does from now on; until then it ends the process. Called on the waiting thread.
  void on_first(std::function<void()> action);
  /// The first signal that came, 0 for none.
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
