// Sleeps of a plan: another process continues them, and does not begin them again.
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/testing/rig.hpp"

namespace praxis::driver {
namespace {

constexpr Millis kHour{3'600'000};
constexpr Millis kThreeDays = 72 * kHour;

class SleepyPlanner final : public Planner {
 public:
  PlanStep plan(const PlannerState& state) const override {
    if (state.step() == 0) return Sleep{kThreeDays};
    return Conclude{StopReason::kFinished, "awake", std::nullopt};
  }
};

/// Puts another process in the place of the one that `rig` simulates.
void take_over(Rig& rig) {
  Setup setup = Rig::setup_of(echoing());
  setup.planner = std::make_shared<const SleepyPlanner>();
  State state = rig.driver->state();
  rig.driver.emplace(std::move(setup), std::move(state));
  rig.durable = 0;
}

/// The delay of the timer that the process sets which continues the turn after `passed` on the wall clock.
Millis rest_after(Rig& rig, Millis passed) {
  take_over(rig);
  rig.now.wall = rig.now.wall + passed;
  rig.feed(ResumeRequested{{7, false}, {}});
  const ArmTimer* timer = rig.find<ArmTimer>();
  return timer == nullptr ? Millis{-1} : std::chrono::duration_cast<Millis>(timer->delay);
}

Rig asleep(Rig rig = Rig()) {
  rig.now.wall = UnixMillis{1'700'000'000'000};
  take_over(rig);
  rig.ask();
  return rig;
}

TEST(DriverSleep, AnotherProcess_WaitsForTheRest) {
  Rig rig = asleep();
  ASSERT_NE(rig.find<ArmTimer>(), nullptr);
  EXPECT_EQ(rig.find<ArmTimer>()->delay, kThreeDays);
  EXPECT_EQ(rest_after(rig, 20 * kHour), 52 * kHour);
  EXPECT_EQ(rest_after(rig, 30 * kHour), 22 * kHour) << "what all processes before it waited counts";
}

TEST(DriverSleep, TimeThatHasPassed_IsOverAtOnce) {
  Rig rig = asleep();
  EXPECT_EQ(rest_after(rig, 2 * kThreeDays), Millis{0});
  rig.feed(TimerFired{rig.find<ArmTimer>()->timer});
  EXPECT_FALSE(rig.driver->state().turn);
  EXPECT_EQ(rig.driver->state().last->text, "awake");
}

TEST(DriverSleep, ClockThatWasPutBack_MakesItNoLonger) {
  Rig rig = asleep();
  EXPECT_EQ(rest_after(rig, -20 * kHour), kThreeDays);
}

TEST(DriverSleep, TimeLimitOfTheTurn_StandsStill) {
  AgentSpec agent = echoing();
  agent.limits.timeout = Millis{60'000};
  Rig rig = asleep(Rig(agent));
  const ArmTimer* limit = nullptr;
  const ArmTimer* sleep = nullptr;
  for (const Action& action : rig.last) {
    const auto* armed = std::get_if<ArmTimer>(&action);
    if (armed != nullptr) (armed->delay == kThreeDays ? sleep : limit) = armed;
  }
  ASSERT_NE(sleep, nullptr);
  const Token timer = sleep->timer;
  if (limit != nullptr) {
    const DisarmTimer* stopped = rig.find<DisarmTimer>();
    ASSERT_NE(stopped, nullptr) << "the limit runs while the turn sleeps";
    EXPECT_EQ(stopped->timer, limit->timer);
  }
  rig.now.monotonic += kThreeDays;
  rig.feed(TimerFired{timer});
  ASSERT_TRUE(rig.driver->state().last);
  EXPECT_EQ(rig.driver->state().last->text, "awake");
  EXPECT_EQ(rig.driver->state().last->duration, Millis{0}) << "sleep is not active time";
}

TEST(DriverSleep, SleepOfASubAgent_IsNoActiveTimeOfTheSessionAbove) {
  AgentSpec agent = echoing();
  agent.limits.timeout = Millis{60'000};
  Rig rig(agent);
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const SessionId child{"s2"};
  rig.spawn(child, "a");
  rig.feed(ChildBegan{child, CallId{"a"}});
  rig.feed(ChildWaits{child, {}, false, true});
  ASSERT_NE(rig.find<ShowSession>(), nullptr);
  EXPECT_TRUE(rig.find<ShowSession>()->sleeps);
  EXPECT_EQ(rig.find<ShowSession>()->status, SessionStatus::kRunning);
  const auto stopped =
      std::ranges::count_if(rig.last, [](const Action& a) { return std::holds_alternative<DisarmTimer>(a); });
  EXPECT_EQ(stopped, 2) << "the limits of the call and of the turn";
  rig.now.monotonic += kThreeDays;
  rig.feed(ChildWaits{child, {}, false});
  ASSERT_NE(rig.find<ShowSession>(), nullptr);
  EXPECT_FALSE(rig.find<ShowSession>()->sleeps);
  const ArmTimer* limit = rig.find<ArmTimer>();
  ASSERT_NE(limit, nullptr) << "a limit runs again";
  EXPECT_GT(limit->delay, std::chrono::nanoseconds{0});
}

}  // namespace
}  // namespace praxis::driver
