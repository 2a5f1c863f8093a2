// Events as observers see them: which events, in what order, with what content.
#include "praxis/core/event.hpp"

#include <gmock/gmock.h>

#include <set>

#include "core/project.hpp"
#include "praxis/core/state.hpp"
#include "runtime/testing/scripted.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A thread-safe list of what a handler saw.
class Seen {
 public:
  EventHandler handler() {
    return [this](const Event& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
  }
  std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Event& event : events()) names.emplace_back(event_name(event.body));
    return names;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

/// The events of a run without those of the agent tree.
std::vector<Event> collect(Run run) {
  std::vector<Event> events;
  for (const Event& event : run) {
    if (!std::holds_alternative<events::AgentStatus>(event.body)) events.push_back(event);
  }
  return events;
}

template <class Wanted>
const Wanted* first(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (const auto* found = std::get_if<Wanted>(&event.body)) return found;
  }
  return nullptr;
}

constexpr std::string_view kToolThenText =
    R"({"reasoning": "hm", "text": "I look", "chunk": 100, "tool_calls": [{"id": "c1", "name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done", "chunk": 100})";

class EventsTest : public Scripted {};

TEST_F(EventsTest, Run_WaitsForALimitedTime) {
  const BlockedTool hold;
  Agent agent = scripted(R"({"tool_calls": [{"name": "hold", "arguments": {}}]}
{"text": "done"})");
  auto run = session_of(agent.use(hold.tool("hold", true))).send_user_message("go");
  std::vector<std::string> seen{""};
  while (seen.back() != "tool.started")
    seen.emplace_back(event_name(run.next(std::chrono::minutes{1}).value().body));
  EXPECT_FALSE(run.wait(Millis{0}));
  while (run.next(Millis{1})) continue;  // ends although the turn has not
  hold.release->open();
  EXPECT_TRUE(run.wait(std::chrono::minutes{1}));
  while (const auto event = run.next(Millis{0})) seen.emplace_back(event_name(event->body));
  EXPECT_THAT(seen, Contains("turn.completed"));
  EXPECT_FALSE(run.next(std::chrono::minutes{1})) << "the end takes no time";
}

TEST_F(EventsTest, Run_GivesTheWholeTurnInOrder) {
  Agent agent = scripted(kToolThenText);
  auto run = session_of(agent.use(echo_tool())).send_user_message("go");
  EXPECT_THAT(names(run), ElementsAre("turn.started", "message.added", "step.started", "model.requested",
                                      "reasoning.delta", "text.delta", "tool_call.delta", "tool_call.delta",
                                      "assistant.reasoning", "assistant.text", "model.responded",
                                      "tool.called", "tool.started", "tool.completed", "step.completed",
                                      "step.started", "model.requested", "text.delta", "assistant.text",
                                      "model.responded", "step.completed", "turn.completed"));
  EXPECT_TRUE(run.report()) << "the result is there after the events";
}

TEST_F(EventsTest, AnswerThatTheWindowCutsOff_BelongsToAStepThatIsDoneAgain) {
  std::string script;
  for (int i = 0; i < 4; ++i) {
    script +=
        R"({"chunk": 100, "tool_calls": [{"name": "echo", "arguments": {"text": "a long result of many words"}}]})"
        "\n";
  }
  script += R"({"text": "half", "finish": "context_window"}
{"text": "Summed up."}
{"text": "whole", "chunk": 100})";
  Agent agent = scripted(script);
  auto run = session_of(agent.use(echo_tool())).send_user_message("go");
  std::vector<std::string> last = names(run);
  EXPECT_EQ(std::ranges::count(last, "step.started"), 5);
  EXPECT_EQ(std::ranges::count(last, "step.completed"), 5);
  last.erase(last.begin(), std::ranges::find(last, "model.failed"));
  EXPECT_THAT(last, ElementsAre("model.failed", "model.requested", "model.responded", "history.cut",
                                "attempt.superseded", "prefix.broken", "model.requested", "text.delta",
                                "assistant.text", "model.responded", "step.completed", "turn.completed"));
  EXPECT_EQ(run.report()->text, "whole");
}

TEST_F(EventsTest, EveryEvent_SaysWhereItBelongs) {
  Agent agent = scripted(kToolThenText);
  Session session = session_of(agent.use(echo_tool()));
  const std::vector<Event> events = collect(session.send_user_message("go"));
  std::uint64_t seq = 0;
  std::uint32_t step = 0;
  for (const Event& event : events) {
    EXPECT_EQ(event.agent.id, session.session_id());
    EXPECT_EQ(event.agent.depth, 0U);
    EXPECT_EQ(event.turn, TurnId{"t1"});
    EXPECT_GE(event.seq, seq) << event_name(event.body);
    EXPECT_GE(event.step, step) << event_name(event.body);
    EXPECT_EQ(to_json(event).at("event").as_string(), event_name(event.body));
    seq = event.seq;
    step = event.step;
  }
  EXPECT_EQ(step, 2U);
}

