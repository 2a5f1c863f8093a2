// What a program gets from an agent: typed answers, text, approvals that a tool requires, progress, own
// providers, own instructions and its own journal.
#include "praxis/runtime/agent.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "praxis/core/event.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Journey {
  std::string city;
  int days = 0;
};
PRAXIS_FIELDS(Journey, city, days)

constexpr std::string_view kEchoOnce =
    R"({"tool_calls": [{"id": "c", "name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done"})";

std::ptrdiff_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

class AgentTest : public Scripted {};

TEST_F(AgentTest, Journal_StartsNoThreadBeforeTheFirstRun) {
  const auto before = threads();
  const auto model = script_model(R"({"text": "hi"})", "test", runtime_->model_services().executor);
  ASSERT_TRUE(model) << model.error().message;
  Agent agent = Agent().model(*model).journal(memory_journal());
  const Agent copy = agent;
  EXPECT_EQ(threads(), before);
  const auto first = agent.run("hello");
  ASSERT_TRUE(first) << first.error().message;
  const auto running = threads();
  EXPECT_GT(running, before);
  const auto again = copy.resume(first->session);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInput) << "copies share the runtime, so the session is known";
}

/// One way for a turn to end without an answer: what the model does, and what the caller gets.
struct Ending {
  std::string_view script;
  ErrorCode code;
  std::string reason, message;
};

const std::vector<Ending>& endings() {
  static const std::vector<Ending> kEndings = {
      {R"({"error": {"status": 401, "message": "the key was refused"}})", ErrorCode::kModel, "model_failed",
       "the key was refused"},
      {R"({"text": "An answer that is", "finish": "length"})", ErrorCode::kLimit, "output_limit", "cut off"},
      {R"({"finish": "refusal"})", ErrorCode::kModel, "refused", "refused to answer"}};
  return kEndings;
}

TEST_F(AgentTest, TurnWithoutAnswerIsAnErrorAtEveryDoor) {
  for (const Ending& ending : endings()) {
    SCOPED_TRACE(ending.reason);
    const Agent agent = scripted(ending.script);
    Session session = session_of(agent);
    std::promise<Result<AgentResult>> later;
    session_of(agent).ask("go", [&](Result<AgentResult> result) { later.set_value(std::move(result)); });
    std::vector<Result<AgentResult>> results;
    results.push_back(agent.run("go"));
    results.push_back(agent.stream("go").result());
    results.push_back(session.ask("go"));
    results.push_back(runtime_->run_once(agent, "go"));
    results.push_back(Team({agent}, runtime_).send("go"));
    results.push_back(later.get_future().get());
    for (const Result<AgentResult>& result : results) {
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code, ending.code);
      EXPECT_THAT(result.error().message, HasSubstr(ending.message));
      EXPECT_EQ(json_string(result.error().detail(), "reason"), ending.reason);
    }
    EXPECT_EQ(json_string(results[2].error().detail(), "session"), session.session_id().str());
  }
}

TEST_F(AgentTest, ReportHasTheTurnThatDidNotFinish) {
  for (const Ending& ending : endings()) {
    const auto report = scripted(ending.script).stream("go").report();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->success);
    EXPECT_EQ(to_string(report->reason.value()), ending.reason);
    EXPECT_THAT(report->error->message, HasSubstr(ending.message));
  }
}

TEST_F(AgentTest, CancelledTurnIsAnErrorThatSaysSo) {
  std::stop_source stop;
  stop.request_stop();
  const auto result = scripted(R"({"text": "late", "delay_ms": 60000})").run("go", stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(json_string(result.error().detail(), "reason"), "cancelled");
}

TEST_F(AgentTest, SubAgentWithoutAnswerIsAnErrorForItsTool) {
  std::optional<Result<AgentResult>> run, report;
  const Tool explore = host_tool("explore", [&](ToolContext& context, const Json&) -> Result<ToolOutput> {
    AgentSpec below;
    below.id = "below";
    SubAgent found = context.spawn(std::move(below));
    run = found.run("go");
    report = found.report();
    if (!*run) return fail(run->error());
    return says((*run)->text);
  });
  const auto result =
      scripted(R"({"agent": "below", "error": {"status": 401, "message": "the key was refused"}}
{"agent": "lead", "tool_calls": [{"id": "c", "name": "explore", "arguments": {}}]}
{"agent": "lead", "text": "done"})")
          .id("lead")
          .use(explore)
          .run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->actions.at(0).outcome, Outcome::kError);
  ASSERT_TRUE(run && !*run);
  EXPECT_THAT(run->error().message, HasSubstr("the key was refused"));
  ASSERT_TRUE(report && *report);
  EXPECT_EQ((*report)->reason, StopReason::kModelFailed);
}

