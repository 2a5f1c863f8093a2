// Every limit on a turn ends it with its own reason, and leaves a conversation that can continue.
#include <gmock/gmock.h>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

/// A model that keeps calling `echo`, with different words each time unless `repeats`.
std::string restless(bool repeats = false) {
  std::string script;
  for (int i = 0; i < 40; ++i) {
    const std::string text = repeats ? "same" : std::to_string(i);
    script += R"({"tool_calls": [{"name": "echo", "arguments": {"text": ")" + text +
              R"("}}], "usage": {"input": 100, "output": 10, "cost_usd": 0.01}})" + "\n";
  }
  return script;
}

class LimitsTest : public Scripted {
 protected:
  /// Runs a turn and checks that it ended for `reason`, with a consistent conversation.
  AgentResult stopped_by(StopReason reason, const Agent& agent) {
    Session session = session_of(agent);
    auto result = session.send_user_message("go").report();
    if (!result) throw std::runtime_error(result.error().message);
    EXPECT_EQ(to_string(result->reason.value()), to_string(reason));
    EXPECT_FALSE(result->success);
    EXPECT_TRUE(result->error.has_value());
    EXPECT_EQ(result->status, SessionStatus::kError);
    EXPECT_EQ(session.status(), SessionStatus::kError);
    EXPECT_EQ(unanswered(session.history()), 0U);
    return *result;
  }
};

TEST_F(LimitsTest, Steps) {
  const auto result =
      stopped_by(StopReason::kMaxSteps,
                 scripted(restless()).use(echo_tool()).limits(limit(&Limits::max_steps, std::uint32_t{3})));
  EXPECT_EQ(result.steps, 3U);
  EXPECT_EQ(result.error->code, ErrorCode::kLimit);
  EXPECT_THAT(result.error->message, HasSubstr("3 steps"));
}

TEST_F(LimitsTest, ToolCalls) {
  const auto result = stopped_by(
      StopReason::kMaxToolCalls,
      scripted(restless()).use(echo_tool()).limits(limit(&Limits::max_tool_calls, std::uint32_t{2})));
  EXPECT_EQ(result.actions.size(), 2U);
}

TEST_F(LimitsTest, ToolCalls_AHandlerThatAsksForOneMoreGetsAnErrorInsteadOfWaiting) {
  auto heard = std::make_shared<std::string>();
  Tool asking = host_tool("echo", [heard](ToolContext& context, const Json&) -> Result<ToolOutput> {
    auto inner = context.call_tool("inner", JsonObject{{"text", "x"}});
    *heard = inner ? inner->text : inner.error().message;
    return says("asked");
  });
  asking.definition.timeout = 0ms;  // only an answer ends the call
  stopped_by(StopReason::kMaxToolCalls, scripted(restless())
                                            .use(std::move(asking))
                                            .use(echo_tool("inner"))
                                            .limits(limit(&Limits::max_tool_calls, std::uint32_t{1})));
  EXPECT_THAT(*heard, HasSubstr("the turn ends"));
}

TEST_F(LimitsTest, Tokens) {
  const auto result =
      stopped_by(StopReason::kTokenLimit,
                 scripted(restless()).use(echo_tool()).limits(limit(&Limits::max_tokens, std::int64_t{300})));
  EXPECT_EQ(result.usage.total(), 330);
}