TEST_F(EventsTest, Payloads_DescribeTheTurn) {
  Agent agent = scripted(kToolThenText);
  const std::vector<Event> events = collect(session_of(agent.use(echo_tool())).send_user_message("go"));
  EXPECT_EQ(first<events::MessageAdded>(events)->message->text(), "go");
  EXPECT_EQ(first<events::MessageAdded>(events)->source, MessageSource::kUser);
  EXPECT_EQ(first<events::ModelRequested>(events)->model, "script:test");
  EXPECT_EQ(first<events::AssistantReasoning>(events)->text, "hm");
  EXPECT_EQ(first<events::AssistantText>(events)->text, "I look");
  EXPECT_EQ(first<events::ModelResponded>(events)->finish, FinishReason::kToolCalls);
  EXPECT_EQ(first<events::ToolCalled>(events)->call, CallId{"c1"});
  EXPECT_EQ(first<events::ToolCalled>(events)->arguments, R"({"text":"abc"})");
  EXPECT_EQ(first<events::ToolStarted>(events)->name, "echo");
  EXPECT_EQ(first<events::ToolCompleted>(events)->text, "abc");
  EXPECT_EQ(first<events::TurnCompleted>(events)->result.text, "done");
}

TEST_F(EventsTest, Payloads_HaveConfigOptionsArgumentsAndAnswers) {
  Agent agent = scripted(kToolThenText);
  ModelOptions options;
  options.temperature = 0.5;
  const std::vector<Event> events =
      collect(session_of(agent.use(echo_tool()).options(options)).send_user_message("go"));
  EXPECT_EQ(first<events::TurnStarted>(events)->config->tools.at(0).definition.name, "echo");
  EXPECT_EQ(first<events::ModelRequested>(events)->options.temperature, 0.5);
  const auto* responded = first<events::ModelResponded>(events);
  EXPECT_EQ(responded->message->text(), "I look");
  EXPECT_EQ(responded->message->usage.output, responded->usage.output);
  EXPECT_EQ(first<events::StepCompleted>(events)->message->id, responded->message->id);
  const auto* delta = first<events::ToolCallDelta>(events);
  EXPECT_EQ(delta->call, CallId{"c1"});
  EXPECT_EQ(first<events::ToolStarted>(events)->arguments, R"({"text":"abc"})");
  const auto* completed = first<events::ToolCompleted>(events);
  EXPECT_EQ(completed->arguments, R"({"text":"abc"})");
  EXPECT_EQ(completed->result->text, "abc");
  EXPECT_EQ(json_string(to_json(events.front()).at("config"), "model"), "script:test");
}

TEST_F(EventsTest, NamesOfOtherDesigns_AreViews) {
  Agent agent = scripted(kToolThenText);
  std::map<std::string, std::size_t> times;
  for (const char* name :
       {"tool:start", "tool:detected", "step", "onToolCall", "stream:end", "EventTypeToolComplete",
        "response.tool_call.start", "message:sent", "agent-state", "error"})
    agent.on(name, [&times, name](const Event&) { ++times[name]; });
  ASSERT_TRUE(agent.use(echo_tool()).run("go"));
  const std::map<std::string, std::size_t> expected{{"tool:start", 1},
                                                    {"tool:detected", 1},
                                                    {"step", 4},
                                                    {"onToolCall", 1},
                                                    {"stream:end", 1},
                                                    {"message:sent", 1},
                                                    {"agent-state", 2},
                                                    {"EventTypeToolComplete", 1},
                                                    {"response.tool_call.start", 1}};
  EXPECT_EQ(times, expected);
}

TEST_F(EventsTest, PatternThatCanNeverMatch_IsRefused) {
  Session session = session_of(scripted(R"({"text": "x"})"));
  for (const char* pattern : {"tool.finished", "tool:strat", "turn.complete", ""}) {
    EXPECT_FALSE(check_pattern(pattern)) << pattern;
    EXPECT_THROW((void)session.on(pattern, [](const Event&) {}), std::invalid_argument) << pattern;
    EXPECT_THROW((void)runtime_->on(pattern, [](const Event&) {}), std::invalid_argument) << pattern;
  }
  const auto run = scripted(R"({"text": "x"})").on("turn.complete", [](const Event&) {}).run("go");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, R"(no event is called "turn.complete"; did you mean "turn.completed"?)");
  EXPECT_TRUE(check_pattern("deploy.done"));
  EXPECT_TRUE(check_pattern("deploy.*"));
  EXPECT_FALSE(runtime_->emit("tool.finished", nullptr)) << "only the library has such names";
  EXPECT_FALSE(session.emit("turn.complete", nullptr)) << "too close to a name of the library";
}

