// The effects of commands, approvals and crashes on a session: stop, pause, steer, enqueue, rewind, approve,
// answer, and recovery in a new process.
#include <gtest/gtest.h>

#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

using Phase = CallState::Phase;

struct CommandFold : Fold {
  explicit CommandFold(InDoubt in_doubt = InDoubt::kPark, Limits limits = {})
      : Fold(agent(in_doubt, limits), kAskModel) {}
  static AgentSpec agent(InDoubt in_doubt, Limits limits) {
    AgentSpec spec;
    spec.model = "test:model";
    spec.limits = limits;
    spec.in_doubt = in_doubt;
    spec.tools = {test_tool("read", true), test_tool("write"), test_tool("flaky", false, 2),
                  test_tool("ask")};
    spec.tools.back().result_from = ResultFrom::kPerson;
    return spec;
  }
  Decision park(const std::string& id) {
    apply(park_call(state(), call(id), "a rule asks"));
    return run();
  }
  std::string result_text(std::size_t index) const {
    return std::get<ToolResultPart>(messages().back()->parts.at(index)).text;
  }
};

// ---- stop and pause

TEST(Stop, Stop_WaitsForRunningCallsAndReportsEachOutcome) {
  Limits limits;
  limits.max_parallel_tools = 2;
  CommandFold fold(InDoubt::kPark, limits);
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read"), tool_call("b", "write"), tool_call("c", "write")}));
  fold.give("a", "done");
  EXPECT_TRUE(is<Wait>(fold.command(CommandVerb::kInterrupt)));
  EXPECT_TRUE(is<Wait>(fold.fail_call("b", "cancelled")));
  EXPECT_TRUE(is<Idle>(fold.give("c", "late, but done")));
  EXPECT_EQ(fold.result().reason, StopReason::kCancelled);
  EXPECT_TRUE(fold.result().aborted());
  EXPECT_EQ(fold.state().status(), SessionStatus::kCancelled);
  EXPECT_EQ(fold.result_text(0), "done");
  EXPECT_EQ(fold.result_text(1), "cancelled");
  EXPECT_EQ(fold.result_text(2), "late, but done");
}

TEST(Stop, Stop_KeepsResultsOfAHalfFinishedBatch) {
  Limits limits;
  limits.max_parallel_tools = 1;
  CommandFold fold(InDoubt::kPark, limits);
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read"), tool_call("b", "write")}));
  fold.command(CommandVerb::kInterrupt);
  fold.give("a", "precious");
  EXPECT_EQ(fold.result_text(0), "precious");
  EXPECT_EQ(fold.result_text(1), "not run: the turn ended first (cancelled)");
  EXPECT_EQ(fold.result().actions.size(), 1U);
}

TEST(Stop, CallInDoubt_IsReportedAsUnknown) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("w", "write")}));
  fold.recover();
  fold.command(CommandVerb::kInterrupt);
  EXPECT_EQ(fold.result_text(0),
            "Outcome unknown: the call had started, but the turn ended first (cancelled)");
  ASSERT_EQ(fold.result().actions.size(), 1U);
  EXPECT_EQ(fold.result().actions[0].outcome, Outcome::kUnknown);
}

TEST(Stop, CallThatWouldHaveBeenRetried_KeepsItsLastError) {
  Limits limits;
  limits.max_parallel_tools = 1;
  CommandFold fold(InDoubt::kPark, limits);
  fold.begin("hi");
  fold.answer(calls({tool_call("f", "flaky")}));
  fold.command(CommandVerb::kPause);
  fold.fail_call("f", "timeout", true);
  fold.command(CommandVerb::kInterrupt);
  EXPECT_EQ(fold.result_text(0), "timeout");
  EXPECT_EQ(fold.result().actions[0].outcome, Outcome::kError);
}

TEST(Stop, AnswerThatArrivesAfterwards_StaysInTheConversation) {
  CommandFold fold;
  fold.begin("hi");
  fold.command(CommandVerb::kInterrupt);
  fold.answer(calls({tool_call("a", "read")}));
  EXPECT_EQ(fold.result().reason, StopReason::kCancelled);
  EXPECT_EQ(fold.result_text(0), "not run: the turn ended first (cancelled)");
  EXPECT_TRUE(is<Wait>(fold.begin("again")));
  EXPECT_TRUE(fold.state().conversation.repairs().size() == 1);
}