TEST_F(AgentTest, TypedRun_GivesValueUsageCostAndSession) {
  const auto trip =
      scripted(R"({"text": "{\"city\": \"Rome\", \"days\": 3}", "usage": {"input": 7, "output": 5}})")
          .run<Journey>("Plan a trip");
  ASSERT_TRUE(trip) << trip.error().message;
  ASSERT_TRUE(trip->value);
  EXPECT_EQ(trip->value->city, "Rome");
  EXPECT_EQ(trip->value->days, 3);
  EXPECT_EQ(trip->usage.input, 7);
  EXPECT_EQ(trip->cost, trip->usage.cost);
  EXPECT_TRUE(trip->pending.empty());
  EXPECT_TRUE(journal_->session(trip->session));
}

TEST_F(AgentTest, TypedRunThatWaits_ShowsTheStepAndHasItsValueAfterResume) {
  const Agent agent = scripted(R"({"tool_calls": [{"id": "c", "name": "echo", "arguments": {"text": "x"}}]}
{"text": "{\"city\": \"Rome\", \"days\": 3}"})")
                          .use(echo_tool().needs_approval());
  const auto waits = agent.run<Journey>("Plan a trip");
  ASSERT_TRUE(waits) << waits.error().message;
  EXPECT_FALSE(waits->value);
  ASSERT_EQ(waits->pending.size(), 1U);
  const auto trip = agent.resume<Journey>(waits->session, {{waits->pending.front().id, approve()}});
  ASSERT_TRUE(trip) << trip.error().message;
  ASSERT_TRUE(trip->value);
  EXPECT_EQ(trip->value->city, "Rome");
}

TEST_F(AgentTest, Text_IsTheTextOfTheTurnInPieces) {
  std::string said;
  for (const std::string_view piece : scripted(R"({"text": "one two three"})").stream("go").text()) {
    said += piece;
  }
  EXPECT_EQ(said, "one two three");
}

TEST_F(AgentTest, TextOfAModelWithoutDeltas_ComesAsWholeParts) {
  RuntimeOptions options;
  options.stream = false;
  use_runtime(options);
  std::string said;
  for (const std::string_view piece : scripted(kEchoOnce).use(echo_tool()).stream("go").text()) {
    said += piece;
  }
  EXPECT_EQ(said, "done");
}

TEST_F(AgentTest, TextOfSubAgents_IsLeftOut) {
  const Agent child = scripted(R"({"text": "from below"})").id("child");
  std::string said;
  auto run = scripted(R"({"tool_calls": [{"id": "c", "name": "ask", "arguments": {"prompt": "x"}}]}
{"text": "done"})")
                 .use(child.as_tool("ask", "Asks"))
                 .stream("go");
  for (const std::string_view piece : run.text()) said += piece;
  EXPECT_EQ(said, "done");
  EXPECT_TRUE(run.report());
}

TEST_F(AgentTest, ToolThatNeedsApproval_IsParkedAlsoWhereARuleAllowsIt) {
  PolicyRules rules;
  rules.allow = {"*"};
  const Agent agent = scripted(kEchoOnce).use(echo_tool().needs_approval()).policy(rules);
  const auto waits = agent.run("go");
  ASSERT_TRUE(waits) << waits.error().message;
  ASSERT_EQ(waits->pending.size(), 1U);
  EXPECT_EQ(waits->pending.front().kind, ParkKind::kApproval);
  const auto done = agent.resume(waits->session, {{waits->pending.front().id, approve()}});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, "done");
}

TEST_F(AgentTest, ToolThatNeedsApproval_IsRecordedAsSuch) {
  const auto waits = scripted(kEchoOnce).use(echo_tool().needs_approval()).run("go");
  ASSERT_TRUE(waits);
  const auto records = read_records(*journal_, waits->session);
  ASSERT_TRUE(records);
  const auto& created = std::get<records::SessionCreated>(records->front().record.body);
  EXPECT_TRUE(created.agent->find_tool("echo")->definition.needs_approval);
  EXPECT_TRUE(agent_spec_from_json(to_json(*created.agent))->find_tool("echo")->definition.needs_approval);
}

TEST_F(AgentTest, ApprovalPredicate_ParksTheCallsItSelects) {
  const auto waits_for = [&](std::string_view selected) {
    const auto result =
        scripted(kEchoOnce)
            .use(echo_tool().needs_approval([text = std::string(selected)](const Json& arguments) {
              return json_string(arguments, "text") == text;
            }))
            .run("go");
    return result && !result->pending.empty();
  };
  EXPECT_TRUE(waits_for("abc"));
  EXPECT_FALSE(waits_for("xyz"));
}

