#include "driver/spending.hpp"
#include "praxis/core/state.hpp"

#include <algorithm>
#include <utility>

namespace praxis::driver {

void Reservation::asked(Token request) {
  phase_ = Phase::kAsked;
  request_ = request;
}

bool Reservation::answered(const BudgetAnswered& answer) {
  if (phase_ != Phase::kAsked || answer.request != request_) return false;
  phase_ = Phase::kNone;
  if (std::holds_alternative<BudgetAnswered::Granted>(answer.answer)) phase_ = Phase::kGranted;
  if (std::holds_alternative<BudgetAnswered::Busy>(answer.answer)) phase_ = Phase::kBusy;
  return true;
}

bool Reservation::freed() {
  if (phase_ != Phase::kBusy) return false;
  phase_ = Phase::kNone;
  return true;
}

std::optional<Token> Reservation::take() {
  if (std::exchange(phase_, Phase::kNone) != Phase::kGranted) return std::nullopt;
  return request_;
}

bool is_bounded(const Limits& limits) {
  return limits.max_tokens != 0 || limits.max_usd.value != 0 || limits.max_tool_calls != 0;
}

Amount longest_answer(const State& state, const ModelFacts& model) {
  constexpr std::int64_t kEndless = 1'000'000'000;
  constexpr MicroUsd kPriceless{1'000'000'000'000};
  Usage usage = state.usage_in_doubt();
  if (usage.output == 0 || model.options_may_change)
    usage.output = model.max_output != 0 ? model.max_output : kEndless;
  const MicroUsd cost = model.price ? model.price(usage) : MicroUsd{};
  return {usage.total(), cost.value != 0 ? cost : kPriceless, 0};
}

Usage used_without_answer(const State& state, const ModelFacts& model, const std::optional<Usage>& stated,
                          std::size_t arrived) {
  constexpr std::size_t kBytesPerToken =
      3;  // a low value, so that the estimate is rather too high than too low
  const auto output = static_cast<std::int64_t>(arrived / kBytesPerToken);
  Usage used = stated.value_or(state.usage_in_doubt());
  if (!stated) used.output = output;
  if (stated && stated->estimated) used.output = std::max(used.output, output);
  if (used.cost.value == 0 && model.price) used.cost = model.price(used);
  return used;
}

Usage used_in_doubt(const State& state, const ModelFacts& model) {
  Usage used = state.usage_in_doubt();
  if (model.price) used.cost = model.price(used);
  return used;
}

}  // namespace praxis::driver
