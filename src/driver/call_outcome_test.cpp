// What is recorded of a call that ends without a result: whether it may have taken effect.
#include <gtest/gtest.h>

#include "driver/testing/rig.hpp"
#include "praxis/base/reach.hpp"

namespace praxis::driver {
namespace {

/// The text of the last tool result in the conversation.
std::string last_tool_text(const State& state) {
  std::string text = "no result";
  for (const MessagePtr& message : state.conversation.history().messages()) {
    for (const Part& part : message->parts) {
      if (const auto* result = std::get_if<ToolResultPart>(&part)) text = result->text;
    }
  }
  return text;
}

TEST(CallOutcome, ToolThatIsTooLateIsUnknownUnlessItIsRepeatable) {
  for (const bool repeatable : {false, true}) {
    AgentSpec agent = echoing();
    agent.tools = {test_tool("echo", repeatable)};
    Rig rig(std::move(agent));
    rig.ask();
    rig.answer(calls({tool_call("a", "echo")}));
    rig.feed(TimerFired{rig.find<ArmTimer>()->timer});
    const AgentResult result = result_of(rig.driver->state());
    ASSERT_EQ(result.actions.size(), 1U);
    EXPECT_EQ(result.actions[0].outcome, repeatable ? Outcome::kError : Outcome::kUnknown);
    const std::string text = last_tool_text(rig.driver->state());
    EXPECT_EQ(text, repeatable
                        ? "echo did not finish within 30000 ms"
                        : "Outcome unknown: echo did not finish within 30000 ms. It may or may not have "
                          "taken effect; check before you repeat it.");
  }
}

TEST(CallOutcome, FatalToolThatIsTooLateEndsTheTurn) {
  AgentSpec agent = echoing();
  agent.tool_failure = ToolFailureMode::kFail;
  Rig rig(std::move(agent));
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  rig.feed(TimerFired{rig.find<ArmTimer>()->timer});
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.reason, StopReason::kToolFailed);
}

struct Ending {
  ErrorCode code;
  std::optional<Reach> reach;
  bool repeatable;
  Outcome outcome;
};

TEST(CallOutcome, ErrorOfACallDecidesWithItsReachWhetherTheOutcomeIsKnown) {
  using enum ErrorCode;
  for (const Ending& each : {Ending{kCancelled, std::nullopt, false, Outcome::kUnknown},
                             {kCancelled, std::nullopt, true, Outcome::kCancelled},
                             {kCancelled, Reach::kNotSent, false, Outcome::kCancelled},
                             {kCancelled, Reach::kSent, false, Outcome::kUnknown},
                             {kCancelled, Reach::kSent, true, Outcome::kUnknown},
                             {kCancelled, Reach::kAnswered, false, Outcome::kCancelled},
                             {kTool, std::nullopt, false, Outcome::kError},
                             {kTool, Reach::kNotSent, false, Outcome::kError},
                             {kTool, Reach::kSent, false, Outcome::kUnknown},
                             {kTool, Reach::kAnswered, false, Outcome::kError}}) {
    AgentSpec agent = echoing();
    agent.tools = {test_tool("echo", each.repeatable, 3)};
    Rig rig(std::move(agent));
    rig.ask();
    rig.answer(calls({tool_call("a", "echo")}));
    rig.feed(InterruptRequested{});
    Error error = make_error(each.code, "the line went dead", each.reach == Reach::kSent);
    if (each.reach) error = with_reach(std::move(error), *each.reach);
    rig.feed(ToolEnded{rig.call("a"), 1, fail(std::move(error))});
    const auto* finish = rig.find<FinishTurn>();
    ASSERT_NE(finish, nullptr);
    EXPECT_EQ(finish->result.actions.at(0).outcome, each.outcome)
        << to_string(each.code) << (each.reach ? to_string(*each.reach) : " nothing") << each.repeatable;
    EXPECT_EQ(
        last_tool_text(rig.driver->state()),
        each.outcome == Outcome::kUnknown
            ? "Outcome unknown: the line went dead. It may or may not have taken effect; check before you "
              "repeat it."
            : "the line went dead");
  }
}

TEST(CallOutcome, CallWithoutAnAnswerIsNotRetried) {
  AgentSpec agent = echoing();
  agent.tools = {test_tool("echo", false, 3)};
  Rig rig(std::move(agent));
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  rig.feed(ToolEnded{rig.call("a"), 1,
                     fail(with_reach(make_error(ErrorCode::kTool, "closed", true), Reach::kSent))});
  EXPECT_EQ(rig.find<StartTool>(), nullptr);
  EXPECT_NE(rig.find<StartModel>(), nullptr);
}

}  // namespace
}  // namespace praxis::driver
