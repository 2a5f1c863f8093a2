// Control of a run: steer, enqueue, interrupt, pause, resume, stop; and calls that wait for an approval.
#include <gmock/gmock.h>

#include "praxis/base/reach.hpp"
#include "praxis/core/planner.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kWaitThenText = R"({"tool_calls": [{"id": "c1", "name": "wait"}]}
{"text": "done"}
{"text": "next"})";
constexpr std::string_view kTwoCallsThenText =
    R"({"tool_calls": [{"id": "c1", "name": "echo", "arguments": {"text": "one"}}, {"id": "c2", "name": "echo", "arguments": {"text": "two"}}]}
{"text": "done"})";

/// Begins an answer and never ends it, unless it is asked to stop.
class EndlessModel final : public Model, public ModelSession {
 public:
  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<EndlessModel>(); }
  MicroUsd price(const Usage&) const override { return {}; }

  void start(const ModelRequest&, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    sink->on_delta(TextChunk{"Once upon a time", 0});
    stopped_.emplace(std::move(stop), [sink = std::move(sink)] {
      sink->on_done(fail(ErrorCode::kCancelled, "the model call was cancelled"));
    });
  }

 private:
  const std::string name_ = "test:endless";
  std::optional<std::stop_callback<std::function<void()>>> stopped_;
};

class RunControlTest : public Scripted {
 protected:
  RunControlTest() {
    RuntimeOptions options;
    options.cancel_grace = 20ms;
    use_runtime(std::move(options));
  }

  static std::vector<std::string> texts(const Session& session) {
    std::vector<std::string> texts;
    for (const TurnView& turn : session.turns()) texts.push_back(turn.message->text());
    return texts;
  }
};

TEST_F(RunControlTest, Steer_ReachesTheModelAtTheNextSafeBoundary) {
  BlockedTool blocked;
  Agent agent = scripted(kWaitThenText);
  Session session = session_of(agent.use(blocked.tool("wait", true)));
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  run.steer("mind the gap");
  EXPECT_EQ(session.turns().size(), 2U) << "not between a call and its result";
  blocked.release->open();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(texts(session), (std::vector<std::string>{"go", "", "", "mind the gap", "done"}));
}

TEST_F(RunControlTest, SteeringDuringTheLastAnswer_IsStillHeard) {
  Session session = session_of(scripted(R"({"text": "first answer", "delay_ms": 50}
{"text": "second answer"})"));
  const auto steering = session.on("model.requested", [&](const Event& event) {
    if (event.step == 1) session.steer("one more thing");
  });
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "second answer");
  EXPECT_EQ(result->steps, 2U);
}

TEST_F(RunControlTest, Enqueued_BecomesTheNextTurn) {
  BlockedTool blocked;
  Agent agent = scripted(kWaitThenText);
  Session session = session_of(agent.use(blocked.tool("wait", true)));
  Gate second;
  const auto watching = session.on("turn.completed", [&](const Event& event) {
    if (event.turn == TurnId{"t2"}) second.open();
  });
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  run.enqueue("and then?");
  blocked.release->open();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done") << "the run ends with its own turn";
  ASSERT_TRUE(second.wait_briefly());
  EXPECT_EQ(session.last_result().text, "next");
}

TEST_F(RunControlTest, QueuedTurnsThatAreHeld_BeginWhenTheyAreResumed) {
  RuntimeOptions options;
  options.begin_queued_turns = false;
  const auto holding = Runtime::create(std::move(options));
  auto session = holding->create_session(scripted(R"({"text": "one"}
{"text": "two"}
{"text": "three"})"));
  ASSERT_TRUE(session) << session.error().message;
  auto run = session->send_user_message("go");
  run.enqueue("and then?");
  run.enqueue("and after that?");
  EXPECT_EQ(run.result().value().text, "one");
  EXPECT_EQ(session->queued(), 2U);
  EXPECT_EQ(session->resume().result().value().text, "two");
  EXPECT_EQ(session->resume().result().value().text, "three");
  EXPECT_EQ(session->queued(), 0U);
}

TEST_F(RunControlTest, StopTokenOfAStream_InterruptsItAlsoWhenTheRunIsDropped) {
  for (const bool dropped : {false, true}) {
    BlockedTool blocked;
    Agent agent = scripted(kWaitThenText);
    agent.use(blocked.tool("wait", true));
    Gate ended;
    agent.on("turn.cancelled", [&](const Event&) { ended.open(); });
    std::stop_source stop;
    auto run = std::make_unique<praxis::Run>(agent.stream("go", stop.get_token()));
    blocked.entered->wait();
    if (dropped) run.reset();
    stop.request_stop();
    const auto reason = dropped ? StopReason::kCancelled : checked(run->report()).reason;
    EXPECT_EQ(reason, StopReason::kCancelled);
    EXPECT_TRUE(ended.wait_briefly());
  }
}

TEST_F(RunControlTest, Interrupt_WhileTheModelThinks_CancelsTheTurn) {
  Session session = session_of(scripted(R"({"text": "never", "delay_ms": 600000}
{"text": "later"})"));
  Gate requested;
  const auto watching = session.on("model.requested", [&](const Event&) { requested.open(); });
  auto run = session.send_user_message("go");
  requested.wait();
  run.interrupt();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->aborted());
  EXPECT_FALSE(result->success);
  EXPECT_EQ(result->error->code, ErrorCode::kCancelled);
  EXPECT_EQ(names(run).back(), "turn.cancelled");
}

TEST_F(RunControlTest, Interrupt_InTheMiddleOfAnAnswer_KeepsNothingOfIt) {
  Session session = session_of(Agent().model(std::make_shared<EndlessModel>()).runtime(runtime_));
  const auto impatient = session.on("text.delta", [&](const Event&) { session.interrupt(); });
  auto result = session.send_user_message("go").report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->aborted());
  EXPECT_TRUE(result->text.empty());
  EXPECT_EQ(session.turns().size(), 1U);
}

