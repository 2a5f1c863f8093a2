#include "threads_schedule.hpp"

#include <algorithm>
#include <cstdlib>

namespace praxis::faults::threads {
namespace {

thread_local Schedule* this_threads = nullptr;
thread_local void* this_worker = nullptr;
Schedule* this_process = nullptr;

/// Removes and returns an element of a list without order.
template <class T>
T take(std::vector<T>& from, std::size_t index) {
  std::swap(from[index], from.back());
  T taken = std::move(from.back());
  from.pop_back();
  return taken;
}

}  // namespace

Schedule::Schedule(std::uint64_t seed) : random_(seed) { this_process = this; }

Schedule* Schedule::of_this_thread() { return this_threads; }
Schedule* Schedule::of_this_process() { return this_process; }

void Schedule::post(Task task) { life_->ready.push_back(std::move(task)); }
void Schedule::post_blocking(Task task) { life_->blocking.push_back(std::move(task)); }

Executor::TimerId Schedule::after(std::chrono::nanoseconds delay, Task task) {
  const auto due = now_ + std::max(delay, std::chrono::nanoseconds{0});
  life_->timers.emplace(std::pair(due, ++last_timer_), std::move(task));
  return last_timer_;
}

void Schedule::cancel(Executor::TimerId timer) {
  auto& timers = life_->timers;
  const auto found = std::ranges::find(timers, timer, [](const auto& t) { return t.first.second; });
  // The task's captures may call this object when they are destroyed: not before the table is consistent
  // again.
  if (found != timers.end()) const auto dropped = timers.extract(found);
}

bool Schedule::step() {
  Life& life = *life_;
  std::vector<std::size_t> awake;
  for (std::size_t i = 0; i < life.waiting.size(); ++i) {
    if (life.waiting[i]->awake()) awake.push_back(i);
  }
  const std::size_t shorts = life.ready.size(), blocking = life.blocking.size();
  const std::size_t all = shorts + blocking + awake.size();
  if (all == 0 && life.timers.empty()) return false;
  ++steps_;
  // Time also passes while there is work, which simulates slow tasks.
  if (all == 0 || (!life.timers.empty() && random_.once_in(16))) {
    fire_timer();
    return true;
  }
  const std::size_t chosen = random_.below(all);
  if (chosen < shorts) {
    run_short(chosen);
  } else if (chosen < shorts + blocking) {
    run_blocking(chosen - shorts);
  } else {
    resume(*take(life.waiting, awake[chosen - shorts - blocking]));
  }
  return true;
}

void Schedule::run_short(std::size_t index) {
  Task task = take(life_->ready, index);
  in_short_task_ = true;
  task();
  task = nullptr;
  in_short_task_ = false;
}

void Schedule::fire_timer() {
  auto timer = life_->timers.extract(life_->timers.begin());
  now_ = std::max(now_, timer.key().first);
  in_short_task_ = true;
  timer.mapped()();
  timer.mapped() = nullptr;
  in_short_task_ = false;
}

void Schedule::run_blocking(std::size_t index) {
  Task task = take(life_->blocking, index);
  if (idle_.empty()) {
    auto* worker = new Worker;  // lives as long as the process
    worker->thread = std::thread([this, worker] { work(*worker); });
    idle_.push_back(worker);
  }
  Worker& worker = *idle_.back();
  idle_.pop_back();
  worker.task = std::move(task);
  resume(worker);
}

void Schedule::resume(Worker& worker) {
  worker.go.release();
  back_.acquire();
}

void Schedule::work(Worker& self) {
  this_threads = this;
  this_worker = &self;
  while (true) {
    self.go.acquire();
    self.task();
    self.task = nullptr;
    idle_.push_back(&self);
    back_.release();
  }
}

void Schedule::wait(std::function<bool()> awake) {
  if (awake()) return;
  auto& self = *static_cast<Worker*>(this_worker);
  self.awake = std::move(awake);
  life_->waiting.push_back(&self);
  back_.release();
  self.go.acquire();
}

void Schedule::sleep(std::chrono::nanoseconds delay, const std::stop_token& stop) {
  const auto over = std::make_shared<bool>(false);
  const auto timer = after(delay, [over] { *over = true; });
  wait([&] { return *over || stop.stop_requested(); });
  cancel(timer);
}

/// Keeps the rest of the life for ever: after a kill, no destructor runs.
void Schedule::die() {
  life_.release();
  life_ = std::make_unique<Life>();
}  // NOLINT(bugprone-unused-return-value)

}  // namespace praxis::faults::threads
