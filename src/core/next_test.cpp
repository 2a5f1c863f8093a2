// The loop as a table: what a session in each situation does next, and why turns end.
#include "praxis/core/next.hpp"

#include <gtest/gtest.h>

#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

constexpr Millis kRetryDelay{400};

AgentSpec test_agent(Limits limits = {}) {
  AgentSpec agent;
  agent.model = "test:model";
  agent.limits = limits;
  agent.tools = {test_tool("read"), test_tool("write"), test_tool("flaky", false, 2)};
  agent.tools.back().retry_delay = kRetryDelay;
  return agent;
}

struct Modelled : Fold {
  explicit Modelled(AgentSpec agent = test_agent()) : Fold(std::move(agent), kAskModel) {}
  explicit Modelled(Limits limits) : Modelled(test_agent(limits)) {}
};

Error model_error(bool retriable, Json detail = nullptr) {
  Error error = make_error(ErrorCode::kModel, "busy", retriable);
  if (!detail.is_null()) error.facts = std::make_shared<const Json>(std::move(detail));
  return error;
}

template <class R>
std::size_t count_of(const Fold& fold) {
  std::size_t count = 0;
  for (const Record& record : fold.log()) count += std::holds_alternative<R>(record.body) ? 1 : 0;
  return count;
}

const records::EffectIntended& last_intent(const Fold& fold) {
  for (auto it = fold.log().rbegin(); it != fold.log().rend(); ++it) {
    if (const auto* intent = std::get_if<records::EffectIntended>(&it->body)) return *intent;
  }
  throw std::logic_error("nothing was intended");
}

std::string last_text(const Fold& fold) { return fold.messages().back()->text(); }

// ---- the plain loop

TEST(Next, SessionWithoutATurn_IsIdle) {
  Modelled fold;
  EXPECT_TRUE(is<Idle>(fold.run()));
  EXPECT_EQ(fold.state().status(), SessionStatus::kIdle);
}

TEST(Next, AnswerWithoutCalls_FinishesTheTurn) {
  Modelled fold;
  EXPECT_TRUE(is<Wait>(fold.begin("hi")));
  EXPECT_TRUE(is<Idle>(fold.answer(says("hello"))));
  const AgentResult result = fold.result();
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.text, "hello");
  EXPECT_EQ(result.steps, 1U);
  EXPECT_EQ(result.id, "s1/t1");
  EXPECT_EQ(result.usage.total(), 15);
  EXPECT_EQ(result.status, SessionStatus::kCompleted);
}

TEST(Next, ResultsOfTools_AreFollowedByAModelCall) {
  Modelled fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("c1", "read")}));
  EXPECT_TRUE(is<Wait>(fold.give("c1", "content")));
  ASSERT_TRUE(fold.state().turn);
  EXPECT_EQ(fold.turn().effect->kind, EffectKind::kModel);
  fold.answer(says("done"));
  EXPECT_EQ(fold.result().text, "done");
  EXPECT_EQ(fold.result().steps, 2U);
  EXPECT_EQ(fold.result().actions.size(), 1U);
}

TEST(Next, Batch_RunsUpToTheParallelLimitWithResultsInCallOrder) {
  Limits limits;
  limits.max_parallel_tools = 2;
  Modelled fold(limits);
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read"), tool_call("b", "read"), tool_call("c", "read")}));
  EXPECT_EQ(fold.call("b").phase, CallState::Phase::kRunning);
  EXPECT_EQ(fold.call("c").phase, CallState::Phase::kProposed);
  fold.give("b", "two");
  EXPECT_EQ(fold.call("c").phase, CallState::Phase::kRunning);
  fold.give("c", "three");
  fold.give("a", "one");
  std::string order;
  for (const Part& part : fold.messages().back()->parts) order += std::get<ToolResultPart>(part).text + ' ';
  EXPECT_EQ(order, "one two three ");
  EXPECT_EQ(fold.state().conversation.repairs().size(), 0U);
}

TEST(Next, PausedAnswer_ContinuesWithoutAMessage) {
  Modelled fold;
  fold.begin("hi");
  EXPECT_TRUE(is<Wait>(fold.answer(says("thinking", FinishReason::kPause))));
  fold.answer(says("done"));
  EXPECT_EQ(fold.result().text, "done");
  EXPECT_EQ(fold.messages().size(), 3U);
}

