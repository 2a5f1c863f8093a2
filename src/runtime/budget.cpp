#include "runtime/budget.hpp"

#include <optional>
#include <utility>

namespace praxis {
namespace {

/// Returns the limit under which not even the smallest effect fits.
std::optional<StopReason> spent_out(const Amount& limit, const Amount& spent, const Amount& held,
                                    const Amount& asked) {
  if (limit.tokens != 0 && asked.tokens != 0 && spent.tokens >= limit.tokens) return StopReason::kTokenLimit;
  if (limit.cost.value != 0 && asked.tokens != 0 && spent.cost >= limit.cost) return StopReason::kCostLimit;
  if (limit.calls != 0 && spent.calls + held.calls + asked.calls > limit.calls)
    return StopReason::kMaxToolCalls;
  return std::nullopt;
}

/// An estimate may exceed the rest of the budget only if no other effect has a reservation: then a single
/// answer decides. A tool call uses neither tokens nor money, so it does not wait for those.
bool has_to_wait(const Amount& limit, const Amount& spent, const Amount& held, const Amount& asked) {
  if (asked.tokens == 0) return false;
  const bool tokens_short =
      limit.tokens != 0 && held.tokens != 0 && spent.tokens + held.tokens + asked.tokens > limit.tokens;
  const bool cost_short = limit.cost.value != 0 && held.cost.value != 0 &&
                          spent.cost.value + held.cost.value + asked.cost.value > limit.cost.value;
  return tokens_short || cost_short;
}

}  // namespace

Budget::Budget(std::shared_ptr<Budget> above, const Limits& limits)
    : above_(std::move(above)),
      shared_(above_ ? above_->shared_ : std::make_shared<Shared>()),
      limit_{limits.max_tokens, limits.max_usd, limits.max_tool_calls} {}

std::shared_ptr<Budget> Budget::create(std::shared_ptr<Budget> above, const Limits& limits,
                                       const Amount& spent, const Amount& unknown_above) {
  std::shared_ptr<Budget> budget(new Budget(std::move(above), limits));
  const std::lock_guard lock(budget->shared_->mutex);
  budget->spent_ = spent;
  for (Budget* b = budget->above_.get(); b != nullptr; b = b->above_.get()) b->spent_ += unknown_above;
  return budget;
}

Budget::Answer Budget::reserve(const Amount& amount, Task when_free) {
  const std::lock_guard lock(shared_->mutex);
  bool waits = false;
  for (Budget* b = this; b != nullptr; b = b->above_.get()) {
    if (auto spent = spent_out(b->limit_, b->spent_, b->held_, amount)) return *spent;
    waits = waits || has_to_wait(b->limit_, b->spent_, b->held_, amount);
  }
  if (waits) {
    shared_->waiting.push_back(std::move(when_free));
    return Busy{};
  }
  for (Budget* b = this; b != nullptr; b = b->above_.get()) b->held_ += amount;
  return Grant(shared_from_this(), amount);
}

void Budget::settle(const Amount& held, const Amount& spent) {
  std::vector<Task> waiting;
  {
    const std::lock_guard lock(shared_->mutex);
    for (Budget* b = this; b != nullptr; b = b->above_.get()) {
      b->held_ -= held;
      b->spent_ += spent;
    }
    waiting.swap(shared_->waiting);
  }
  for (Task& task : waiting) task();
}

void Budget::Grant::settle(const Amount& spent) {
  if (const auto budget = std::exchange(budget_, nullptr)) budget->settle(amount_, spent);
}

}  // namespace praxis
