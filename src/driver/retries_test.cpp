// Retries of tool calls: when they start, and what stops them before.
#include <gtest/gtest.h>

#include "driver/testing/rig.hpp"

namespace praxis::driver {
namespace {

using namespace std::chrono_literals;

/// A driver whose tool call has failed and waits for its next attempt.
Rig waiting_for_a_retry() {
  AgentSpec agent = echoing();
  agent.tools = {test_tool("echo", false, 1)};
  agent.tools[0].retry_delay = Millis{400};
  Rig rig(std::move(agent));
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  rig.feed(ToolEnded{rig.call("a"), 1, fail(ErrorCode::kTool, "busy", true)});
  return rig;
}

TEST(DriverRetries, FailedToolCallIsRetriedAfterItsDelay) {
  Rig rig = waiting_for_a_retry();
  EXPECT_EQ(rig.find<StartTool>(), nullptr);
  ASSERT_NE(rig.find<ArmTimer>(), nullptr);
  const auto delay = rig.find<ArmTimer>()->delay;
  EXPECT_GE(delay, 200ms);
  EXPECT_LE(delay, 400ms);
  EXPECT_TRUE(rig.find<ArmTimer>()->keeps);
  rig.now.monotonic += delay;
  rig.feed(TimerFired{rig.find<ArmTimer>()->timer});
  ASSERT_NE(rig.find<StartTool>(), nullptr);
  EXPECT_EQ(rig.find<StartTool>()->attempt, 2U);
  ASSERT_NE(rig.find<ArmTimer>(), nullptr);
  EXPECT_EQ(rig.find<ArmTimer>()->delay, rig.find<StartTool>()->limit) << "the delay takes nothing from it";
}

TEST(DriverRetries, RetryThatIsStoppedWhileItWaitsNeverStarts) {
  Rig rig = waiting_for_a_retry();
  rig.feed(InterruptRequested{});
  EXPECT_EQ(rig.find<StartTool>(), nullptr);
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.reason, StopReason::kCancelled);
  EXPECT_EQ(rig.find<FinishTurn>()->result.actions.at(0).outcome, Outcome::kCancelled);
}

}  // namespace
}  // namespace praxis::driver