TEST(Next, PlannerSteps_BecomeEffects) {
  const FixedPlan plan({UseTools{"look", {tool_call("x", "read"), tool_call("y", "read")}},
                        AddMessage{"unused"}, AddMessage{"note"}, Sleep{Millis{40}}, AskPerson{"sure?"}});
  AgentSpec agent = test_agent();
  agent.plan = JsonArray{};
  Fold fold(agent, plan);
  fold.begin("go");
  fold.give("y", "2");
  fold.give("x", "1");
  EXPECT_EQ(last_intent(fold).delay, Millis{40});
  EXPECT_TRUE(is<Wait>(fold.fire_timer()));
  EXPECT_EQ(fold.state().status(), SessionStatus::kAwaitingUser);
  fold.decide(ApprovalVerb::kAnswer, "yes");
  EXPECT_EQ(fold.result().reason, StopReason::kFinished);
  EXPECT_EQ(fold.result().steps, 3U);
  EXPECT_EQ(last_text(fold), "yes");
}

// ---- why turns end

TEST(StopReasons, FinishOfTheModel_DeterminesTheStopReason) {
  const std::vector<std::pair<FinishReason, StopReason>> table{
      {FinishReason::kStop, StopReason::kFinished},
      {FinishReason::kStopSequence, StopReason::kFinished},
      {FinishReason::kOther, StopReason::kFinished},
      {FinishReason::kLength, StopReason::kOutputLimit},
      {FinishReason::kContentFilter, StopReason::kRefused},
      {FinishReason::kRefusal, StopReason::kRefused},
      {FinishReason::kContextWindow, StopReason::kContextLimit},
      {FinishReason::kError, StopReason::kModelFailed}};
  for (const auto& [finish, reason] : table) {
    Modelled fold;
    fold.begin("hi");
    EXPECT_TRUE(is<Idle>(fold.answer(says("text", finish))));
    EXPECT_EQ(fold.result().reason, reason) << to_string(finish);
    EXPECT_EQ(fold.result().success, reason == StopReason::kFinished);
    EXPECT_EQ(fold.result().error.has_value(), reason != StopReason::kFinished);
    EXPECT_EQ(fold.result().text, "text");
  }
}

/// Makes tool calls without end, each different from the previous one; returns the stop reason.
StopReason go_on_until_stopped(Limits limits) {
  Modelled fold(limits);
  fold.begin("hi");
  for (int i = 0; fold.state().turn; ++i) {
    if (i == 50) throw std::logic_error("not stopped");
    const std::string id = "c" + std::to_string(i);
    fold.answer(calls({tool_call(id, "read")}));
    if (fold.state().turn) fold.give(id, "result " + id + std::string(200, 'x'));
  }
  EXPECT_EQ(fold.result().error->code, ErrorCode::kLimit);
  EXPECT_TRUE(fold.state().conversation.open_calls().empty());
  return *fold.result().reason;
}

TEST(StopReasons, EveryLimitStopsTheTurn) {
  Limits steps;
  steps.max_steps = 3;
  EXPECT_EQ(go_on_until_stopped(steps), StopReason::kMaxSteps);
  Limits tools;
  tools.max_tool_calls = 3;
  EXPECT_EQ(go_on_until_stopped(tools), StopReason::kMaxToolCalls);
  Limits tokens;
  tokens.max_tokens = 40;
  EXPECT_EQ(go_on_until_stopped(tokens), StopReason::kTokenLimit);
  Limits cost;
  cost.max_usd = {250};
  EXPECT_EQ(go_on_until_stopped(cost), StopReason::kCostLimit);
  Limits context;
  context.max_context = 40;
  EXPECT_EQ(go_on_until_stopped(context), StopReason::kContextLimit);
}

TEST(StopReasons, ToolCallLimit_LeavesNoCallUnanswered) {
  Limits limits;
  limits.max_tool_calls = 2;
  Modelled fold(limits);
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read"), tool_call("b", "read"), tool_call("c", "read")}));
  EXPECT_EQ(fold.result().reason, StopReason::kMaxToolCalls);
  ASSERT_EQ(fold.messages().back()->parts.size(), 3U);
  EXPECT_EQ(std::get<ToolResultPart>(fold.messages().back()->parts[2]).text,
            "not run: the turn ended first (max_tool_calls)");
}

TEST(StopReasons, FatalTool_EndsTheTurnOnceTheOthersHaveStopped) {
  AgentSpec agent = test_agent();
  agent.limits.max_parallel_tools = 2;
  agent.tools[1].fatal_errors = true;
  Modelled fold(agent);
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read"), tool_call("b", "write"), tool_call("c", "read")}));
  EXPECT_TRUE(is<Wait>(fold.fail_call("b", "disk full")));
  EXPECT_EQ(fold.call("c").phase, CallState::Phase::kProposed);
  EXPECT_TRUE(is<Idle>(fold.give("a", "fine")));
  EXPECT_EQ(fold.result().reason, StopReason::kToolFailed);
  EXPECT_EQ(fold.result().error->message, "disk full");
  const auto& results = fold.messages().back()->parts;
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(std::get<ToolResultPart>(results[0]).text, "fine");
  EXPECT_EQ(std::get<ToolResultPart>(results[1]).text, "disk full");
  EXPECT_EQ(std::get<ToolResultPart>(results[2]).text, "not run: the turn ended first (tool_failed)");
}

