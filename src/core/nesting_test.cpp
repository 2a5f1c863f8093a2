// The agent tree in the core: nested calls, sub-agents and their costs, side queries, access that a user
// grants, and rules that change during a decision.
#include <map>
#include <memory>
#include <string>

#include "core/apply_parts.hpp"
#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

const AlwaysAskModel kPlanner;

AgentSpec agent(std::vector<ToolSpec> tools) {
  AgentSpec spec;
  spec.id = "lead";
  spec.model = "test:model";
  spec.tools = std::move(tools);
  return spec;
}

/// A session whose model has called `outer`, which is running.
Fold running(AgentSpec spec) {
  Fold session(std::move(spec), kPlanner);
  session.begin("go");
  session.answer(calls({tool_call("c", "outer")}));
  return session;
}

records::CallProposed inner(const std::string& id, const std::string& tool, const std::string& within = "c") {
  return {CallId{within}, tool_call(id, tool), tool + "#1"};
}

Usage usage(std::int64_t tokens, std::int64_t cost = 0) {
  Usage usage;
  usage.input = tokens;
  usage.cost = {cost};
  return usage;
}

TEST(CallsWithinCalls, NestedCalls_RunLikeOthersAndStayOutOfTheConversation) {
  Fold session = running(agent({test_tool("outer", true), test_tool("read")}));
  session.apply(inner("c.1", "read"));
  session.run();
  EXPECT_EQ(session.call("c.1").phase, CallState::Phase::kRunning);
  session.give("c.1", "inside", 7);
  EXPECT_EQ(session.call("c.1").result->text, "inside");
  EXPECT_EQ(session.call("c.1").value, Json(7));
  EXPECT_EQ(session.messages().size(), 2U);
  session.give("c", "outside");
  ASSERT_EQ(session.messages().size(), 3U);
  ASSERT_EQ(session.messages().back()->parts.size(), 1U);
  EXPECT_EQ(std::get<ToolResultPart>(session.messages().back()->parts[0]).text, "outside");
  EXPECT_TRUE(session.turn().calls.empty());
}

TEST(CallsWithinCalls, NestedCallsUnderTheParallelLimit_DoNotWaitForEachOther) {
  AgentSpec spec = agent({test_tool("outer"), test_tool("read")});
  spec.limits.max_parallel_tools = 1;
  Fold session = running(std::move(spec));
  session.apply(inner("c.1", "read"));
  session.run();
  EXPECT_EQ(session.call("c.1").phase, CallState::Phase::kRunning);
}

TEST(CallsWithinCalls, ResultsOfNestedCalls_AreKeptForARepeatedHandler) {
  Fold session = running(agent({test_tool("outer", true), test_tool("read")}));
  session.apply(inner("c.1", "read"));
  session.run();
  session.give("c.1", "inside");
  session.recover();
  EXPECT_EQ(session.call("c").attempt, 2U);
  EXPECT_EQ(session.call("c.1").result->text, "inside");
  EXPECT_EQ(session.call("c.1").attempt, 1U);
}

TEST(CallsWithinCalls, NestedCallsInDoubt_AreParkedWhileTheOuterRunsAgain) {
  Fold session = running(agent({test_tool("outer", true), test_tool("pay")}));
  session.apply(inner("c.1", "pay"));
  session.run();
  session.recover();
  ASSERT_EQ(session.state().parked.size(), 1U);
  EXPECT_EQ(session.state().parked.begin()->second.kind, ParkKind::kInDoubt);
  EXPECT_EQ(session.state().parked.begin()->second.call.str(), "c.1");
  EXPECT_EQ(session.call("c").phase, CallState::Phase::kRunning);
}

TEST(CallsWithinCalls, NestedCalls_EndWithTheirHandler) {
  Fold session = running(agent({test_tool("outer"), test_tool("ask_user")}));
  session.apply(inner("c.1", "ask_user"));
  session.apply(park_call(session.state(), session.call("c.1"), "may it?"));
  ASSERT_EQ(session.state().parked.size(), 1U);
  session.give("c", "gave up waiting");
  EXPECT_TRUE(session.state().parked.empty());
}

TEST(CallsWithinCalls, NestedCallsOfACallThatIsNotRunning_AreRefused) {
  Fold session = running(agent({test_tool("outer"), test_tool("read")}));
  EXPECT_TRUE(session.refuses(inner("x.1", "read", "missing")));
  session.apply(inner("c.1", "read"));
  EXPECT_TRUE(session.refuses(inner("c.1", "read")));
}

