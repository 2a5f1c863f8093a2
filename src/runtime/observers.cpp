#include "runtime/observers.hpp"

#include <utility>

namespace praxis {
namespace {

bool may_select_deltas(std::string_view pattern) {
  return selects(pattern, TextDelta{}) || selects(pattern, ReasoningDelta{}) ||
         selects(pattern, ToolCallDelta{});
}

}  // namespace

Observers::Subscription::Subscription(std::string p, EventHandler h, std::shared_ptr<Counts> c)
    : pattern(std::move(p)), handler(std::move(h)), counts(std::move(c)), deltas(may_select_deltas(pattern)) {
  ++counts->all;
  if (deltas) ++counts->deltas;
}

Observers::Subscription::~Subscription() {
  --counts->all;
  if (deltas) --counts->deltas;
}

std::shared_ptr<void> Observers::add(std::string pattern, EventHandler handler) {
  auto subscription = std::make_shared<Subscription>(std::move(pattern), std::move(handler), counts_);
  const std::lock_guard lock(mutex_);
  list_.push_back(subscription);
  return subscription;
}

void Observers::publish(const Event& event) const {
  if (!want_any()) return;
  std::vector<std::shared_ptr<Subscription>> called;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(list_, [](const auto& weak) { return weak.expired(); });
    for (const auto& weak : list_) {
      if (auto subscription = weak.lock(); subscription && selects(subscription->pattern, event.body)) {
        called.push_back(std::move(subscription));
      }
    }
  }
  for (const auto& subscription : called) subscription->handler(event);
}

void EventQueue::push(const Event& event) {
  if (!collect_) return;
  const std::lock_guard lock(mutex_);
  if (result_ || (events_.size() >= kMaxWaiting && is_delta(event.body))) return;
  events_.push_back(event);
  changed_.notify_one();
}

void EventQueue::finish(Result<AgentResult> result) {
  if (done_) return std::exchange(done_, nullptr)(std::move(result));
  const std::lock_guard lock(mutex_);
  if (!result_) result_ = std::move(result);
  changed_.notify_all();
}

bool EventQueue::finished() const {
  const std::lock_guard lock(mutex_);
  return result_.has_value();
}

std::optional<Event> EventQueue::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !events_.empty() || result_; });
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

Result<AgentResult> EventQueue::result() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  return *result_;
}

}  // namespace praxis