TEST(StopReasons, ToolFailureModeFail_EndsTheTurn) {
  AgentSpec agent = test_agent();
  agent.tool_failure = ToolFailureMode::kFail;
  Modelled fold(agent);
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read")}));
  fold.fail_call("a", "gone");
  EXPECT_EQ(fold.result().reason, StopReason::kToolFailed);
}

TEST(StopReasons, TruncatedCalls_AreSentBackThreeTimesAtMost) {
  ModelResponse cut = calls({tool_call("a", "read", "{\"pa")});
  std::get<ToolCallPart>(cut.parts[0]).valid = false;
  Modelled fold;
  fold.begin("hi");
  EXPECT_TRUE(is<Wait>(fold.answer(cut)));
  EXPECT_EQ(fold.messages().back()->role, Role::kUser);
  EXPECT_NE(last_text(fold).find("was cut off"), std::string::npos);
  EXPECT_TRUE(is<Wait>(fold.answer(cut)));
  EXPECT_TRUE(is<Idle>(fold.answer(cut)));
  EXPECT_EQ(fold.result().reason, StopReason::kModelFailed);
}

TEST(StopReasons, AmbiguousCalls_AreSentBack) {
  for (const ModelResponse& response : {calls({tool_call("a", "")}), calls({tool_call("", "read")}),
                                        says("", FinishReason::kMalformedToolCall)}) {
    Modelled fold;
    fold.begin("hi");
    EXPECT_TRUE(is<Wait>(fold.answer(response)));
    EXPECT_EQ(fold.turn().malformed_calls, 1U);
  }
}

TEST(StopReasons, ValidCallNextToATruncatedOne_RunsFirst) {
  ModelResponse mixed = calls({tool_call("a", "read"), tool_call("b", "read", "{")});
  std::get<ToolCallPart>(mixed.parts[1]).valid = false;
  Modelled fold;
  fold.begin("hi");
  fold.answer(mixed);
  EXPECT_TRUE(is<Wait>(fold.give("a", "fine")));
  EXPECT_NE(last_text(fold).find("was cut off"), std::string::npos);
  EXPECT_EQ(fold.turn().effect->kind, EffectKind::kModel);
}

// ---- repetition

/// Plays rounds of calls until the turn ends; returns the number of warnings before.
template <class Play>
std::size_t warnings_until_stopped(Fold& fold, Play play) {
  fold.begin("hi");
  for (int round = 0; fold.state().turn; ++round) {
    if (round == 50) throw std::logic_error("not stopped");
    fold.answer(calls({tool_call("c", "read", "{\"n\":" + std::to_string(play(round)) + "}")}));
    fold.give("c", "result of " + std::to_string(play(round)));
  }
  EXPECT_EQ(fold.result().reason, StopReason::kRepetition);
  return count_of<records::MessageAppended>(fold) - 1;
}

TEST(Repetition, RepeatedCall_IsWarnedOnceThenStopped) {
  Modelled fold;
  EXPECT_EQ(warnings_until_stopped(fold, [](int) { return 1; }), 1U);
  EXPECT_EQ(fold.result().actions.size(), 6U);
}

TEST(Repetition, AlternatingCalls_AreWarnedOnceThenStopped) {
  Modelled fold;
  EXPECT_EQ(warnings_until_stopped(fold, [](int round) { return round % 2; }), 1U);
  EXPECT_EQ(fold.result().actions.size(), 12U);
}

TEST(Repetition, LargeLimits_AreReachedToo) {
  Limits limits;
  limits.max_repeats = 20;
  Modelled fold(limits);
  EXPECT_EQ(warnings_until_stopped(fold, [](int round) { return round % 2; }), 1U);
  EXPECT_EQ(fold.result().actions.size(), 40U);
}

TEST(Repetition, SameErrorOfDifferentCalls_IsWarnedOnceThenStopped) {
  Modelled fold;
  fold.begin("hi");
  for (int i = 0; fold.state().turn; ++i) {
    ASSERT_LT(i, 20);
    fold.answer(calls({tool_call("c", "read", std::to_string(i))}));
    fold.fail_call("c", "permission denied");
  }
  EXPECT_EQ(fold.result().reason, StopReason::kRepetition);
  EXPECT_EQ(fold.result().actions.size(), 6U);
  EXPECT_EQ(count_of<records::MessageAppended>(fold), 2U);
}

TEST(Repetition, SameCallWithNewResults_IsNotARepetition) {
  Limits limits;
  limits.max_steps = 20;
  Modelled fold(limits);
  fold.begin("hi");
  for (int i = 0; fold.state().turn; ++i) {
    fold.answer(calls({tool_call("c", "read")}));
    fold.give("c", "progress " + std::to_string(i));
  }
  EXPECT_EQ(fold.result().reason, StopReason::kMaxSteps);
}

