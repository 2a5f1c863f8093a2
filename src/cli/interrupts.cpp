#include "cli/interrupts.hpp"

#include <pthread.h>
#include <unistd.h>

namespace praxis::cli {
namespace {

constexpr int kWakeUp = SIGUSR1;

bool is_ignored(int signal) {
  struct sigaction now{};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Interrupts::Interrupts() {
  sigemptyset(&awaited_);
  sigaddset(&awaited_, kWakeUp);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal == SIGHUP && is_ignored(signal)) continue;  // as `nohup` wants it
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

void Interrupts::limit(std::chrono::milliseconds limit) {
  deadline_ = (std::chrono::steady_clock::now() + limit).time_since_epoch().count();
  pthread_kill(thread_.native_handle(), kWakeUp);
}

/// Waits for a signal, or until the limit has passed: then stops what has the token and returns `kWakeUp`.
int Interrupts::next_signal() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline{Clock::duration{deadline_}};
  if (deadline_ == 0 || stop_.stop_requested()) return sigwaitinfo(&awaited_, nullptr);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  if (left.count() > 0) {
    const timespec time{.tv_sec = left.count() / 1000, .tv_nsec = left.count() % 1000 * 1'000'000};
    return sigtimedwait(&awaited_, nullptr, &time);
  }
  stop_.request_stop();
  return kWakeUp;
}

void Interrupts::wait() {
  while (!done_) {
    const int signal = next_signal();
    if (signal <= 0 || signal == kWakeUp) continue;  // woken, or the limit has passed
    const std::lock_guard lock(mutex_);
    // The journal needs no shutdown: anything unwritten is in doubt and recovered by the next process.
    if (!action_ || received_ != 0) _exit(128 + signal);
    received_ = signal;
    stop_.request_stop();
    action_();
  }
}

}  // namespace praxis::cli