TEST(Stop, FailedCallAfterwards_IsNotRetried) {
  CommandFold model;
  model.begin("hi");
  model.command(CommandVerb::kInterrupt);
  model.fail_model(make_error(ErrorCode::kModel, "busy", true));
  EXPECT_EQ(model.result().reason, StopReason::kCancelled);
  CommandFold tool;
  tool.begin("hi");
  tool.answer(calls({tool_call("f", "flaky")}));
  tool.command(CommandVerb::kInterrupt);
  tool.fail_call("f", "timeout", true);
  EXPECT_EQ(tool.result().reason, StopReason::kCancelled);
}

TEST(Stop, StopWhileAQuestionIsParked_DropsTheQuestion) {
  CommandFold fold;
  fold.begin("hi");
  fold.command(CommandVerb::kPause);
  fold.answer(calls({tool_call("w", "write")}));
  fold.park("w");
  fold.command(CommandVerb::kInterrupt);
  EXPECT_EQ(fold.result().reason, StopReason::kCancelled);
  EXPECT_TRUE(fold.result().pending.empty());
}

TEST(Deadline, Deadline_EndsTheTurnUnlessItWasStoppedFirst) {
  CommandFold late;
  late.begin("hi");
  EXPECT_TRUE(is<Wait>(late.command(CommandVerb::kDeadline)));
  late.fail_model(make_error(ErrorCode::kCancelled, "cancelled"));
  EXPECT_EQ(late.result().reason, StopReason::kTimeLimit);
  EXPECT_EQ(late.result().error->code, ErrorCode::kLimit);
  CommandFold stopped;
  stopped.begin("hi");
  stopped.command(CommandVerb::kInterrupt);
  stopped.command(CommandVerb::kDeadline);
  stopped.answer(says("x"));
  EXPECT_EQ(stopped.result().reason, StopReason::kCancelled);
}

TEST(Pause, PausedSession_StartsNothingNewUntilUnpaused) {
  CommandFold fold;
  fold.begin("hi");
  fold.command(CommandVerb::kPause);
  EXPECT_TRUE(is<Wait>(fold.answer(calls({tool_call("a", "read")}))));
  EXPECT_EQ(fold.call("a").phase, Phase::kProposed);
  fold.command(CommandVerb::kUnpause);
  EXPECT_EQ(fold.call("a").phase, Phase::kRunning);
}

TEST(Pause, PausedSession_HoldsItsQueue) {
  CommandFold fold;
  fold.command(CommandVerb::kPause);
  EXPECT_TRUE(is<Idle>(fold.command(CommandVerb::kEnqueue, "later")));
  EXPECT_TRUE(is<Wait>(fold.command(CommandVerb::kUnpause)));
  EXPECT_EQ(fold.turn().prompt, "later");
}

// ---- messages

TEST(Steer, SteeringDuringTheFinalAnswer_IsStillHandled) {
  CommandFold fold;
  fold.begin("hi");
  fold.command(CommandVerb::kSteer, "in French");
  EXPECT_TRUE(is<Wait>(fold.answer(says("hello"))));
  EXPECT_EQ(fold.messages().back()->text(), "in French");
  fold.answer(says("bonjour"));
  EXPECT_EQ(fold.result().text, "bonjour");
}

TEST(Steer, SteeringBetweenCallsAndResults_WaitsForTheResults) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read")}));
  fold.command(CommandVerb::kSteer, "hurry");
  fold.command(CommandVerb::kSteer, "really");
  EXPECT_EQ(fold.messages().back()->role, Role::kAssistant);
  fold.give("a", "content");
  EXPECT_EQ(fold.messages().back()->text(), "really");
  EXPECT_EQ(fold.messages()[fold.messages().size() - 2]->text(), "hurry");
  EXPECT_TRUE(fold.state().steering.empty());
}

TEST(Enqueue, QueuedMessage_BeginsTheNextTurn) {
  CommandFold fold;
  fold.begin("one");
  fold.command(CommandVerb::kEnqueue, "two");
  EXPECT_TRUE(is<Wait>(fold.answer(says("first"))));
  EXPECT_EQ(fold.turn().id.str(), "t2");
  EXPECT_EQ(fold.turn().prompt, "two");
  EXPECT_TRUE(fold.state().queue.empty());
  fold.answer(says("second"));
  EXPECT_EQ(fold.result().text, "second");
}