TEST_F(AgentTest, ApprovalPredicateThatThrows_ParksTheCall) {
  const auto result =
      scripted(kEchoOnce).use(echo_tool().needs_approval([](const Json&) -> bool { throw 1; })).run("go");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->pending.size(), 1U);
}

TEST_F(AgentTest, PreapprovedCall_NeedsNoApprovalOfItsTool) {
  PolicyRules rules;
  rules.calls = {{"echo", JsonObject{{"text", "abc"}}}};
  const auto result = scripted(kEchoOnce).use(echo_tool().needs_approval()).policy(rules).run("go");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "done");
}

TEST_F(AgentTest, Progress_IsATransientEventOfTheRunningCall) {
  const Tool slow = host_tool("slow", [](ToolContext& context, const Json&) -> Result<ToolOutput> {
    context.progress("half way", 0.5);
    return says("there");
  });
  auto run = scripted(R"({"tool_calls": [{"id": "c", "name": "slow", "arguments": {}}]}
{"text": "done"})")
                 .use(slow)
                 .stream("go");
  std::vector<Json> seen;
  for (const Event& event : run) {
    if (std::holds_alternative<events::ToolProgress>(event.body)) seen.push_back(to_json(event));
  }
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(json_text(seen.front(), "event"), "tool.progress");
  EXPECT_EQ(json_text(seen.front(), "call"), "c");
  EXPECT_EQ(json_text(seen.front(), "name"), "slow");
  EXPECT_EQ(json_text(seen.front(), "text"), "half way");
  EXPECT_EQ(json_double(seen.front(), "fraction"), 0.5);
}

TEST_F(AgentTest, ProgressOutsideASession_IsIgnored) {
  ToolContext context;
  context.progress("nowhere");
}

TEST_F(AgentTest, OwnProvider_ServesModelsByName) {
  RuntimeOptions options;
  options.providers["house"] = [](const std::string& model, const ModelServices& services) {
    return script_model(R"({"text": "from )" + model + "\"}", "house", services.executor);
  };
  use_runtime(std::move(options));
  const auto result = Agent("house:big").runtime(runtime_).run("hello");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "from big");
  const auto mistyped = Agent("huose:big").runtime(runtime_).run("hello");
  ASSERT_FALSE(mistyped);
  EXPECT_THAT(mistyped.error().message, HasSubstr("did you mean \"house\"?"));
}

TEST_F(AgentTest, InstructionSource_IsResolvedAndRecordedForEachTurn) {
  std::atomic<int> turns = 0;
  std::vector<std::string> seen;
  Hooks hooks;
  hooks.before_turn.push_back(
      [&](const HookContext&, AgentSpec& spec) { seen.push_back(spec.instructions); });
  Session session =
      session_of(scripted(R"({"text": "a"}
{"text": "b"})")
                     .instructions([&](const HookContext&) { return "Turn " + std::to_string(++turns); })
                     .hooks(hooks));
  ASSERT_TRUE(session.ask("one"));
  ASSERT_TRUE(session.ask("two"));
  EXPECT_THAT(seen, ElementsAre("Turn 1", "Turn 2"));
  std::vector<std::string> recorded;
  const auto records = read_records(*journal_, session.session_id()).value();
  for (const StoredRecord& stored : records) {
    const auto* changed = std::get_if<records::Intervened>(&stored.record.body);
    if (changed != nullptr && changed->agent) recorded.push_back(changed->agent->instructions);
  }
  EXPECT_THAT(recorded, ElementsAre("Turn 1", "Turn 2"));
}

TEST_F(AgentTest, InstructionsAsText_ReplaceASource) {
  const auto source = [](const HookContext&) -> std::string { return "from the source"; };
  Session session = session_of(scripted(R"({"text": "a"})").instructions(source).instructions("Be kind."));
  ASSERT_TRUE(session.ask("one"));
  const auto records = read_records(*journal_, session.session_id());
  ASSERT_TRUE(records);
  for (const StoredRecord& stored : *records) {
    EXPECT_FALSE(std::holds_alternative<records::Intervened>(stored.record.body));
  }
  EXPECT_EQ(std::get<records::SessionCreated>(records->front().record.body).agent->instructions, "Be kind.");
}

TEST_F(AgentTest, CancelledSubscription_HearsNothing) {
  std::atomic<int> heard = 0;
  Session session = session_of(scripted(R"({"text": "a"}
{"text": "b"})"));
  Subscription subscription = session.on("turn.completed", [&](const Event&) { ++heard; });
  EXPECT_TRUE(subscription.active());
  ASSERT_TRUE(session.ask("one"));
  subscription.cancel();
  EXPECT_FALSE(subscription.active());
  ASSERT_TRUE(session.ask("two"));
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace praxis::testing
