#include "runtime/budget.hpp"

#include <algorithm>
#include <limits>
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

Amount Budget::amount_for(const Estimate& estimate) const {
  constexpr std::int64_t kShare = 8;
  Amount share = estimate.longest;
  for (const Budget* b = this; b != nullptr; b = b->above_.get()) {
    const auto left = [](std::int64_t limit, std::int64_t taken) {
      return limit == 0 ? std::numeric_limits<std::int64_t>::max() : std::max<std::int64_t>(limit - taken, 0);
    };
    share.tokens =
        std::min(share.tokens, left(b->limit_.tokens, b->spent_.tokens + b->held_.tokens) / kShare);
    share.cost.value = std::min(
        share.cost.value, left(b->limit_.cost.value, b->spent_.cost.value + b->held_.cost.value) / kShare);
  }
  Amount amount = estimate.likely;
  amount.tokens = std::max(amount.tokens, share.tokens);
  amount.cost = std::max(amount.cost, share.cost);
  return amount;
}

Budget::Answer Budget::reserve(const Estimate& estimate, Task when_free) {
  const std::lock_guard lock(shared_->mutex);
  const Amount amount = amount_for(estimate);
  bool waits = false;
  for (Budget* b = this; b != nullptr; b = b->above_.get()) {
    if (auto spent = spent_out(b->limit_, b->spent_, b->held_, amount)) return *spent;
    waits = waits || has_to_wait(b->limit_, b->spent_, b->held_, amount);
  }
  if (waits) {
    shared_->waiting.push_back(std::move(when_free));
    return Busy{};
  }
  const std::uint64_t id = ++shared_->last_grant;
  for (Budget* b = this; b != nullptr; b = b->above_.get()) {
    if (amount.tokens != 0 && b->exceeded(amount)) b->exceeded_by_ = id;
    b->held_ += amount;
  }
  return Grant(shared_from_this(), amount, id);
}

std::optional<StopReason> Budget::exceeded(const Amount& extra) const {
  if (limit_.tokens != 0 && spent_.tokens + held_.tokens + extra.tokens > limit_.tokens)
    return StopReason::kTokenLimit;
  if (limit_.cost.value != 0 && spent_.cost.value + held_.cost.value + extra.cost.value > limit_.cost.value)
    return StopReason::kCostLimit;
  return std::nullopt;
}

std::optional<StopReason> Budget::extend(const Amount& extra, std::uint64_t grant) {
  const std::lock_guard lock(shared_->mutex);
  for (const Budget* b = this; b != nullptr; b = b->above_.get()) {
    const auto limit = b->exceeded(extra);
    if (limit && b->exceeded_by_ != 0 && b->exceeded_by_ != grant) return limit;
  }
  for (Budget* b = this; b != nullptr; b = b->above_.get()) {
    if (b->exceeded(extra)) b->exceeded_by_ = grant;
    b->held_ += extra;
  }
  return std::nullopt;
}

void Budget::settle(const Amount& held, const Amount& spent) {
  std::vector<Task> waiting;
  {
    const std::lock_guard lock(shared_->mutex);
    for (Budget* b = this; b != nullptr; b = b->above_.get()) {
      b->held_ -= held;
      b->spent_ += spent;
      if (!b->exceeded({})) b->exceeded_by_ = 0;
    }
    waiting.swap(shared_->waiting);
  }
  for (Task& task : waiting) task();
}

void Budget::Grant::settle(const Amount& spent) {
  if (const auto budget = std::exchange(budget_, nullptr)) budget->settle(amount_, spent);
}

std::optional<StopReason> Budget::Grant::extend(const Amount& used) {
  Amount extra;
  extra.tokens = std::max<std::int64_t>(used.tokens - amount_.tokens, 0);
  extra.cost.value = std::max<std::int64_t>(used.cost.value - amount_.cost.value, 0);
  if (!budget_ || extra == Amount{}) return std::nullopt;
  auto refused = budget_->extend(extra, id_);
  if (!refused) amount_ += extra;
  return refused;
}

}  // namespace praxis
