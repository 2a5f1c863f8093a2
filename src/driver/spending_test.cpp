#include "driver/spending.hpp"
#include "praxis/core/state.hpp"

#include <gtest/gtest.h>

namespace praxis::driver {
namespace {

using Granted = BudgetAnswered::Granted;
using Busy = BudgetAnswered::Busy;

State session() {
  State state;
  auto agent = std::make_shared<AgentSpec>();
  agent->options.max_output_tokens = 100;
  state.agent = agent;
  return state;
}

ModelFacts priced(std::int64_t max_output = 0) {
  return {max_output, [](const Usage& usage) { return MicroUsd{usage.total() * 2}; }, false};
}

TEST(Reservation, GrantIsTakenOnce) {
  Reservation reservation;
  EXPECT_TRUE(reservation.asks());
  reservation.asked(3);
  EXPECT_FALSE(reservation.asks());
  EXPECT_TRUE(reservation.awaits_answer());
  EXPECT_FALSE(reservation.answered({4, Granted{}}));
  EXPECT_TRUE(reservation.answered({3, Granted{}}));
  EXPECT_TRUE(reservation.granted());
  EXPECT_EQ(reservation.take(), Token{3});
  EXPECT_FALSE(reservation.take());
  EXPECT_TRUE(reservation.asks());
}

TEST(Reservation, BusyOneAsksAgainWhenFreed) {
  Reservation reservation;
  reservation.asked(3);
  EXPECT_FALSE(reservation.freed());
  reservation.answered({3, Busy{}});
  EXPECT_FALSE(reservation.asks());
  EXPECT_FALSE(reservation.awaits_answer());
  EXPECT_TRUE(reservation.freed());
  EXPECT_TRUE(reservation.asks());
}

TEST(Reservation, RefusedOneHoldsNothing) {
  Reservation reservation;
  reservation.asked(3);
  EXPECT_TRUE(reservation.answered({3, StopReason::kTokenLimit}));
  EXPECT_FALSE(reservation.granted());
  EXPECT_FALSE(reservation.take());
}

TEST(Spending, LimitsOnTokensMoneyAndCallsBound) {
  Limits limits;
  EXPECT_FALSE(is_bounded(limits));
  limits.max_tool_calls = 1;
  EXPECT_TRUE(is_bounded(limits));
  limits = {};
  limits.max_tokens = 1;
  EXPECT_TRUE(is_bounded(limits));
  limits = {};
  limits.max_usd = {1};
  EXPECT_TRUE(is_bounded(limits));
}

TEST(Spending, LongestAnswerIsTheAgentsBoundUnlessAHookMayRaiseIt) {
  EXPECT_EQ(longest_answer(session(), priced()).tokens, session().usage_in_doubt().total());
  ModelFacts raised = priced(5'000);
  raised.options_may_change = true;
  EXPECT_EQ(longest_answer(session(), raised).tokens, session().request_tokens() + 5'000);
}

TEST(Spending, UnknownPriceReservesEverything) {
  EXPECT_GT(longest_answer(session(), {}).cost.value, 999'999'999'999);
  EXPECT_EQ(longest_answer(session(), priced()).cost.value, session().usage_in_doubt().total() * 2);
}

TEST(Spending, LikelyAnswerFollowsThoseOfTheSession) {
  State state = session();
  const ModelFacts facts = priced(100'000);
  auto agent = std::make_shared<AgentSpec>();
  state.agent = agent;
  EXPECT_EQ(estimate_call(state, facts).likely.tokens, state.request_tokens() + 2'048);
  state.model_calls = 2;
  state.usage.output = 2'000;
  EXPECT_EQ(estimate_call(state, facts).likely.tokens, state.request_tokens() + 2'000);
  state.turn.emplace();
  state.turn->report.model_calls.emplace_back().usage.output = 4'000;
  EXPECT_EQ(estimate_call(state, facts).likely.tokens, state.request_tokens() + 8'000);
  EXPECT_EQ(estimate_call(state, priced(5'000)).likely.tokens, state.request_tokens() + 5'000);
  EXPECT_EQ(estimate_call(state, facts).longest, longest_answer(state, facts));
}

TEST(Spending, LikelyAnswerIsAtMostTheAgentsBound) {
  EXPECT_EQ(estimate_call(session(), priced()).likely.tokens, session().usage_in_doubt().total());
}

TEST(Spending, UnknownPriceIsAssumedToBeHigh) {
  const Amount likely = estimate_call(session(), {}).likely;
  EXPECT_EQ(likely.cost.value, likely.tokens * 100);
  EXPECT_EQ(estimate_call(session(), priced()).likely.cost.value, likely.tokens * 2);
}

TEST(Spending, UnansweredCallCountsWhatArrived) {
  const Usage used = used_without_answer(session(), priced(), std::nullopt, 30);
  EXPECT_EQ(used.output, 10);
  EXPECT_TRUE(used.estimated);
  EXPECT_EQ(used.cost.value, used.total() * 2);
}

TEST(Spending, StatedUsageCountsInsteadOfAnEstimate) {
  Usage stated;
  stated.input = 7;
  stated.output = 2;
  EXPECT_EQ(used_without_answer(session(), priced(), stated, 30).total(), 9);
  stated.estimated = true;
  EXPECT_EQ(used_without_answer(session(), priced(), stated, 30).output, 10);
}

}  // namespace
}  // namespace praxis::driver