TEST_F(LimitsTest, Cost) {
  const auto result =
      stopped_by(StopReason::kCostLimit,
                 scripted(restless()).use(echo_tool()).limits(limit(&Limits::max_usd, MicroUsd{15'000})));
  EXPECT_EQ(result.usage.cost.value, 20'000);
}

TEST_F(LimitsTest, Repetition_WarnsThenStops) {
  Agent agent = scripted(restless(true));
  std::atomic<int> warnings = 0;
  agent.on("message.added", [&](const Event& event) {
    if (std::get<events::MessageAdded>(event.body).source == MessageSource::kRuntime) ++warnings;
  });
  const auto result = stopped_by(StopReason::kRepetition, agent.use(echo_tool()));
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(result.actions.size(), Limits{}.max_repeats);
}

TEST_F(LimitsTest, Context_ThatCannotBeCut) {
  Agent agent = scripted(R"({"text": "x"})").limits(limit(&Limits::max_context, std::int64_t{20}));
  Session session = session_of(agent);
  auto result = session.send_user_message(std::string(2000, 'y')).report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::kContextLimit);
}

TEST_F(LimitsTest, AnswerThatWasCutOff) {
  stopped_by(StopReason::kOutputLimit, scripted(R"({"text": "and so", "finish": "length"})"));
}

TEST_F(LimitsTest, Refusal) {
  stopped_by(StopReason::kRefused, scripted(R"({"text": "I won't", "finish": "refusal"})"));
}

TEST_F(LimitsTest, Time_StopsASlowModel) {
  const auto result = stopped_by(
      StopReason::kTimeLimit,
      scripted(R"({"text": "never", "delay_ms": 600000})").limits(limit(&Limits::timeout, Millis{30})));
  EXPECT_THAT(result.error->message, HasSubstr("30 ms"));
}

TEST_F(LimitsTest, Time_StopsASlowTool) {
  BlockedTool blocked;
  const auto result =
      stopped_by(StopReason::kTimeLimit, scripted(R"({"tool_calls": [{"id": "c1", "name": "slow"}]})")
                                             .use(blocked.tool("slow", true))
                                             .limits(limit(&Limits::timeout, Millis{30})));
  EXPECT_EQ(result.actions.at(0).outcome, Outcome::kUnknown);
}

TEST_F(LimitsTest, Time_HoldsForQueuedTurnsToo) {
  Session session = session_of(scripted(R"({"text": "quick"}
{"text": "never", "delay_ms": 600000})")
                                   .limits(limit(&Limits::timeout, Millis{200})));
  Gate second;
  const auto failing = session.on("turn.timed_out", [&](const Event&) { second.open(); });
  const auto queueing = session.on("turn.started", [&](const Event& event) {
    if (event.turn == TurnId{"t1"}) session.enqueue("next");
  });
  ASSERT_TRUE(session.send_user_message("go").report());
  ASSERT_TRUE(second.wait_briefly());
  EXPECT_EQ(session.last_result().reason, StopReason::kTimeLimit);
}

TEST_F(LimitsTest, Time_DoesNotPassWhilePaused) {
  Session session = session_of(scripted(R"({"text": "done"})").limits(limit(&Limits::timeout, Millis{50})));
  Gate started, passed;
  const auto watching = session.on("turn.started", [&](const Event&) { started.open(); });
  session.pause();
  auto run = session.send_user_message("go");
  started.wait();
  runtime_->model_services().executor->after(150ms, [&] { passed.open(); });
  passed.wait();
  session.unpause();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success) << to_string(*result->reason);
}

// ---- models that fail

TEST_F(LimitsTest, ModelThatFails_IsAskedAgain) {
  auto result = scripted(R"({"error": {"status": 500, "message": "oops", "retry_after_ms": 1}}
{"error": {"status": 429, "message": "slow down", "retry_after_ms": 1}}
{"text": "ok"})")
                    .stream("go")
                    .report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "ok");
  EXPECT_EQ(result->retries.attempts, 2U);
  EXPECT_THAT(result->retries.last_error->message, HasSubstr("slow down"));
  EXPECT_EQ(result->model_calls.at(0).attempts, 3U);
}

TEST_F(LimitsTest, ModelThatKeepsFailing_EndsTheTurn) {
  std::string script;
  for (int i = 0; i < 5; ++i)
    script += R"({"error": {"status": 500, "message": "oops", "retry_after_ms": 1}})"
              "\n";
  const auto result =
      stopped_by(StopReason::kModelFailed,
                 scripted(script).limits(limit(&Limits::max_model_attempts, std::uint32_t{3})));
  EXPECT_EQ(result.retries.attempts, 3U);
}

TEST_F(LimitsTest, ErrorThatNoRetryHelps_EndsTheTurnAtOnce) {
  const auto result =
      stopped_by(StopReason::kModelFailed, scripted(R"({"error": {"status": 401, "message": "bad key"}}
{"text": "unreachable"})"));
  EXPECT_EQ(result.retries.attempts, 1U);
  EXPECT_THAT(result.error->message, HasSubstr("bad key"));
}

TEST_F(LimitsTest, RetryAfterLongerThanTheLimit_IsAFailure) {
  stopped_by(
      StopReason::kModelFailed,
      scripted(R"({"error": {"status": 429, "message": "come back tomorrow", "retry_after_ms": 86400000}}
{"text": "unreachable"})"));
}

TEST_F(LimitsTest, SessionThatFailed_ContinuesWithTheNextTurn) {
  Session session = session_of(scripted(R"({"error": {"status": 401, "message": "bad key"}}
{"text": "better"})"));
  ASSERT_TRUE(session.send_user_message("a").report());
  auto result = session.send_user_message("b").report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "better");
}

}  // namespace
}  // namespace praxis::testing