TEST_F(EventsTest, StatusOfTheTree_IsAnEventAtEveryLevel) {
  Agent below = scripted(R"({"tool_calls": [{"id": "c1", "name": "echo", "arguments": {"text": "x"}}]}
{"text": "below"})");
  below.use(echo_tool()).policy(asking({"echo"}));
  Session session = session_of(above(below, "lead"));
  std::mutex mutex;
  std::map<std::uint32_t, std::vector<SessionStatus>> seen;  // by depth
  const auto watching = session.on("agent.status", [&](const Event& event) {
    const std::lock_guard lock(mutex);
    seen[event.agent.depth].push_back(std::get<events::AgentStatus>(event.body).status);
  });
  const AgentResult waiting = checked(session.ask("go"));
  ASSERT_EQ(waiting.pending.size(), 1U);
  ASSERT_TRUE(session.resume({{waiting.pending[0].id, approve()}}).result());
  const std::lock_guard lock(mutex);
  for (const std::uint32_t depth : {0U, 1U}) {
    EXPECT_THAT(seen[depth], ElementsAre(SessionStatus::kRunning, SessionStatus::kAwaitingUser,
                                         SessionStatus::kRunning, SessionStatus::kCompleted))
        << "depth " << depth;
  }
}

TEST_F(EventsTest, PartsAndDeltas_AreTwoViewsOfOneLog) {
  Session session = session_of(scripted(R"({"text": "a longer answer", "chunk": 4})"));
  Seen all, parts, deltas;
  const auto one = session.on("*", all.handler());
  const auto two = session.on("parts", parts.handler());
  const auto three = session.on("deltas", deltas.handler());
  ASSERT_TRUE(session.ask("go"));
  EXPECT_EQ(all.events().size(), parts.events().size() + deltas.events().size());
  EXPECT_THAT(parts.names(), Not(Contains("text.delta")));
  std::string text;
  for (const Event& event : deltas.events()) text += std::get<events::TextDelta>(event.body).text;
  EXPECT_EQ(text, "a longer answer");
}

TEST_F(EventsTest, Steps_CountTheSameWithAndWithoutStreaming) {
  const auto steps_of = [this](bool stream) {
    RuntimeOptions options;
    options.stream = stream;
    use_runtime(std::move(options));
    Agent agent = scripted(kToolThenText);
    std::vector<std::pair<std::string, std::uint32_t>> steps;
    for (const Event& event : collect(session_of(agent.use(echo_tool())).send_user_message("go"))) {
      if (!is_delta(event.body)) steps.emplace_back(event_name(event.body), event.step);
    }
    return steps;
  };
  const auto streamed = steps_of(true);
  EXPECT_EQ(streamed, steps_of(false));
  EXPECT_THAT(streamed, Contains(std::pair(std::string("step.started"), 1U)));
  EXPECT_EQ(streamed.back(), std::pair(std::string("turn.completed"), 2U));
}

TEST_F(EventsTest, Subscriptions_ReachFromAgentSessionAndRuntime) {
  Seen of_agent, of_session, of_runtime;
  Agent agent = scripted(R"({"text": "x"}
{"text": "y"})");
  agent.on("turn.*", of_agent.handler());
  const auto everywhere = runtime_->on("turn.completed", of_runtime.handler());
  Session one = session_of(agent), other = session_of(agent);
  const auto here = one.on("turn.completed", of_session.handler());
  ASSERT_TRUE(one.ask("a"));
  ASSERT_TRUE(other.ask("b"));
  EXPECT_THAT(of_agent.names(),
              ElementsAre("turn.started", "turn.completed", "turn.started", "turn.completed"));
  EXPECT_EQ(of_session.events().size(), 1U);
  // The turn that just ended may still hold the strand; then the event follows when it has left.
  ASSERT_TRUE(eventually([&] { return of_runtime.events().size() == 2; }));
  EXPECT_EQ(of_runtime.events()[1].agent.id, other.session_id());
}