TEST_F(RunControlTest, Interrupt_ToolThatStopsOnRequest_IsUnknownUnlessItSaysThatNothingWasSent) {
  for (const auto& [given, outcome] :
       {std::pair{std::optional<Reach>(), Outcome::kUnknown}, {Reach::kNotSent, Outcome::kCancelled}}) {
    BlockedTool blocked;
    Tool tool = blocked.tool("wait", true);
    tool.handler = [stopped = tool.handler, reach = given](ToolContext& context, const Json& arguments) {
      auto output = stopped(context, arguments);
      if (!output && reach) output = fail(with_reach(output.error(), *reach));
      return output;
    };
    Session session = session_of(scripted(kWaitThenText).use(tool));
    auto run = session.send_user_message("go");
    blocked.entered->wait();
    session.interrupt();
    const auto result = run.report();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->actions.at(0).outcome, outcome);
    EXPECT_EQ(result_for(session.history(), "c1").text,
              given
                  ? "stopped on request"
                  : "Outcome unknown: stopped on request. It may or may not have taken effect; check before "
                    "you repeat it.");
  }
}

TEST_F(RunControlTest, Interrupt_RepeatableToolThatStopsOnRequest_IsRecordedAsCancelled) {
  BlockedTool blocked;
  Agent agent = scripted(kWaitThenText);
  Tool repeatable = blocked.tool("wait", true);
  repeatable.definition.idempotent = true;
  Session session = session_of(agent.use(repeatable));
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  session.interrupt();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->actions.size(), 1U);
  EXPECT_EQ(result->actions[0].outcome, Outcome::kCancelled);
  EXPECT_EQ(unanswered(session.history()), 0U);
  auto next = session.ask("again");
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->text, "done") << "the conversation continues";
}

TEST_F(RunControlTest, Interrupt_ToolThatIgnoresIt_LeavesItsOutcomeUnknown) {
  BlockedTool blocked;
  Agent agent = scripted(kWaitThenText);
  Session session = session_of(agent.use(blocked.tool("wait", false)));
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  run.interrupt();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->actions.size(), 1U);
  EXPECT_EQ(result->actions[0].outcome, Outcome::kUnknown);
  EXPECT_THAT(result_for(session.history(), "c1").text, HasSubstr("unknown"));
  const std::uint64_t seq = session.last_result().last_seq;
  blocked.release->open();
  blocked.left->wait();
  ASSERT_TRUE(session.ask("again")) << "a round trip after the late result";
  EXPECT_THAT(result_for(session.history(), "c1").text, HasSubstr("unknown"));
  EXPECT_GT(session.last_result().last_seq, seq);
}

TEST_F(RunControlTest, StopToken_InterruptsItsOwnTurnOnly) {
  BlockedTool blocked;
  Agent agent = scripted(R"({"tool_calls": [{"id": "c1", "name": "wait"}]}
{"text": "done"}
{"text": "never", "delay_ms": 600000})");
  Session session = session_of(agent.use(blocked.tool("wait", true)));
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  std::stop_source stopped;
  stopped.request_stop();
  const auto refused = session.ask("refused", stopped.get_token());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput) << "another turn is running";
  blocked.release->open();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success) << "and was not interrupted";
  auto own = session.ask("again", stopped.get_token());
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(session.last_result().aborted());
}