TEST(Rewind, Rewind_GoesBackToTheStartOfATurn) {
  CommandFold fold;
  fold.begin("one");
  fold.answer(says("first"));
  const Digest after_one = fold.state().conversation.history().digest();
  fold.begin("two");
  EXPECT_TRUE(fold.refuses(records::Intervened{CommandVerb::kRewind, "t1", nullptr}));
  fold.answer(says("second"));
  EXPECT_TRUE(fold.refuses(records::Intervened{CommandVerb::kRewind, "t9", nullptr}));
  fold.command(CommandVerb::kRewind, "t2");
  EXPECT_EQ(fold.state().conversation.history().digest(), after_one);
  EXPECT_TRUE(fold.refuses(records::Intervened{CommandVerb::kRewind, "t2", nullptr}));
  fold.begin("three");
  EXPECT_EQ(fold.turn().id.str(), "t3");
}

TEST(Rewind, RewindAfterACut_KeepsInstructionsAndFindsTheTurn) {
  Limits limits;
  limits.max_messages = 6;
  CommandFold fold(InDoubt::kPark, limits);
  fold.apply(records::MessageAppended{std::make_shared<const Message>(text_message(Role::kSystem, "rules")),
                                      MessageSource::kImport});
  for (const char* text : {"one", "two", "three", "four"}) {
    fold.begin(text);
    fold.answer(says(std::string("answer ") + text));
  }
  ASSERT_LT(fold.messages().size(), 9U);
  fold.command(CommandVerb::kRewind, "t4");
  EXPECT_EQ(fold.messages().back()->text(), "answer three");
  fold.command(CommandVerb::kRewind, "t1");
  ASSERT_EQ(fold.messages().size(), 1U);
  EXPECT_EQ(fold.messages()[0]->text(), "rules");
}

TEST(Window, MessageWindow_KeepsInstructionsAndGoal) {
  Limits limits;
  limits.max_messages = 6;
  CommandFold fold(InDoubt::kPark, limits);
  fold.apply(records::MessageAppended{std::make_shared<const Message>(text_message(Role::kSystem, "rules")),
                                      MessageSource::kImport});
  fold.begin("the goal");
  for (int i = 0; i < 20; ++i) {
    fold.answer(calls({tool_call("c", "read", std::to_string(i))}));
    fold.give("c", "result " + std::to_string(i));
    EXPECT_LE(fold.messages().size(), 7U);
    EXPECT_EQ(fold.messages()[0]->text(), "rules");
    EXPECT_EQ(fold.messages()[1]->text(), "the goal");
  }
  EXPECT_EQ(fold.result_text(0), "result 19");
  EXPECT_TRUE(fold.state().conversation.repairs().empty());
}

TEST(Window, WindowTooSmallForOneExchange_StillTerminates) {
  Limits limits;
  limits.max_messages = 1;
  CommandFold fold(InDoubt::kPark, limits);
  fold.begin("goal");
  fold.answer(calls({tool_call("a", "read")}));
  EXPECT_TRUE(is<Wait>(fold.give("a", "content")));
  EXPECT_EQ(fold.messages().size(), 3U);
}

// ---- approvals

/// A turn paused before its calls `a` and `w` are reviewed.
struct Judged : CommandFold {
  Judged() {
    begin("hi");
    command(CommandVerb::kPause);
    answer(calls({tool_call("a", "read"), tool_call("w", "write", "{\"n\":1}")}));
    park("w");
    command(CommandVerb::kUnpause);
  }
};

TEST(Approval, CallsWithoutApproval_RunMeanwhile) {
  Judged fold;
  EXPECT_EQ(fold.call("a").phase, Phase::kRunning);
  EXPECT_EQ(fold.state().status(), SessionStatus::kRunning);
  fold.give("a", "read");
  EXPECT_EQ(fold.state().status(), SessionStatus::kAwaitingUser);
  EXPECT_EQ(fold.result().pending[0].arguments, "{\"n\":1}");
  fold.decide(ApprovalVerb::kApprove);
  EXPECT_EQ(fold.call("w").phase, Phase::kRunning);
  fold.give("w", "written");
  EXPECT_EQ(fold.result_text(1), "written");
}

TEST(Approval, ApprovalDuringOtherCalls_IsApplied) {
  Judged allowed;
  allowed.decide(ApprovalVerb::kEdit, "{\"n\":2}");
  EXPECT_EQ(allowed.call("w").phase, Phase::kRunning);
  EXPECT_EQ(allowed.call("w").call.arguments, "{\"n\":2}");
  Judged denied;
  EXPECT_TRUE(is<Wait>(denied.decide(ApprovalVerb::kReject, "too risky")));
  EXPECT_EQ(denied.call("a").phase, Phase::kRunning);
  denied.give("a", "read");
  EXPECT_EQ(denied.result_text(1), "Not allowed by person. too risky");
  EXPECT_EQ(denied.result().denials, std::vector<std::string>{"write: Not allowed by person. too risky"});
  EXPECT_EQ(denied.result().actions.size(), 1U);
}

