#include "driver/approvers.hpp"

#include <gtest/gtest.h>

#include "driver/expiry.hpp"

namespace praxis::driver {
namespace {

State parked(std::vector<std::pair<std::string, std::int64_t>> steps) {
  State state;
  for (const auto& [id, expires] : steps) {
    ParkedStep step;
    step.id = ParkId{id};
    step.expires = UnixMillis{expires};
    state.parked[step.id] = step;
  }
  return state;
}

const Log kEmpty({SessionId{"s1"}, 1}, 4);

TEST(Approvers, StepIsAskedOnce) {
  Approvers approvers;
  const State state = parked({{"p1", 0}, {"p2", 0}});
  EXPECT_EQ(approvers.update(state, kEmpty, 1, false).ask.size(), 2U);
  EXPECT_TRUE(approvers.update(state, kEmpty, 1, false).ask.empty());
  EXPECT_TRUE(approvers.thinking());
}

TEST(Approvers, WithoutHandlerNothingIsAsked) {
  Approvers approvers;
  EXPECT_TRUE(approvers.update(parked({{"p1", 0}}), kEmpty, 0, false).ask.empty());
  EXPECT_FALSE(approvers.thinking());
}

TEST(Approvers, StepThatIsNotDurableIsNotAsked) {
  Approvers approvers;
  const State state = parked({{"p1", 0}});
  Log log({SessionId{"s1"}, 1}, 4);
  log.add(UnixMillis{1}, records::Parked{state.parked.begin()->second}, {});
  EXPECT_TRUE(approvers.update(state, log, 1, false).ask.empty());
  EXPECT_EQ(approvers.update(state, kEmpty, 1, false).ask.size(), 1U);
}

TEST(Approvers, AnotherHandlerIsAskedWhenTheFirstGaveNoAnswer) {
  Approvers approvers;
  const State state = parked({{"p1", 0}});
  const Token first = approvers.update(state, kEmpty, 1, false).ask.at(0).first;
  EXPECT_TRUE(approvers.update(state, kEmpty, 2, false).ask.empty());  // the first handler has not returned
  EXPECT_EQ(approvers.answered(first), ParkId{"p1"});
  EXPECT_TRUE(approvers.update(state, kEmpty, 1, false).ask.empty());  // it has been asked already
  const auto asked = approvers.update(state, kEmpty, 2, false).ask;
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_NE(asked[0].first, first);
  EXPECT_FALSE(approvers.answered(first));
}

TEST(Approvers, DecidedStepIsWithdrawn) {
  Approvers approvers;
  const Token question = approvers.update(parked({{"p1", 0}}), kEmpty, 1, false).ask.at(0).first;
  EXPECT_EQ(approvers.update(State{}, kEmpty, 1, false).withdraw, std::vector<Token>{question});
  EXPECT_FALSE(approvers.answered(question));
  EXPECT_FALSE(approvers.thinking());
}

TEST(Approvers, ClosingWithdrawsEverything) {
  Approvers approvers;
  const State state = parked({{"p1", 0}});
  approvers.update(state, kEmpty, 1, false);
  const auto changes = approvers.update(state, kEmpty, 1, true);
  EXPECT_EQ(changes.withdraw.size(), 1U);
  EXPECT_TRUE(changes.ask.empty());
}

TEST(Expiry, FirstStepThatExpiresCounts) {
  EXPECT_EQ(first_expiry(parked({{"p1", 0}})), UnixMillis{0});
  EXPECT_EQ(first_expiry(parked({{"p1", 0}, {"p2", 900}, {"p3", 700}})), UnixMillis{700});
}

TEST(Expiry, ClockIsLookedAtOnceAMinute) {
  EXPECT_EQ(until_expiry(UnixMillis{1'500}, UnixMillis{1'000}), Millis{500});
  EXPECT_EQ(until_expiry(UnixMillis{500}, UnixMillis{1'000}), Millis{0});
  EXPECT_EQ(until_expiry(UnixMillis{900'000}, UnixMillis{1'000}), Millis{60'000});
}

TEST(Expiry, StepsAreDeniedFromTheirTimeOn) {
  const State state = parked({{"p1", 0}, {"p2", 900}, {"p3", 700}});
  EXPECT_TRUE(overdue(state, UnixMillis{699}).empty());
  const auto late = overdue(state, UnixMillis{700});
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].park, ParkId{"p3"});
  EXPECT_EQ(late[0].verb, ApprovalVerb::kReject);
  EXPECT_EQ(late[0].author.principal, "expiry");
}

}  // namespace
}  // namespace praxis::driver
