// The budgets of an agent tree without sessions.
#include <gtest/gtest.h>

#include "runtime/budget.hpp"

namespace praxis {
namespace {

Limits tokens(std::int64_t most) {
  Limits limits;
  limits.max_tokens = most;
  return limits;
}

TEST(SharedBudget, EstimateBeyondTheRestWaitsForOthers) {
  const auto root = Budget::create(nullptr, tokens(100), {}, {});
  auto first = root->reserve({1'000, {}, 0}, [] {});
  ASSERT_TRUE(std::holds_alternative<Budget::Grant>(first));
  int freed = 0;
  EXPECT_TRUE(std::holds_alternative<Budget::Busy>(root->reserve({10, {}, 0}, [&] { ++freed; })));
  std::get<Budget::Grant>(first).settle({20, {}, 0});
  EXPECT_EQ(freed, 1);
  EXPECT_TRUE(std::holds_alternative<Budget::Grant>(root->reserve({10, {}, 0}, [] {})));
}

TEST(SharedBudget, ToolCallDoesNotWaitForTokens) {
  const auto root = Budget::create(nullptr, tokens(100), {}, {});
  const auto below = Budget::create(root, {}, {}, {});
  const auto held = root->reserve({1'000, {}, 0}, [] {});
  EXPECT_TRUE(std::holds_alternative<Budget::Grant>(below->reserve({0, {}, 1}, [] {})));
}

TEST(SharedBudget, SpentLimitIsNamed) {
  const auto root = Budget::create(nullptr, tokens(100), {100, {}, 0}, {});
  const auto answer = root->reserve({1, {}, 0}, [] {});
  ASSERT_TRUE(std::holds_alternative<StopReason>(answer));
  EXPECT_EQ(std::get<StopReason>(answer), StopReason::kTokenLimit);
}

}  // namespace
}  // namespace praxis