TEST_F(RunControlTest, Pause_LetsWhatRunsFinishAndStartsNothingNew) {
  BlockedTool blocked;
  Agent agent = scripted(kWaitThenText);
  Session session = session_of(agent.use(blocked.tool("wait", true)));
  Gate completed;
  const auto watching = session.on("tool.completed", [&](const Event&) { completed.open(); });
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  run.pause("lunch");
  blocked.release->open();
  ASSERT_TRUE(completed.wait_briefly());
  EXPECT_EQ(session.turns().size(), 3U) << "the model was not asked again";
  run.unpause();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
}

TEST_F(RunControlTest, ResumedWithAnotherReader_BothGetTheResult) {
  BlockedTool blocked;
  Agent agent = scripted(kWaitThenText);
  Session session = session_of(agent.use(blocked.tool("wait", true)));
  auto first = session.send_user_message("go");
  blocked.entered->wait();
  first.pause();
  auto second = session.resume();
  blocked.release->open();
  EXPECT_EQ(first.report()->text, "done");
  EXPECT_EQ(second.report()->text, "done");
}

TEST_F(RunControlTest, RuntimeStop_SettlesEverySession) {
  BlockedTool one, other;
  Agent agent = scripted(kWaitThenText);
  auto first = session_of(Agent(agent).use(one.tool("wait", true))).send_user_message("go");
  auto second = session_of(Agent(agent).use(other.tool("wait", false))).send_user_message("go");
  one.entered->wait();
  other.entered->wait();
  runtime_->stop();
  EXPECT_TRUE(first.report()->aborted());
  EXPECT_TRUE(second.report()->aborted());
}

TEST_F(RunControlTest, RuntimeStop_IsFinal) {
  const Agent agent = scripted(R"({"text": "x"}
{"text": "y"})");
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("go"));
  EXPECT_TRUE(runtime_->health().ok());
  EXPECT_EQ(runtime_->health().sessions, 1U);
  runtime_->stop();
  EXPECT_FALSE(runtime_->health().ok());
  for (const auto& refused :
       {runtime_->run_once(agent, "go"), session.ask("again"), agent.resume(session.session_id())}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "the runtime was stopped; it takes no more work");
  }
}

TEST_F(RunControlTest, Health_CountsWhatWaits) {
  Agent agent = scripted(kTwoCallsThenText);
  Session session = session_of(agent.use(echo_tool()).policy(asking({"echo"})));
  ASSERT_TRUE(session.ask("go"));
  EXPECT_EQ(runtime_->health().waiting, 1U);
  EXPECT_EQ(runtime_->health().running, 0U);
}

class SleepingPlanner final : public Planner {
 public:
  PlanStep plan(const PlannerState& state) const override {
    if (state.step() == 0) return Sleep{std::chrono::hours(72)};
    return Conclude{StopReason::kFinished, "awake", std::nullopt};
  }
};

