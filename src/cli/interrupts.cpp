#include "cli/interrupts.hpp"

#include <pthread.h>
#include <unistd.h>

namespace praxis::cli {
namespace {

constexpr int kWakeUp = SIGUSR1;

}  // namespace

Interrupts::Interrupts() {
  sigemptyset(&awaited_);
  sigaddset(&awaited_, kWakeUp);
  for (const int signal : {SIGINT, SIGTERM}) {
    // Shells start background jobs with SIGINT ignored; an ignored signal would not be delivered.
    std::signal(signal, SIG_DFL);
    sigaddset(&awaited_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &awaited_, nullptr);
  thread_ = std::thread([this] { wait(); });
}

Interrupts::~Interrupts() {
  done_ = true;
  pthread_kill(thread_.native_handle(), kWakeUp);
  thread_.join();
}

void Interrupts::on_first(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  action_ = std::move(action);
}

void Interrupts::wait() {
  for (int signal = 0; sigwait(&awaited_, &signal) == 0 && !done_;) {
    if (signal == kWakeUp) continue;
    const std::lock_guard lock(mutex_);
    // The journal needs no shutdown: anything unwritten is in doubt and recovered by the next process.
    if (!action_ || received_ != 0) _exit(128 + signal);
    received_ = signal;
    action_();
  }
}

}  // namespace praxis::cli
