// The budgets of an agent tree without sessions.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "runtime/budget.hpp"

namespace praxis {
namespace {

Limits tokens(std::int64_t most) {
  Limits limits;
  limits.max_tokens = most;
  return limits;
}

Estimate exactly(std::int64_t tokens) { return {{tokens, {}, 0}, {tokens, {}, 0}}; }
Estimate at_least(std::int64_t tokens) { return {{tokens, {}, 0}, {1'000'000'000, {}, 0}}; }

Budget::Grant granted(Budget::Answer answer) {
  EXPECT_TRUE(std::holds_alternative<Budget::Grant>(answer));
  return std::get<Budget::Grant>(std::move(answer));
}

TEST(SharedBudget, EstimateBeyondTheRestWaitsForOthers) {
  const auto root = Budget::create(nullptr, tokens(100), {}, {});
  auto first = root->reserve(exactly(1'000), [] {});
  ASSERT_TRUE(std::holds_alternative<Budget::Grant>(first));
  int freed = 0;
  EXPECT_TRUE(std::holds_alternative<Budget::Busy>(root->reserve(exactly(10), [&] { ++freed; })));
  std::get<Budget::Grant>(first).settle({20, {}, 0});
  EXPECT_EQ(freed, 1);
  EXPECT_TRUE(std::holds_alternative<Budget::Grant>(root->reserve(exactly(10), [] {})));
}

TEST(SharedBudget, ToolCallDoesNotWaitForTokens) {
  const auto root = Budget::create(nullptr, tokens(100), {}, {});
  const auto below = Budget::create(root, {}, {}, {});
  const auto held = root->reserve(exactly(1'000), [] {});
  EXPECT_TRUE(std::holds_alternative<Budget::Grant>(below->reserve({{0, {}, 1}, {0, {}, 1}}, [] {})));
}

TEST(SharedBudget, SpentLimitIsNamed) {
  const auto root = Budget::create(nullptr, tokens(100), {100, {}, 0}, {});
  const auto answer = root->reserve(exactly(1), [] {});
  ASSERT_TRUE(std::holds_alternative<StopReason>(answer));
  EXPECT_EQ(std::get<StopReason>(answer), StopReason::kTokenLimit);
}

TEST(SharedBudget, EffectsOfLikelySizeRunAtOnce) {
  const auto root = Budget::create(nullptr, tokens(50'000), {}, {});
  std::vector<Budget::Grant> held;
  for (int i = 0; i < 4; ++i) held.push_back(granted(root->reserve(at_least(2'000), [] {})));
}

TEST(SharedBudget, WhileMuchIsLeftAShareIsReserved) {
  const auto root = Budget::create(nullptr, tokens(8'000), {}, {});
  auto first = granted(root->reserve(at_least(10), [] {}));
  EXPECT_EQ(first.extend({1'000, {}, 0}), std::nullopt);
  auto second = granted(root->reserve({{10, {}, 0}, {20, {}, 0}}, [] {}));
  auto rest = root->reserve(exactly(6'981), [] {});
  EXPECT_TRUE(std::holds_alternative<Budget::Busy>(rest)) << "1000 and 20 are held";
  auto fits = granted(root->reserve(exactly(6'980), [] {}));
}

TEST(SharedBudget, OneEffectMayExceedTheLimit) {
  const auto root = Budget::create(nullptr, tokens(100), {}, {});
  auto first = granted(root->reserve(exactly(50), [] {}));
  auto second = granted(root->reserve(exactly(50), [] {}));
  EXPECT_EQ(first.extend({60, {}, 0}), std::nullopt);
  EXPECT_EQ(second.extend({50, {}, 0}), std::nullopt) << "within its reservation";
  EXPECT_EQ(second.extend({51, {}, 0}), StopReason::kTokenLimit);
  EXPECT_EQ(first.extend({500, {}, 0}), std::nullopt);
  first.settle({500, {}, 0});
  EXPECT_EQ(second.extend({51, {}, 0}), StopReason::kTokenLimit) << "the limit is exceeded already";
}

TEST(SharedBudget, LimitAboveCountsForAll) {
  const auto root = Budget::create(nullptr, tokens(100), {}, {});
  const auto left = Budget::create(root, tokens(1'000), {}, {});
  const auto right = Budget::create(root, {}, {}, {});
  auto first = granted(left->reserve(exactly(50), [] {}));
  auto second = granted(right->reserve(exactly(50), [] {}));
  EXPECT_EQ(first.extend({51, {}, 0}), std::nullopt);
  EXPECT_EQ(second.extend({51, {}, 0}), StopReason::kTokenLimit);
}

/// One random history of effects under two budgets of which one lies below the other. Each effect grows in
/// steps, reports each step before it takes it, and stops when it is refused. Returns what is spent beyond
/// the limit of the root, and the largest amount that one effect has taken.
std::pair<std::int64_t, std::int64_t> overshoot(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const std::int64_t limit = pick(1, 20'000);
  const auto root = Budget::create(nullptr, tokens(limit), {}, {});
  const auto below = Budget::create(root, tokens(pick(1, 30'000)), {}, {});
  struct Effect {
    Budget::Grant grant;
    std::int64_t used;
  };
  std::vector<Effect> running;
  std::int64_t spent = 0, largest = 0;
  const auto end = [&](std::size_t index) {
    Effect& effect = running[index];
    effect.grant.settle({effect.used, {}, 0});
    spent += effect.used;
    largest = std::max(largest, effect.used);
    std::swap(effect, running.back());
    running.pop_back();
  };
  for (int step = 0; step < 200; ++step) {
    if (running.empty() || pick(0, 3) == 0) {
      auto answer = (pick(0, 1) == 0 ? root : below)->reserve(at_least(pick(1, 3'000)), [] {});
      if (auto* grant = std::get_if<Budget::Grant>(&answer)) running.push_back({std::move(*grant), 0});
      continue;
    }
    const auto index = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(running.size()) - 1));
    const std::int64_t grown = running[index].used + pick(1, 2'000);
    const bool refused = running[index].grant.extend({grown, {}, 0}).has_value();
    if (!refused) running[index].used = grown;
    if (refused || pick(0, 4) == 0) end(index);
  }
  while (!running.empty()) end(running.size() - 1);
  return {spent - limit, largest};
}

TEST(SharedBudget, ExceededByOneEffectAtMost) {
  std::mt19937_64 random(18);
  bool exceeded = false;
  for (int round = 0; round < 2'000; ++round) {
    const auto [beyond, largest] = overshoot(random);
    ASSERT_LE(beyond, largest) << "round " << round;
    exceeded = exceeded || beyond > 0;
  }
  EXPECT_TRUE(exceeded) << "no history reaches its limit";
}

}  // namespace
}  // namespace praxis
