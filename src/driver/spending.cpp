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

namespace {

/// The length in tokens that an answer is likely to have.
std::int64_t likely_output(const State& state) {
  constexpr std::int64_t kUsual = 2'048;
  constexpr std::int64_t kLeast = 256;  // a short answer says little about the next one
  std::int64_t longest = 0;
  if (state.turn) {
    for (const ModelCall& call : state.turn->report.model_calls)
      longest = std::max(longest, call.usage.output);
  }
  if (longest == 0 && state.model_calls != 0)
    longest = state.usage.output / static_cast<std::int64_t>(state.model_calls);
  return longest == 0 ? kUsual : std::max(kLeast, 2 * longest);
}

}  // namespace

Estimate estimate_call(const State& state, const ModelFacts& model) {
  constexpr std::int64_t kAssumedPrice = 100;  // micro-dollars for a token
  Estimate estimate{{}, longest_answer(state, model)};
  Usage usage = state.usage_in_doubt();
  std::int64_t bound = usage.output;
  if (bound == 0 || model.options_may_change) bound = model.max_output;
  usage.output = likely_output(state);
  if (bound != 0) usage.output = std::min(usage.output, bound);
  estimate.likely = {usage.total(), model.price ? model.price(usage) : MicroUsd{}, 0};
  if (estimate.likely.cost.value == 0) estimate.likely.cost = {usage.total() * kAssumedPrice};
  return estimate;
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