TEST_F(RunControlTest, Health_DoesNotCountSleepAsWork) {
  planner_ = std::make_shared<const SleepingPlanner>();
  Session session = session_of(scripted("").planner(planner_));
  praxis::Run run = session.send_user_message("go");
  const auto sleeps = [this] {
    const auto nodes = runtime_->agent_tree();
    return !nodes.empty() && nodes[0].waits && nodes[0].waits->reason == "timer";
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!sleeps() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(runtime_->health().sessions, 1U);
  EXPECT_EQ(runtime_->health().running, 0U);
  run.interrupt();
  EXPECT_TRUE(run.report());
}

TEST_F(RunControlTest, Health_DoesNotCountWhatWaitsForASleepingSubAgent) {
  planner_ = std::make_shared<const SleepingPlanner>();
  const Agent below = scripted("").planner(planner_).id("below").runtime(nullptr);
  Session session = session_of(above(below, "lead"));
  praxis::Run run = session.send_user_message("go");
  const auto both_sleep = [this] {
    const RuntimeHealth health = runtime_->health();
    return health.sessions == 2 && health.running == 0;
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!both_sleep() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(both_sleep());
  run.interrupt();
  EXPECT_TRUE(run.report());
}

// ---- calls that wait for an approval

TEST_F(RunControlTest, AskedCall_WaitsAndContinuesWithTheDecision) {
  Agent agent = scripted(kTwoCallsThenText);
  agent.use(echo_tool()).policy(asking({"echo"}));
  Session session = session_of(agent);
  auto parked = session.ask("go");
  ASSERT_TRUE(parked) << parked.error().message;
  EXPECT_EQ(parked->status, SessionStatus::kAwaitingUser);
  EXPECT_FALSE(parked->success);
  EXPECT_FALSE(parked->reason);
  ASSERT_EQ(parked->pending.size(), 2U);
  EXPECT_EQ(parked->pending[0].tool, "echo");
  EXPECT_EQ(parked->pending[0].arguments, R"({"text":"one"})");
  EXPECT_EQ(parked->pending[0].kind, ParkKind::kApproval);

  auto result = agent.resume(session.session_id(), {{parked->pending[1].id, reject("not that one")},
                                                    {parked->pending[0].id, edit(R"({"text": "1"})")}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_TRUE(result->pending.empty());
  EXPECT_EQ(result_for(session.history(), "c1").text, "1");
  EXPECT_THAT(result_for(session.history(), "c2").text, HasSubstr("not that one"));
  EXPECT_THAT(result->denials, ElementsAre(HasSubstr("not that one")));
  const auto& results = session.history().messages()[2]->parts;
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(std::get<ToolResultPart>(results[0]).id, CallId{"c1"})
      << "in call order, not in the order of the decisions";
}

TEST_F(RunControlTest, DecisionsWithAWrongId_ChangeNothing) {
  Agent agent = scripted(kTwoCallsThenText);
  Session session = session_of(agent.use(echo_tool()).policy(asking({"echo"})));
  auto parked = session.ask("go");
  ASSERT_TRUE(parked) << parked.error().message;
  const std::uint64_t seq = session.last_result().last_seq;
  auto refused = session.resume({{parked->pending[0].id, approve()}, {ParkId{"p99"}, approve()}}).report();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_THAT(refused.error().message, HasSubstr("p99"));
  EXPECT_FALSE(session.decide(ParkId{"p99"}, approve()));
  EXPECT_FALSE(session.decide(parked->pending[0].id, edit("{no json")));
  EXPECT_EQ(session.last_result().last_seq, seq);
  EXPECT_EQ(session.last_result().pending.size(), 2U);
}

TEST_F(RunControlTest, DecidedOneByOne_EachRunsAfterItsDecision) {
  Agent agent = scripted(kTwoCallsThenText);
  Session session = session_of(agent.use(echo_tool()).policy(asking({"echo"})));
  auto parked = session.ask("go");
  ASSERT_TRUE(parked) << parked.error().message;
  auto second = session.resume({{parked->pending[1].id, approve()}}).report();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->status, SessionStatus::kAwaitingUser) << "the other still waits";
  ASSERT_EQ(second->pending.size(), 1U);
  EXPECT_FALSE(session.decide(parked->pending[1].id, approve())) << "no step is decided twice";
  auto last = session.resume({{second->pending[0].id, approve()}}).report();
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_TRUE(last->success);
  EXPECT_EQ(result_for(session.history(), "c1").text, "one");
}

TEST_F(RunControlTest, DecidedWhileAnotherCallRuns_TheRunNeverWaits) {
  BlockedTool blocked;
  Agent agent = scripted(
      R"({"tool_calls": [{"id": "c1", "name": "wait"}, {"id": "c2", "name": "echo", "arguments": {"text": "x"}}]}
{"text": "done"})");
  agent.use(blocked.tool("wait", true)).use(echo_tool()).policy(asking({"echo"}));
  Session session = session_of(agent);
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  EXPECT_EQ(session.status(), SessionStatus::kRunning) << "a call is still running";
  const auto pending = session.last_result().pending;
  ASSERT_EQ(pending.size(), 1U);
  EXPECT_TRUE(session.decide(pending[0].id, approve()));
  blocked.release->open();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
}

TEST_F(RunControlTest, WaitingTurn_CanBeInterrupted) {
  Agent agent = scripted(kTwoCallsThenText);
  Session session = session_of(agent.use(echo_tool()).policy(asking({"echo"})));
  ASSERT_TRUE(session.ask("go"));
  session.interrupt();
  EXPECT_EQ(session.last_result().reason, StopReason::kCancelled);
  EXPECT_EQ(unanswered(session.history()), 0U);
  auto nothing = session.resume().report();
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("no turn to resume"));
}

TEST_F(RunControlTest, DeniedByRule_IsReportedToTheModelAndTheCaller) {
  Agent agent = scripted(kTwoCallsThenText);
  Tool unsafe = echo_tool();
  unsafe.definition.safe_by_default = false;
  Session session = session_of(agent.use(std::move(unsafe)));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success) << "the model found another way";
  EXPECT_EQ(result->denials.size(), 2U);
  EXPECT_EQ(result_for(session.history(), "c1").status, ToolStatus::kError);
}

}  // namespace
}  // namespace praxis::testing
