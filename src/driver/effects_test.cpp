#include "driver/effects.hpp"

#include <gtest/gtest.h>

#include "driver/timers.hpp"

namespace praxis::driver {
namespace {

using namespace std::chrono_literals;

records::EffectIntended tool(const std::string& id, std::uint32_t attempt = 1) {
  records::EffectIntended intent;
  intent.effect = EffectId{id};
  intent.kind = EffectKind::kTool;
  intent.attempt = attempt;
  return intent;
}

TEST(Effects, AttemptIsFoundUntilItIsFinished) {
  Effects effects;
  effects.begin(tool("e1", 2), 5ms);
  EXPECT_NE(effects.find(EffectId{"e1"}, 2), nullptr);
  EXPECT_EQ(effects.find(EffectId{"e1"}, 1), nullptr);
  EXPECT_FALSE(effects.asks_model());
  EXPECT_EQ(effects.finish(EffectId{"e1"}, 25ms), Millis{20});
  EXPECT_TRUE(effects.is_empty());
}

TEST(Effects, NextAttemptStartsWithFreshLimits) {
  Effects effects;
  effects.begin(tool("e1"), 5ms).stopping = true;
  EXPECT_FALSE(effects.begin(tool("e1", 2), 50ms).stopping);
  EXPECT_EQ(effects.finish(EffectId{"e1"}, 60ms), Millis{10});
}

TEST(Effects, TimeThatItWaitsForApprovalsDoesNotCount) {
  Effects effects;
  RunningEffect& effect = effects.begin(tool("e1"), 0ms);
  effect.limit = Millis{100};
  effects.hold_clock(effect, 30ms);
  effects.hold_clock(effect, 40ms);  // already stopped
  effects.release_clock(effect, 80ms);
  EXPECT_EQ(time_left(effect, 90ms), 60ms);
  effects.hold_clock(effect, 90ms);
  EXPECT_EQ(effects.finish(EffectId{"e1"}, 500ms), Millis{40});
}

TEST(Effects, TimerHasTheLengthOfItsSleepAndIsNotActive) {
  Effects effects;
  records::EffectIntended sleep = tool("e1");
  sleep.kind = EffectKind::kTimer;
  effects.hold_clock(effects.begin(sleep, 10ms), 10ms);
  EXPECT_EQ(effects.finish(EffectId{"e1"}, 70ms), Millis{60});
  EXPECT_EQ(effects.last_active(), Millis{0});
}

TEST(Effects, TimeOfEffectsThatRunAtOnceCountsOnce) {
  Effects effects;
  effects.begin(tool("e1"), 0ms);
  RunningEffect& second = effects.begin(tool("e2"), 10ms);
  EXPECT_EQ(effects.active(30ms), 30ms);
  effects.hold_clock(second, 20ms);
  EXPECT_EQ(effects.finish(EffectId{"e1"}, 40ms), Millis{40});
  EXPECT_EQ(effects.last_active(), Millis{40});
  EXPECT_EQ(effects.active(90ms), 0ms) << "the other one waits";
  effects.release_clock(second, 100ms);
  EXPECT_EQ(effects.finish(EffectId{"e2"}, 130ms), Millis{40});
  EXPECT_EQ(effects.last_active(), Millis{30});
  EXPECT_EQ(effects.active(500ms), 0ms);
}

TEST(Effects, TimeLeftIsNeverNegative) {
  Effects effects;
  RunningEffect& effect = effects.begin(tool("e1"), 0ms);
  effect.limit = Millis{100};
  EXPECT_EQ(time_left(effect, 300ms), 0ms);
}

TEST(Effects, ModelCallIsKnownAsOne) {
  Effects effects;
  records::EffectIntended intent;
  intent.effect = EffectId{"e2"};
  effects.begin(intent, 0ms);
  EXPECT_TRUE(effects.asks_model());
}

TEST(Timers, PurposeIsTakenOnce) {
  Timers timers;
  const Token first = timers.add(TurnDeadline{});
  const Token second = timers.add(EffectTimer{EffectId{"e1"}, 3});
  EXPECT_NE(first, second);
  const auto purpose = timers.take(second);
  ASSERT_TRUE(purpose);
  EXPECT_EQ(std::get<EffectTimer>(*purpose).attempt, 3U);
  EXPECT_FALSE(timers.take(second));
  EXPECT_FALSE(timers.is_empty());
  EXPECT_TRUE(timers.take(first));
  EXPECT_TRUE(timers.is_empty());
}

}  // namespace
}  // namespace praxis::driver