TEST(Approval, Answer_ReplacesTheCall) {
  Judged fold;
  fold.give("a", "read");
  fold.decide(ApprovalVerb::kAnswer, "I did it myself");
  EXPECT_EQ(fold.result_text(1), "I did it myself");
}

// ---- questions

constexpr const char* kColour = R"({"question": "Which colour?", "choices": ["red", "blue"]})";

TEST(Question, Answer_IsTheResultOfTheCall) {
  CommandFold fold;
  fold.begin("hi");
  EXPECT_TRUE(is<Wait>(fold.answer(calls({tool_call("q", "ask", kColour)}))));
  EXPECT_EQ(fold.state().status(), SessionStatus::kAwaitingUser);
  ASSERT_EQ(fold.state().parked.size(), 1U);
  const ParkedStep& step = fold.state().parked.begin()->second;
  EXPECT_EQ(step.kind, ParkKind::kQuestion);
  EXPECT_EQ(step.prompt, "Which colour?");
  EXPECT_EQ(to_json_text(step.schema), R"({"type":"string","enum":["red","blue"]})");
  fold.decide(ApprovalVerb::kAnswer, "blue");
  EXPECT_EQ(fold.result_text(0), "blue");
  EXPECT_EQ(fold.turn().effect->kind, EffectKind::kModel);
  EXPECT_EQ(fold.turn().tool_calls, 0U);
}

TEST(Question, DeclinedQuestion_IsReportedAndTheTurnContinues) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("q", "ask", kColour)}));
  EXPECT_TRUE(is<Wait>(fold.decide(ApprovalVerb::kReject)));
  EXPECT_EQ(fold.result_text(0), "No answer: the person was asked and declined, or did not answer.");
  EXPECT_TRUE(fold.result().denials.empty());
  EXPECT_TRUE(is<Idle>(fold.answer(says("as you like"))));
  EXPECT_TRUE(fold.result().success);
}

TEST(Question, QuestionInABatch_DoesNotDelayOtherCalls) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("p", "ask", kColour), tool_call("r", "read"),
                     tool_call("q", "ask", R"({"question": "Why?"})")}));
  EXPECT_EQ(fold.call("r").phase, Phase::kRunning);
  EXPECT_EQ(fold.state().status(), SessionStatus::kRunning);
  ASSERT_EQ(fold.state().parked.size(), 2U);
  EXPECT_EQ(fold.state().parked.at(ParkId{"p2"}).call.str(), "q");
  EXPECT_TRUE(fold.state().parked.at(ParkId{"p2"}).schema.is_null());
  fold.give("r", "content");
  EXPECT_EQ(fold.state().status(), SessionStatus::kAwaitingUser);
  fold.decide(ApprovalVerb::kAnswer, "red");
  fold.decide(ApprovalVerb::kAnswer, "because");
  EXPECT_EQ(fold.result_text(0), "red");
  EXPECT_EQ(fold.result_text(1), "content");
  EXPECT_EQ(fold.result_text(2), "because");
}

TEST(Question, QuestionOfANestedCall_IsAnsweredToItsHandler) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("w", "write")}));
  fold.apply(records::CallProposed{CallId{"w"}, tool_call("w.1", "ask", kColour), "k"});
  fold.run();
  fold.decide(ApprovalVerb::kAnswer, "red");
  EXPECT_EQ(fold.call("w.1").result->text, "red");
  EXPECT_EQ(fold.call("w").phase, Phase::kRunning);
}

TEST(Question, InvalidQuestion_IsLeftToTheTool) {
  for (const char* arguments :
       {"{}", "", "{", R"({"question": ""})", R"({"question": 3})",
        R"({"question": "Which?", "choices": "red"})", R"({"question": "Which?", "choices": ["red", 2]})"}) {
    CommandFold fold;
    fold.begin("hi");
    fold.answer(calls({tool_call("q", "ask", arguments)}));
    EXPECT_EQ(fold.call("q").phase, Phase::kRunning) << arguments;
  }
}