TEST(CallsWithinCalls, NestedCallOfAFatalTool_FailsTheHandlerAndNotTheTurn) {
  ToolSpec fatal = test_tool("read");
  fatal.fatal_errors = true;
  Fold session = running(agent({test_tool("outer"), fatal}));
  session.apply(inner("c.1", "read"));
  session.run();
  session.fail_call("c.1", "no such file");
  EXPECT_FALSE(session.turn().fatal);
}

/// An agent with a rule that counts calls.
AgentSpec counted() {
  AgentSpec spec = agent({test_tool("outer"), test_tool("read")});
  spec.policy = JsonObject{
      {"rules", JsonArray{JsonObject{{"id", "r"}, {"deny", "read"}, {"after", JsonObject{{"calls", 9}}}}}}};
  return spec;
}

TEST(StartedCalls, CallsOfTheSessionAndOfSubAgents_AreKeptWhileARuleCounts) {
  Fold session = running(counted());
  ASSERT_EQ(session.state().started.size(), 1U);
  EXPECT_EQ(session.state().started[0].tool, "outer");
  EXPECT_EQ(session.state().started[0].time, session.state().time);
  session.apply(records::ChildSpawned{SessionId{"s2"}, CallId{"c"}, "helper", "k"});
  records::ChildSettled settled{SessionId{"s2"}, StopReason::kFinished, {}, 2};
  settled.started = {{"read", 2}};
  session.apply(settled);
  settled.started = {{"read", 3}};
  session.apply(settled);  // its second turn: the number is that of all its turns
  const std::map<std::string, std::uint32_t> expected{{"outer", 1}, {"read", 3}};
  EXPECT_EQ(session.state().started_by_tool(), expected);
  EXPECT_TRUE(running(agent({test_tool("outer")})).state().started.empty()) << "without such a rule";
}

TEST(StartedCalls, ManyCalls_AreAddedUpByToolAndNotForgotten) {
  constexpr std::uint32_t kCalls = 9'000;
  State state;
  state.agent = std::make_shared<const AgentSpec>(counted());
  CallState call;
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    call.call.name = i % 3 == 0 ? "read" : "outer";
    note_started(state, {i}, call);
  }
  EXPECT_LE(state.started.size(), 4'001U);
  const std::map<std::string, std::uint32_t> expected{{"outer", kCalls / 3 * 2}, {"read", kCalls / 3}};
  EXPECT_EQ(state.started_by_tool(), expected);
}

TEST(Children, UsageOfAChild_CountsOnceForItselfAndOnceForTheTurn) {
  Fold session = running(agent({test_tool("outer")}));
  session.apply(records::ChildSpawned{SessionId{"s2"}, CallId{"c"}, "helper", "k"});
  session.apply(records::ChildSpawned{SessionId{"s3"}, CallId{"c"}, "helper", "l"});
  session.apply(records::ChildSettled{SessionId{"s2"}, StopReason::kFinished, usage(10)});
  session.apply(records::ChildSettled{SessionId{"s3"}, StopReason::kFinished, usage(5)});
  session.apply(records::ChildSettled{SessionId{"s2"}, StopReason::kFinished, usage(30)});  // its second turn
  EXPECT_EQ(session.turn().report.usage_children.total(), 35);
  session.give("c", "done");
  session.answer(says("bye"));
  EXPECT_EQ(session.result().usage_children.total(), 35);
  EXPECT_EQ(session.state().subtree_usage().total(), session.state().usage.total() + 35);
  EXPECT_EQ(session.state().usage, session.result().usage);
}

