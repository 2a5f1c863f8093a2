#include "base/reactor.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace praxis {
namespace {

int checked(int descriptor) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "cannot make an event loop");
  return descriptor;
}

epoll_event edge_triggered(std::uint32_t events, EventLoop::Watcher* watcher) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.ptr = watcher;
  return event;
}

}  // namespace

Reactor::Reactor()
    : epoll_(checked(epoll_create1(EPOLL_CLOEXEC))),
      wakeup_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  epoll_event event = edge_triggered(EPOLLIN, nullptr);
  checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event));
}

// Called by any thread.

void Reactor::post(Task task) {
  bool wakes;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    posted_.push_back(std::move(task));
    wakes = std::exchange(asleep_, false);
  }
  if (wakes) wake();
}

Reactor::TimerId Reactor::after(std::chrono::nanoseconds delay, Task task) {
  TimerId id;
  bool wakes;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return 0;
    const auto earliest = timers_.earliest();
    id = timers_.add(Clock::now(), delay, std::move(task));
    wakes = timers_.earliest() != earliest && std::exchange(asleep_, false);
  }
  if (wakes) wake();
  return id;
}

void Reactor::cancel(TimerId id) {
  Task dropped;  // destroyed outside the lock, because its captures may call the reactor
  const std::lock_guard lock(mutex_);
  dropped = timers_.take(id);
}

void Reactor::stop() {
  stopped_ = true;
  wake();
}

// The eventfd is never read: each write is an edge.
void Reactor::wake() {
  const std::uint64_t one = 1;
  std::ignore = ::write(wakeup_.get(), &one, sizeof one);
}

// Called only by the thread that runs the reactor.

bool Reactor::watch(int descriptor, Watcher& watcher) {
  epoll_event event = edge_triggered(EPOLLIN | EPOLLOUT | EPOLLRDHUP, &watcher);
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Reactor::unwatch(int descriptor, Watcher& watcher) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  for (std::size_t i = next_event_; i < event_count_; ++i) {
    if (events_[i].data.ptr == &watcher) events_[i].data.ptr = nullptr;
  }
}

bool Reactor::run_one(bool may_wait) {
  while (!stopped_) {
    if (run_ready()) return true;
    if (!gather(may_wait) && !may_wait) return false;
  }
  return false;
}

bool Reactor::run_ready() {
  while (next_event_ < event_count_) {
    if (run_watcher()) return true;
  }
  if (timers_due_at_ && run_timer()) return true;
  if (tasks_run_ == tasks_.size()) return false;
  Task task = std::move(tasks_[tasks_run_++]);
  task();
  return true;
}

/// Returns false for the eventfd and for a descriptor that was unwatched.
bool Reactor::run_watcher() {
  const epoll_event event = events_[next_event_++];
  auto* const watcher = static_cast<Watcher*>(event.data.ptr);
  if (watcher == nullptr) return false;
  const auto has = [&](std::uint32_t bits) { return (event.events & bits) != 0; };
  watcher->on_ready({.readable = has(EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR),
                     .writable = has(EPOLLOUT | EPOLLHUP | EPOLLERR),
                     .ended = has(EPOLLRDHUP | EPOLLHUP | EPOLLERR)});
  return true;
}

/// Runs one timer, because it may cancel the next.
bool Reactor::run_timer() {
  Task task;
  {
    const std::lock_guard lock(mutex_);
    task = timers_.take_due(*timers_due_at_);
  }
  if (!task) {
    timers_due_at_.reset();
    return false;
  }
  task();
  return true;
}

bool Reactor::take_posted() {
  tasks_.clear();
  tasks_run_ = 0;
  const std::lock_guard lock(mutex_);
  tasks_.swap(posted_);
  return !tasks_.empty();
}

/// Collects tasks, events and due timers. Returns whether it found any.
bool Reactor::gather(bool may_wait) {
  const bool posted = take_posted();
  if (posted && ++batches_unpolled_ < kBatchesUnpolled) return true;
  poll(may_wait && !posted);
  return posted || event_count_ != 0 || timers_due_at_;
}

void Reactor::poll(bool may_wait) {
  batches_unpolled_ = 0;
  next_event_ = event_count_ = 0;
  const int count =
      epoll_wait(epoll_.get(), events_.data(), static_cast<int>(kEvents), time_to_sleep(may_wait));
  if (count > 0) event_count_ = static_cast<std::size_t>(count);
  const std::lock_guard lock(mutex_);
  asleep_ = false;
  const auto earliest = timers_.earliest();
  if (!earliest) return;
  if (const auto now = Clock::now(); *earliest <= now) timers_due_at_ = now;
}

/// Returns the timeout for `epoll_wait` in milliseconds. From now on a posted task or an earlier timer wakes
/// the thread.
int Reactor::time_to_sleep(bool may_wait) {
  using std::chrono::milliseconds;
  if (!may_wait) return 0;
  const std::lock_guard lock(mutex_);
  if (!posted_.empty()) return 0;
  asleep_ = true;
  const auto earliest = timers_.earliest();
  if (!earliest) return -1;
  const milliseconds left = std::chrono::ceil<milliseconds>(*earliest - Clock::now());
  return static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, std::numeric_limits<int>::max()));
}

void Reactor::close() {
  std::vector<Task> dropped;  // destroyed outside the lock, because their captures may call the reactor
  TimerQueue timers;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(posted_);
    std::swap(timers, timers_);
  }
  tasks_.clear();
  tasks_run_ = 0;
}

}  // namespace praxis