TEST(Question, ExpiredQuestion_CountsAsDeclined) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("q", "ask", kColour)}));
  fold.apply(
      records::Decided{ParkId{"p1"}, CallId{"q"}, ApprovalVerb::kReject, {}, {"expiry", Surface::kRuntime}});
  fold.run();
  EXPECT_EQ(fold.result_text(0), "No answer: the person was asked and declined, or did not answer.");
}

TEST(Approval, ExpiredApproval_CountsAsDenied) {
  Judged fold;
  fold.give("a", "read");
  fold.apply(
      records::Decided{ParkId{"p1"}, CallId{"w"}, ApprovalVerb::kReject, {}, {"expiry", Surface::kRuntime}});
  fold.run();
  EXPECT_EQ(fold.result_text(1), "Not allowed: nobody decided in time.");
  EXPECT_EQ(fold.result().denials.size(), 1U);
}

// ---- recovery

TEST(Recovery, ModelCall_IsRepeatedAsTheSameEffect) {
  CommandFold fold;
  fold.begin("hi");
  fold.recover();
  EXPECT_EQ(fold.turn().effect->effect.str(), "e1");
  EXPECT_EQ(fold.turn().effect->attempt, 2U);
  EXPECT_EQ(fold.turn().step, 1U);
}

TEST(Recovery, ModelCallInDoubt_IsChargedWithItsUpperBound) {
  CommandFold fold;
  fold.begin("hi");
  const Usage taken = fold.state().usage_in_doubt();
  EXPECT_EQ(taken.input, fold.state().request_tokens());
  EXPECT_TRUE(taken.estimated);
  fold.apply(records::StatusChanged{fold.state().status(), "recovered", taken});
  EXPECT_EQ(fold.state().usage, taken);
  fold.run();
  fold.answer(says("hello"));
  EXPECT_EQ(fold.result().usage.total(), taken.total() + 15);
  EXPECT_TRUE(fold.result().usage.estimated);
}

TEST(Recovery, IdempotentTool_IsRepeatedAsTheSameEffect) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("r", "read")}));
  const EffectId effect = std::get<records::EffectIntended>(fold.log().back().body).effect;
  fold.recover();
  const auto& again = std::get<records::EffectIntended>(fold.log().back().body);
  EXPECT_EQ(again.effect, effect);
  EXPECT_EQ(again.attempt, 2U);
}

TEST(Recovery, OtherTool_IsNeverRepeatedUnasked) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("w", "write")}));
  EXPECT_TRUE(is<Wait>(fold.recover()));
  EXPECT_EQ(fold.state().status(), SessionStatus::kAwaitingUser);
  EXPECT_EQ(fold.state().parked.begin()->second.kind, ParkKind::kInDoubt);
  fold.decide(ApprovalVerb::kReject);
  EXPECT_EQ(fold.result_text(0),
            "Outcome unknown: the process stopped while this call ran; it was not repeated.");
  EXPECT_EQ(fold.result().actions[0].outcome, Outcome::kUnknown);
}

TEST(Recovery, OtherTool_RunsAgainIfTheUserAllowsIt) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("w", "write")}));
  fold.recover();
  fold.decide(ApprovalVerb::kApprove);
  EXPECT_EQ(fold.call("w").phase, Phase::kRunning);
  EXPECT_EQ(fold.call("w").attempt, 2U);
  fold.recover();
  EXPECT_EQ(fold.call("w").phase, Phase::kParked);
}

TEST(Recovery, OtherTool_IsReportedToTheModelIfConfigured) {
  CommandFold fold(InDoubt::kTell);
  fold.begin("hi");
  fold.answer(calls({tool_call("w", "write"), tool_call("r", "read")}));
  fold.give("r", "content");
  EXPECT_TRUE(is<Wait>(fold.recover()));
  EXPECT_NE(fold.result_text(0).find("Outcome unknown"), std::string::npos);
  EXPECT_EQ(fold.result_text(1), "content");
  EXPECT_EQ(fold.turn().effect->kind, EffectKind::kModel);
  ASSERT_EQ(fold.result().actions.size(), 2U);
  EXPECT_EQ(fold.result().actions[0].call, CallId{"w"}) << "in the order of the calls";
  EXPECT_EQ(fold.result().actions[0].outcome, Outcome::kUnknown);
}

TEST(Recovery, SettledEffects_AreNotRepeated) {
  CommandFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "write"), tool_call("b", "write")}));
  fold.give("a", "done");
  fold.recover();
  EXPECT_EQ(fold.call("a").phase, Phase::kSettled);
  EXPECT_EQ(fold.state().parked.size(), 1U);
}

}  // namespace
}  // namespace praxis