TEST(Repetition, RepetitionAfterAChange_IsWarnedAgain) {
  Modelled fold;
  const auto play = [](int round) { return round < 4 ? 1 : round == 4 ? 2 : 3; };
  EXPECT_EQ(warnings_until_stopped(fold, play), 2U);
}

TEST(Repetition, NoteAboutATruncatedCall_IsNoWarning) {
  ModelResponse cut = calls({tool_call("a", "read", "{")});
  std::get<ToolCallPart>(cut.parts[0]).valid = false;
  Modelled fold;
  fold.begin("hi");
  for (int i = 0; i < 2; ++i) {
    fold.answer(calls({tool_call("c", "read")}));
    fold.give("c", "same");
  }
  fold.answer(cut);
  fold.answer(calls({tool_call("c", "read")}));
  fold.give("c", "same");
  EXPECT_NE(last_text(fold).find("repeat"), std::string::npos);
}

// ---- model attempts

TEST(Retries, Retries_BackOffLongerEachTimeThenFail) {
  Modelled fold;
  fold.begin("hi");
  std::vector<Millis> delays;
  while (fold.state().turn) {
    fold.fail_model(model_error(true));
    if (fold.state().turn) delays.push_back(last_intent(fold).delay);
  }
  ASSERT_EQ(delays.size(), 3U);
  Millis full{500};
  for (const Millis delay : delays) {
    EXPECT_GE(delay, full / 2);
    EXPECT_LE(delay, full);
    full *= 2;
  }
  EXPECT_EQ(fold.result().reason, StopReason::kModelFailed);
  EXPECT_EQ(fold.result().retries.attempts, 4U);
  EXPECT_EQ(fold.result().retries.last_error->message, "busy");
  EXPECT_EQ(last_intent(fold).effect.str(), "e1");
  EXPECT_EQ(last_intent(fold).attempt, 4U);
}

TEST(Retries, RetryAfterOfTheVendor_IsObeyed) {
  Modelled fold;
  fold.begin("hi");
  fold.fail_model(model_error(true, JsonObject{{"retry_after_ms", 1'234}}));
  EXPECT_EQ(last_intent(fold).delay, Millis{1'234});
  fold.fail_model(model_error(true, JsonObject{{"retry_after_ms", -5}}));
  EXPECT_EQ(last_intent(fold).delay, Millis{0});
  fold.fail_model(model_error(true, JsonObject{{"retry_after_ms", 60'001}}));
  EXPECT_EQ(fold.result().reason, StopReason::kModelFailed);
}

TEST(Retries, PermanentModelErrors_AreNotRetried) {
  Modelled denied;
  denied.begin("hi");
  denied.fail_model(model_error(false));
  EXPECT_EQ(denied.result().reason, StopReason::kModelFailed);
  Modelled full;
  full.begin("hi");
  full.fail_model(model_error(false, JsonObject{{"kind", "context_overflow"}}));
  EXPECT_EQ(full.result().reason, StopReason::kContextLimit);
}

TEST(Retries, FlakyTool_IsRetriedAsTheSameEffect) {
  Modelled fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("f", "flaky")}));
  const records::EffectIntended first = last_intent(fold);
  fold.fail_call("f", "timeout", true);
  EXPECT_EQ(last_intent(fold).effect, first.effect);
  EXPECT_EQ(last_intent(fold).attempt, 2U);
  fold.fail_call("f", "timeout", true);
  fold.fail_call("f", "timeout", true);
  EXPECT_EQ(std::get<ToolResultPart>(fold.messages().back()->parts[0]).text, "timeout");
  EXPECT_EQ(fold.result().actions[0].attempts, 3U);
  EXPECT_EQ(fold.result().retries.attempts, 2U);
}

TEST(Retries, RetriesOfAToolBackOff) {
  Modelled fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("f", "flaky")}));
  EXPECT_EQ(last_intent(fold).delay, Millis{0});
  Millis full = kRetryDelay;
  for (int i = 0; i < 2; ++i, full *= 2) {
    fold.fail_call("f", "busy", true);
    EXPECT_GE(last_intent(fold).delay, full / 2) << "retry " << i + 1;
    EXPECT_LE(last_intent(fold).delay, full) << "retry " << i + 1;
  }
}

TEST(Retries, PermanentToolErrors_GoToTheModelAtOnce) {
  Modelled fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("f", "flaky")}));
  fold.fail_call("f", "no such file", false);
  EXPECT_EQ(fold.turn().effect->kind, EffectKind::kModel);
}

}  // namespace
}  // namespace praxis