TEST_F(EventsTest, DroppedSubscription_HearsNothingMore) {
  Session session = session_of(scripted(R"({"text": "x"}
{"text": "y"})"));
  Seen seen;
  auto subscription = session.on("turn.completed", seen.handler());
  ASSERT_TRUE(session.ask("a"));
  subscription.cancel();
  ASSERT_TRUE(session.ask("b"));
  EXPECT_EQ(seen.events().size(), 1U);
}

TEST_F(EventsTest, EachPattern_HearsAllOfItsEventsAndNoOthers) {
  Session session = session_of(scripted(kToolThenText).use(echo_tool()));
  std::vector<std::string> all;
  for (const Event& event : collect(session.send_user_message("go")))
    all.emplace_back(event_name(event.body));
  for (const std::string& name : std::set<std::string>(all.begin(), all.end())) {
    Seen seen;
    Session alone = session_of(scripted(kToolThenText).use(echo_tool()));  // no other subscription
    const auto subscription = alone.on(name, seen.handler());
    ASSERT_TRUE(alone.ask("go"));
    const auto times = static_cast<std::size_t>(std::ranges::count(all, name));
    EXPECT_EQ(seen.names(), std::vector<std::string>(times, name));
  }
}

TEST_F(EventsTest, HostsOwnEvent_ReachesEveryLevel) {
  Seen of_runtime, of_agent, of_session;
  Agent agent = scripted("{\"text\": \"x\"}\n{\"text\": \"y\"}");
  agent.on("deploy.*", of_agent.handler());
  Session session = session_of(agent);
  const auto everywhere = runtime_->on("deploy.*", of_runtime.handler());
  const auto here = session.on("deploy.*", of_session.handler());
  ASSERT_TRUE(runtime_->emit("deploy.done", JsonObject{{"version", 7}}));
  ASSERT_TRUE(session.ask("go"));  // after the handlers of the session were called
  ASSERT_TRUE(session.emit("deploy.begun", nullptr));
  ASSERT_TRUE(session.ask("again"));  // likewise
  ASSERT_EQ(of_runtime.events().size(), 2U);
  EXPECT_EQ(to_json(of_runtime.events()[0]).at("payload").at("version").as_int64(), 7);
  EXPECT_EQ(of_runtime.events()[1].agent.id, session.session_id());
  EXPECT_THAT(of_agent.names(), ElementsAre("deploy.done", "deploy.begun"));
  EXPECT_THAT(of_session.names(), ElementsAre("deploy.done", "deploy.begun"));
}

TEST_F(EventsTest, Retry_SupersedesTheFailedAttempt) {
  Session session = session_of(scripted(R"({"error": {"status": 503, "message": "busy", "retry_after_ms": 1}}
{"text": "ok", "chunk": 100})"));
  const std::vector<Event> events = collect(session.send_user_message("go"));
  std::vector<std::string> seen;
  for (const Event& event : events) seen.emplace_back(event_name(event.body));
  EXPECT_THAT(seen,
              ElementsAre("turn.started", "message.added", "step.started", "model.requested", "model.failed",
                          "model.waiting", "attempt.superseded", "model.requested", "text.delta",
                          "assistant.text", "model.responded", "step.completed", "turn.completed"));
  EXPECT_THAT(first<events::ModelFailed>(events)->error.message, HasSubstr("busy"));
  for (const Event& event : events) {
    if (is_delta(event.body)) {
      EXPECT_EQ(event.attempt, 2U);
    }
  }
}

TEST_F(EventsTest, ReaderThatComesLate_MissesNothingAndDelaysNothing) {
  Session session = session_of(scripted(R"({"text": "one two three four five", "chunk": 1})"));
  auto run = session.send_user_message("go");
  ASSERT_TRUE(run.report()) << "the turn does not wait for its reader";
  const std::vector<std::string> seen = names(run);
  EXPECT_EQ(std::ranges::count(seen, "text.delta"), 23);
  EXPECT_EQ(seen.back(), "turn.completed");
}

TEST_F(EventsTest, DurableEvents_CanBeMadeAgainFromTheLog) {
  Agent agent = scripted(kToolThenText);
  Session session = session_of(agent.use(echo_tool()));
  std::vector<Json> live, again;
  for (const Event& event : collect(session.send_user_message("go"))) {
    if (!is_delta(event.body)) live.push_back(to_json(event));
  }
  const auto records = read_records(*journal_, session.session_id());
  ASSERT_TRUE(records) << records.error().message;
  State state;
  for (const StoredRecord& stored : *records) {
    state = *apply(std::move(state), stored.record);
    for (const Event& event : project(stored.record, state)) again.push_back(to_json(event));
  }
  EXPECT_EQ(live, again);
}

TEST_F(EventsTest, Handler_MayActOnItsOwnSession) {
  Agent agent = scripted(R"({"tool_calls": [{"name": "echo", "arguments": {"text": "x"}}]}
{"text": "allowed"})");
  Session session = session_of(agent.use(echo_tool()).policy(asking({"*"})));
  const auto deciding = session.on("step.parked", [&session](const Event& event) {
    EXPECT_EQ(session.last_result().pending.size(), 1U);
    EXPECT_TRUE(session.decide(std::get<events::StepParked>(event.body).step.id, approve()));
  });
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "allowed") << "decided before the run could wait for it";
}

}  // namespace
}  // namespace praxis::testing
