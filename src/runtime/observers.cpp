#include "runtime/observers.hpp"

#include <boost/container/small_vector.hpp>
#include <stdexcept>
#include <utility>

#include "base/worker_pool.hpp"

namespace praxis {
namespace {

bool may_select_deltas(const EventKinds& kinds) {
  static const EventKinds kDeltas = kinds_of("deltas");
  return (kinds & kDeltas).any();
}

}  // namespace

Observers::Subscription::Subscription(std::string p, EventHandler h, std::shared_ptr<Counts> c)
    : pattern(std::move(p)),
      kinds(kinds_of(pattern)),
      handler(std::move(h)),
      counts(std::move(c)),
      deltas(may_select_deltas(kinds)) {
  ++counts->all;
  if (deltas) ++counts->deltas;
}

Observers::Subscription::~Subscription() {
  --counts->all;
  if (deltas) --counts->deltas;
}

std::shared_ptr<void> Observers::add(std::string pattern, EventHandler handler) {
  if (auto known = check_pattern(pattern); !known) throw std::invalid_argument(known.error().message);
  auto subscription = std::make_shared<Subscription>(std::move(pattern), std::move(handler), counts_);
  const unsigned long long kinds = subscription->kinds.to_ullong();
  const std::lock_guard lock(mutex_);
  kinds_ |= kinds;
  std::erase_if(list_, [](const Listed& listed) { return listed.subscription.expired(); });
  list_.push_back({subscription, subscription->deltas});
  return subscription;
}

void Observers::publish(const Event& event) const {
  const bool delta = is_delta(event.body);
  if (delta ? !want_deltas() : !want_any()) return;
  const bool own = std::holds_alternative<events::Custom>(event.body);
  boost::container::small_vector<std::shared_ptr<Subscription>, 4> called;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [listed, deltas] : list_) {
      if (delta && !deltas) continue;
      auto subscription = listed.lock();
      if (!subscription || !(own || subscription->kinds.test(event.body.index()))) continue;
      if (selects(subscription->pattern, event.body)) called.push_back(std::move(subscription));
    }
  }
  for (const auto& subscription : called) subscription->handler(event);
}

void EventQueue::push(const Event& event) {
  if (!collect_) return;
  const std::lock_guard lock(mutex_);
  if (result_ || (events_.size() >= kMaxWaiting && is_delta(event.body))) return;
  events_.push_back(event);
  changed_.notify_all();
}

void EventQueue::finish(Result<AgentResult> result) {
  if (done_) return std::exchange(done_, nullptr)(std::move(result));
  std::unique_lock lock(mutex_);
  if (!result_) result_ = std::make_unique<const Result<AgentResult>>(std::move(result));
  changed_.notify_all();
  const auto waiting = std::exchange(on_result_, {});
  const auto kept = std::exchange(kept_, nullptr);
  lock.unlock();  // from here on the result does not change
  for (const auto& done : waiting) done(*result_);
}

void EventQueue::keep(std::shared_ptr<void> what) {
  const std::lock_guard lock(mutex_);
  if (!result_) kept_.swap(what);
}

void EventQueue::on_result(std::function<void(Result<AgentResult>)> done) {
  std::unique_lock lock(mutex_);
  if (!result_) {
    on_result_.push_back(std::move(done));
    return;
  }
  lock.unlock();
  done(*result_);
}

bool EventQueue::finished() const {
  const std::lock_guard lock(mutex_);
  return result_ != nullptr;
}

std::optional<Event> EventQueue::pop() {
  const WaitForTasks wait;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !events_.empty() || result_; });
  return take();
}

std::optional<Event> EventQueue::pop(std::chrono::milliseconds limit) {
  const WaitForTasks wait;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return !events_.empty() || result_; });
  return take();
}

bool EventQueue::wait(std::chrono::milliseconds limit) {
  const WaitForTasks wait;
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return result_ != nullptr; });
}

/// The first event, under the lock.
std::optional<Event> EventQueue::take() {
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

Result<AgentResult> EventQueue::result() {
  const WaitForTasks wait;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_ != nullptr; });
  return *result_;
}

}  // namespace praxis