TEST(Children, Children_DrawOnTheLimitsOfTheTurn) {
  AgentSpec spec = agent({test_tool("outer")});
  spec.limits.max_tokens = 1'000;
  Fold session = running(std::move(spec));
  session.apply(records::ChildSpawned{SessionId{"s2"}, CallId{"c"}, "helper", "k"});
  session.apply(records::ChildSettled{SessionId{"s2"}, StopReason::kFinished, usage(1'000)});
  session.give("c", "done");
  EXPECT_EQ(session.result().reason, StopReason::kTokenLimit);
}

TEST(Children, ChildrenOfACallThatIsNotRunning_AreRefused) {
  Fold session = running(agent({test_tool("outer")}));
  EXPECT_TRUE(session.refuses(records::ChildSpawned{SessionId{"s2"}, CallId{"missing"}, "helper", "k"}));
  EXPECT_TRUE(session.refuses(records::ChildSettled{SessionId{"s2"}, StopReason::kFinished, {}}));
}

TEST(Budgets, BudgetExhaustedAbove_EndsTheTurnWithItsName) {
  Fold session = running(agent({test_tool("outer")}));
  session.command(CommandVerb::kBudget, "cost_limit");
  EXPECT_TRUE(session.state().turn);  // running calls continue: they are paid for
  session.give("c", "done");
  EXPECT_EQ(session.result().reason, StopReason::kCostLimit);
  EXPECT_EQ(session.result().error->code, ErrorCode::kLimit);
}

TEST(Authorisation, MissingAuthorisation_ParksTheCallUntilTheUserGrantsIt) {
  const auto barred = [] {
    Fold session = running(agent({test_tool("outer")}));
    records::EffectSettled settled;
    settled.effect = session.call("c").effect;
    settled.outcome = Outcome::kError;
    settled.error = make_error(ErrorCode::kTool, ErrorKind::kAuthorisation, "sign in first");
    session.apply(std::move(settled));
    session.run();
    return session;
  };
  Fold allowed = barred();
  ASSERT_EQ(allowed.state().parked.size(), 1U);
  EXPECT_EQ(allowed.state().parked.begin()->second.kind, ParkKind::kAuthorisation);
  EXPECT_EQ(allowed.state().parked.begin()->second.prompt, "sign in first");
  allowed.decide(ApprovalVerb::kApprove);
  EXPECT_EQ(allowed.call("c").phase, CallState::Phase::kRunning);
  EXPECT_EQ(allowed.call("c").attempt, 2U);
  Fold denied = barred();
  denied.decide(ApprovalVerb::kReject, "not today");
  EXPECT_EQ(std::get<ToolResultPart>(denied.messages().back()->parts[0]).text,
            "Not allowed by person. not today");
}

TEST(Rules, RulesChangedDuringADecision_VoidTheApproval) {
  const auto parked = [] {
    Fold session(agent({test_tool("outer")}), kPlanner);
    session.begin("go");
    ModelResponse response = calls({tool_call("c", "outer")});
    records::EffectSettled settled;
    settled.effect = session.turn().effect->effect;
    settled.result = std::move(response);
    session.apply(std::move(settled));
    session.apply(park_call(session.state(), session.call("c"), "may it?"));
    return session;
  };
  Fold same = parked();
  auto renamed = std::make_shared<AgentSpec>(*same.state().agent);
  renamed->name = "another name";
  same.apply(records::Intervened{CommandVerb::kSetAgent, {}, renamed});
  EXPECT_EQ(same.state().parked.size(), 1U);
  for (const bool above : {false, true}) {
    Fold other = parked();
    auto stricter = std::make_shared<AgentSpec>(*other.state().agent);
    (above ? stricter->bounds : stricter->policy) = JsonArray{JsonObject{{"deny", JsonArray{"outer"}}}};
    other.apply(records::Intervened{CommandVerb::kSetAgent, {}, stricter});
    EXPECT_TRUE(other.state().parked.empty());
    EXPECT_EQ(other.call("c").phase, CallState::Phase::kProposed);
    EXPECT_TRUE(other.refuses(
        records::Decided{ParkId{"p1"}, CallId{"c"}, ApprovalVerb::kApprove, {}, person_by_library()}));
  }
}

TEST(Waiting, WaitForAnApproval_IsBoundedByTheAgentsLimit) {
  AgentSpec spec = agent({test_tool("outer")});
  spec.limits.max_wait = Millis{5'000};
  spec.plan = JsonArray{};
  Fold session(std::move(spec), kPlanner);
  session.apply(records::TurnStarted{TurnId{"t1"}});
  ParkedStep step;
  step.id = ParkId{"p1"};
  step.kind = ParkKind::kQuestion;
  session.apply(records::Parked{step});
  const ParkedStep& parked = session.state().parked.at(ParkId{"p1"});
  EXPECT_EQ(parked.expires.value, session.log().back().time.value + 5'000);
  EXPECT_EQ(parked.session.str(), "s1");
  EXPECT_EQ(parked.path, "lead");
}

/// A planner that makes one side query, then adds the answer as a message.
class Curious final : public Planner {
 public:
  PlanStep plan(const PlannerState& state) const override {
    const auto results = state.results();
    if (results.empty()) return Consult{{"clarify", "Is it clear?", schema_}};
    return Conclude{StopReason::kFinished, results[0].ok ? to_json_text(results[0].value) : "misfit", {}};
  }

 private:
  const Json schema_ = parse_json(R"({"type":"object","required":["clear"]})").value();
};

TEST(Consultation, SideQuery_StaysOutOfTheConversation) {
  const Curious planner;
  AgentSpec spec = agent({});
  spec.plan = JsonObject{{"kind", "test"}};
  Fold session(spec, planner);
  session.begin("go");
  ASSERT_TRUE(session.turn().effect->consult);
  const auto& intent = std::get<records::EffectIntended>(session.log().back().body);
  const ModelQuestion question = question_of(session.state(), intent);
  EXPECT_EQ(question.history.messages().back()->text(), "Is it clear?");
  EXPECT_EQ(question.options.output_schema, intent.consult->schema);
  session.answer(says(R"({"clear":true})"));
  EXPECT_EQ(session.result().text, R"({"clear":true})");
  EXPECT_EQ(session.messages().size(), 1U);
  EXPECT_EQ(session.result().model_calls[0].purpose, "clarify");

  Fold misfit(spec, planner);
  misfit.begin("go");
  misfit.answer(says("who knows"));
  EXPECT_EQ(misfit.result().text, "misfit");
}

TEST(Consultation, FailedSideQuery_IsRetriedAndThenEndsTheTurn) {
  const Curious planner;
  AgentSpec spec = agent({});
  spec.plan = JsonObject{{"kind", "test"}};
  Fold session(spec, planner);
  session.begin("go");
  session.fail_model(make_error(ErrorCode::kModel, "busy", true));
  ASSERT_TRUE(session.turn().effect->consult);
  EXPECT_EQ(session.turn().effect->attempt, 2U);
  session.fail_model(make_error(ErrorCode::kModel, "no"));
  EXPECT_EQ(session.result().reason, StopReason::kModelFailed);
  EXPECT_EQ(session.result().error->message, "asking the model for \"clarify\" failed: no");
}

TEST(PlanWithAModel, AnswerOfTheModel_IsAResultOfThePlan) {
  const FixedPlan planner({AskModel{}, AddMessage{"Agreed."}, AskPerson{"Fine?"}});
  AgentSpec spec = agent({});
  spec.plan = JsonObject{{"kind", "test"}};
  Fold session(spec, planner);
  session.begin("go");
  session.answer(says("Rome"));
  ASSERT_EQ(session.turn().results.size(), 2U);
  EXPECT_EQ(session.turn().results[0].tool, "answer");
  EXPECT_EQ(session.turn().results[0].text, "Rome");
  EXPECT_TRUE(session.turn().answer) << "messages of the plan do not change the answer";
}

TEST(Deletion, DeletedSession_EndsItsTurnAndBeginsNoOther) {
  Fold session = running(agent({test_tool("outer")}));
  session.command(CommandVerb::kEnqueue, "more");
  session.command(CommandVerb::kDelete);
  session.give("c", "done");
  EXPECT_EQ(session.state().status(), SessionStatus::kDeleted);
  EXPECT_EQ(session.result().reason, StopReason::kCancelled);
  EXPECT_TRUE(is<Idle>(session.run()));
}

TEST(Modification, ChangedRequest_ReachesTheModelAtTheNextBoundary) {
  Fold session = running(agent({test_tool("outer")}));
  session.command(CommandVerb::kModify, "look at Rome instead");
  EXPECT_TRUE(session.turn().modified);
  session.give("c", "done");
  EXPECT_EQ(session.messages().back()->text(), "look at Rome instead");
  EXPECT_FALSE(session.turn().modified);
}

TEST(Modification, ChangedRequest_IsMarkedInTheResultsOnceItIsInTheConversation) {
  const FixedPlan planner(
      {AddMessage{"Here I go."}, UseTools{"", {tool_call("c", "outer")}}, AskPerson{"Fine?"}});
  AgentSpec spec = agent({test_tool("outer")});
  spec.plan = JsonObject{{"kind", "test"}};
  Fold session(spec, planner);
  session.begin("go");
  session.command(CommandVerb::kModify, "look at Rome instead");
  EXPECT_EQ(session.turn().modified_at, 0U);
  session.give("c", "done");
  EXPECT_EQ(session.turn().modified_at, 2U);
}

}  // namespace
}  // namespace praxis
