// Questions to the user: from any depth, in a batch, within a call; answered by a handler of the process or
// by a decision; declined, answered late, or not at all.
#include <gmock/gmock.h>

#include <map>

#include "praxis/tools/ask_user_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kAskThenDone =
    R"({"tool_calls": [{"id": "q", "name": "ask_user", "arguments": {"question": "Which colour?"}}]}
{"text": "done"})";
constexpr std::string_view kChooseThenDone =
    R"({"tool_calls": [{"id": "q", "name": "ask_user",
 "arguments": {"question": "Which colour?", "choices": ["red", "blue"]}}]}
{"text": "done"})";

class QuestionsTest : public Scripted {
 protected:
  /// A script as a file contains it: one turn per line.
  static std::string one_line(std::string_view script) {
    std::string text(script);
    for (std::size_t at = 0; (at = text.find("\n ", at)) != std::string::npos;) text.erase(at, 1);
    return text;
  }
  Agent asking_agent(std::string_view script = kAskThenDone) {
    Agent agent = scripted(one_line(script));
    return agent.use(ask_user_tool());
  }
  /// An agent that calls the tool `work` once and then says "done".
  Agent boss(std::string id, std::function<Result<ToolOutput>(ToolContext&)> handler) {
    Tool tool = host_tool("work", [handler = std::move(handler)](ToolContext& context, const Json&) {
      return handler(context);
    });
    tool.definition.timeout = Millis{0};
    Agent agent = scripted(R"({"tool_calls": [{"id": "w", "name": "work"}]}
{"text": "done"})");
    return agent.id(std::move(id)).use(std::move(tool));
  }
  /// Sets a handler that opens `asked`, waits until its decision is no longer needed, opens `stopped`, and
  /// then decides.
  void decide_when_stopped(const std::shared_ptr<Gate>& asked, const std::shared_ptr<Gate>& stopped,
                           const std::optional<Approval>& decision) {
    runtime_->set_approval_handler([=](const ParkedStep&, const std::stop_token& stop) {
      const std::stop_callback opens(stop, [stopped] { stopped->open(); });
      asked->open();
      stopped->wait();
      return decision;
    });
  }
};

// ---- questions of a running call

TEST_F(QuestionsTest, CallThatAsks_RunsAgainWithTheAnswerAlsoAfterARestart) {
  for (const bool given : {true, false}) {
    SCOPED_TRACE(given);
    const auto make = [&] {
      return boss("shop", [](ToolContext& context) -> Result<ToolOutput> {
        if (context.answers.empty())
          return fail_question("Which size?", JsonObject{{"type", "integer"}}, JsonObject{{"order", 7}});
        const CallAnswer& last = context.answers.back();
        const bool declined = last.kind == CallAnswer::Kind::kDeclined;
        return says((declined ? "declined" : "size " + last.text) + " of " + to_json_text(last.state));
      });
    };
    SessionId id;
    {
      Session session = session_of(make());
      const AgentResult waits = checked(session.ask("go"));
      id = session.session_id();
      ASSERT_EQ(waits.pending.size(), 1U);
      EXPECT_EQ(waits.pending[0].kind, ParkKind::kQuestion);
      EXPECT_EQ(waits.pending[0].prompt, "Which size?");
      EXPECT_FALSE(session.answer(waits.pending[0].id, "large")) << "the schema wants a number";
      EXPECT_FALSE(session.decide(waits.pending[0].id, approve()));
    }
    Session again = *runtime_->open_session(id, make());
    const ParkId park = again.last_result().pending.at(0).id;
    EXPECT_EQ(checked(again.resume({{park, given ? answer("5") : reject("not now")}}).report()).text, "done");
    EXPECT_EQ(result_for(again.history(), "w").text,
              std::string(given ? "size 5" : "declined") + " of {\"order\":7}");
  }
}

// ---- decisions

TEST_F(QuestionsTest, Question_WaitsForItsAnswer) {
  Agent agent = asking_agent();
  Session session = session_of(agent);
  const AgentResult waits = checked(session.ask("go"));
  EXPECT_EQ(waits.status, SessionStatus::kAwaitingUser);
  ASSERT_EQ(waits.pending.size(), 1U);
  EXPECT_EQ(waits.pending[0].kind, ParkKind::kQuestion);
  EXPECT_EQ(waits.pending[0].prompt, "Which colour?");
  const AgentResult done = checked(session.resume({{waits.pending[0].id, answer("blue")}}).report());
  EXPECT_EQ(done.text, "done");
  EXPECT_EQ(result_for(session.history(), "q").text, "blue");
}

TEST_F(QuestionsTest, Question_AcceptsOnlyValidAnswers) {
  Session session = session_of(asking_agent(kChooseThenDone));
  const ParkId park = checked(session.ask("go")).pending.at(0).id;
  EXPECT_FALSE(session.decide(park, approve()));
  EXPECT_FALSE(session.decide(park, edit("{}")));
  EXPECT_FALSE(session.answer(park, "green"));
  EXPECT_EQ(session.status(), SessionStatus::kAwaitingUser);
  EXPECT_EQ(checked(session.resume({{park, answer("red")}}).report()).text, "done");
}

TEST_F(QuestionsTest, Question_ThatIsDeclined_LetsTheTurnContinue) {
  Session session = session_of(asking_agent());
  const ParkId park = checked(session.ask("go")).pending.at(0).id;
  const AgentResult done = checked(session.resume({{park, reject("ask another user")}}).report());
  EXPECT_TRUE(done.success);
  EXPECT_EQ(result_for(session.history(), "q").text,
            "No answer: the person was asked and declined, or did not answer. ask another user");
}

TEST_F(QuestionsTest, EmptyQuestion_IsReportedToTheModel) {
  Session session = session_of(asking_agent(R"({"tool_calls": [{"id": "q", "name": "ask_user"}]}
{"text": "sorry"})"));
  EXPECT_EQ(checked(session.ask("go")).text, "sorry");
  EXPECT_THAT(result_for(session.history(), "q").text, HasSubstr("question"));
}

TEST_F(QuestionsTest, Question_DelaysNoOtherCallOfTheBatch) {
  BlockedTool blocked;
  Agent agent = asking_agent(R"({"tool_calls": [
 {"id": "q", "name": "ask_user", "arguments": {"question": "Why?"}}, {"id": "b", "name": "blocked"}]}
{"text": "done"})");
  Session session = session_of(agent.use(blocked.tool("blocked", true)));
  Gate parked;
  const auto watching = session.on("step.parked", [&](const Event&) { parked.open(); });
  auto run = session.send_user_message("go");
  ASSERT_TRUE(parked.wait_briefly());
  ASSERT_TRUE(blocked.entered->wait_briefly());
  EXPECT_EQ(session.status(), SessionStatus::kRunning);
  EXPECT_TRUE(session.answer(session.last_result().pending.at(0).id, "because"));
  blocked.release->open();
  EXPECT_EQ(checked(run.report()).text, "done");
  EXPECT_EQ(result_for(session.history(), "q").text, "because");
  EXPECT_EQ(result_for(session.history(), "b").text, "late");
}

TEST_F(QuestionsTest, AHookThatAnswers_PreventsTheQuestion) {
  Hooks hooks;
  hooks.before_tool.push_back(
      [](const HookContext&, const ToolCall&) { return ToolHookResult{std::nullopt, says("green")}; });
  Session session = session_of(asking_agent().hooks(hooks));
  EXPECT_EQ(checked(session.ask("go")).text, "done");
  EXPECT_EQ(result_for(session.history(), "q").text, "green");
}

// ---- answers of a handler

TEST_F(QuestionsTest, Handler_AnswersWithinTheRun) {
  runtime_->set_query_user_handler(
      [&](const SessionId& session, const std::string& path, const std::string& prompt) {
        const auto records = read_records(*journal_, session);
        EXPECT_TRUE(std::ranges::any_of(*records, [](const StoredRecord& stored) {
          return std::holds_alternative<records::Parked>(stored.record.body);
        })) << "what is asked is on record";
        EXPECT_EQ(path, "agent");
        EXPECT_EQ(prompt, "Which colour? (one of: red, blue)");
        return std::optional<std::string>("blue");
      });
  Session session = session_of(asking_agent(kChooseThenDone));
  const AgentResult done = checked(session.ask("go"));
  EXPECT_EQ(done.text, "done");
  EXPECT_EQ(result_for(session.history(), "q").text, "blue");
}

TEST_F(QuestionsTest, Handler_MayDecline) {
  runtime_->set_query_user_handler([](const auto&...) { return std::optional<std::string>(); });
  Session session = session_of(asking_agent());
  EXPECT_TRUE(checked(session.ask("go")).success);
  EXPECT_THAT(result_for(session.history(), "q").text, HasSubstr("No answer"));
}

TEST_F(QuestionsTest, Handler_ThatFails_LeavesTheQuestionParked) {
  const std::map<std::string, QueryUserHandler> handlers = {
      {"any", [](const auto&...) -> std::optional<std::string> { throw std::runtime_error("no terminal"); }},
      {"does not fit", [](const auto&...) { return std::optional<std::string>("green"); }}};
  for (const auto& [why, handler] : handlers) {
    runtime_->set_query_user_handler(handler);
    Session session = session_of(asking_agent(kChooseThenDone));
    std::atomic<int> failures = 0;
    const auto watching = session.on("hook.failed", [&](const Event&) { ++failures; });
    const AgentResult waits = checked(session.ask("go"));
    EXPECT_EQ(waits.pending.size(), 1U) << why;
    EXPECT_EQ(failures, 1) << why;
  }
}

TEST_F(QuestionsTest, QueryHandler_GetsNoApprovals) {
  runtime_->set_query_user_handler([](const auto&...) {
    ADD_FAILURE() << "the step is an approval, not a question";
    return std::optional<std::string>();
  });
  Agent agent = scripted(R"({"tool_calls": [{"id": "c", "name": "echo", "arguments": {"text": "a"}}]})");
  const AgentResult waits = checked(agent.use(echo_tool()).policy(asking({"echo"})).run("go"));
  ASSERT_EQ(waits.pending.size(), 1U);
  EXPECT_EQ(waits.pending[0].kind, ParkKind::kApproval);
}

TEST_F(QuestionsTest, Handler_DecidesEveryKindOfStep) {
  const std::map<std::string, Approval> approvals = {
      {"abc", approve()}, {"xyz", edit(R"({"text": "xyz"})")}, {"Not allowed by person. no", reject("no")}};
  for (const auto& [result, approval] : approvals) {
    runtime_->set_approval_handler(
        [&](const ParkedStep& step, const std::stop_token&) -> std::optional<Approval> {
          EXPECT_EQ(step.arguments, R"({"text":"abc"})");
          return approval;
        });
    Agent agent = scripted(R"({"tool_calls": [{"id": "c", "name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done"})");
    Session session = session_of(agent.use(echo_tool()).policy(asking({"echo"})));
    EXPECT_EQ(checked(session.ask("go")).text, "done");
    EXPECT_EQ(result_for(session.history(), "c").text, result);
  }
}

TEST_F(QuestionsTest, HandlerThatIsSetLater_GetsTheParkedSteps) {
  Session session = session_of(asking_agent());
  checked(session.ask("go"));
  Gate done;
  const auto watching = session.on("turn.completed", [&](const Event&) { done.open(); });
  runtime_->set_approval_handler([](const ParkedStep&, const std::stop_token&) { return std::nullopt; });
  runtime_->set_query_user_handler([](const auto&...) { return std::optional<std::string>("blue"); });
  ASSERT_TRUE(done.wait_briefly());
  EXPECT_EQ(result_for(session.history(), "q").text, "blue");
}

TEST_F(QuestionsTest, AnAnswerFromElsewhere_StopsTheHandler) {
  const auto asked = std::make_shared<Gate>(), stopped = std::make_shared<Gate>();
  decide_when_stopped(asked, stopped, answer("too late"));
  Session session = session_of(asking_agent());
  auto run = session.send_user_message("go");
  ASSERT_TRUE(asked->wait_briefly());
  EXPECT_EQ(session.status(), SessionStatus::kAwaitingUser);
  EXPECT_TRUE(session.answer(session.last_result().pending.at(0).id, "first"));
  EXPECT_EQ(checked(run.report()).text, "done");
  EXPECT_TRUE(stopped->wait_briefly());
  EXPECT_EQ(result_for(session.history(), "q").text, "first");
}

TEST_F(QuestionsTest, StoppedRuntime_NeedsNoAnswerAndLeavesTheQuestion) {
  const auto asked = std::make_shared<Gate>(), stopped = std::make_shared<Gate>();
  decide_when_stopped(asked, stopped, std::nullopt);
  Session session = session_of(asking_agent());
  auto run = session.send_user_message("go");
  ASSERT_TRUE(asked->wait_briefly());
  runtime_->stop();
  EXPECT_TRUE(stopped->wait_briefly());
  EXPECT_EQ(checked(run.report()).pending.size(), 1U);
}

TEST_F(QuestionsTest, OneWaitingAgent_DelaysNoOtherAgent) {
  Gate release, asked;
  runtime_->set_query_user_handler([&](const SessionId&, const std::string& path, const std::string&) {
    if (path != "slow") return std::optional<std::string>("quick");
    asked.open();
    release.wait();
    return std::optional<std::string>("slow");
  });
  Session slow = session_of(asking_agent().id("slow"));
  auto run = slow.send_user_message("go");
  ASSERT_TRUE(asked.wait_briefly());
  EXPECT_EQ(checked(asking_agent().id("quick").run("go")).text, "done");
  EXPECT_EQ(checked(scripted(R"({"text": "silent"})").run("go")).text, "silent");
  EXPECT_EQ(slow.status(), SessionStatus::kAwaitingUser);
  release.open();
  EXPECT_EQ(checked(run.report()).text, "done");
}

TEST_F(QuestionsTest, ManyQuestions_AreAllAnswered) {
  constexpr int kSessions = 200;
  Gate release;
  runtime_->set_query_user_handler([&](const auto&...) {
    release.wait();
    return std::optional<std::string>("yes");
  });
  std::vector<praxis::Run> runs;
  for (int i = 0; i < kSessions; ++i) {
    Session session = session_of(asking_agent());
    runs.push_back(session.send_user_message("go"));
  }
  EXPECT_EQ(checked(scripted(R"({"text": "free"})").run("go")).text, "free") << "workers are left for others";
  release.open();
  for (praxis::Run& run : runs) EXPECT_EQ(checked(run.report()).text, "done");
}

// ---- within calls and below

TEST_F(QuestionsTest, QuestionOfAHandler_IsAnsweredToIt) {
  const auto asks = [](ToolContext& context) -> Result<ToolOutput> {
    auto answer = context.call_tool("ask_user", JsonObject{{"question", "Which colour?"}});
    return says(answer ? "got " + answer->text : "got none: " + answer.error().message);
  };
  Agent agent = boss("boss", asks).use(ask_user_tool());
  Session by_hand = session_of(agent);
  const AgentResult waits = checked(by_hand.ask("go"));
  ASSERT_EQ(waits.pending.size(), 1U);
  EXPECT_EQ(checked(by_hand.resume({{waits.pending[0].id, answer("red")}}).report()).text, "done");
  EXPECT_EQ(result_for(by_hand.history(), "w").text, "got red");

  runtime_->set_query_user_handler([](const auto&...) { return std::optional<std::string>(); });
  Session declined = session_of(agent);
  EXPECT_EQ(checked(declined.ask("go")).text, "done");
  EXPECT_THAT(result_for(declined.history(), "w").text, HasSubstr("got none: No answer"));
}

TEST_F(QuestionsTest, QuestionFromDepthThree_NamesThePath) {
  std::mutex mutex;
  std::vector<std::string> asked;
  runtime_->set_query_user_handler([&](const SessionId&, const std::string& path, const std::string& prompt) {
    const std::lock_guard lock(mutex);
    asked.push_back(path + ": " + prompt);
    return std::optional<std::string>("42");
  });
  const Agent root = above(above(above(asking_agent().id("leaf"), "middle"), "upper"), "root");
  EXPECT_EQ(checked(root.run("go")).text, "done");
  EXPECT_THAT(asked, ElementsAre("root/upper/middle/leaf: Which colour?"));
}

TEST_F(QuestionsTest, TwoAgentsWait_TheThirdContinues) {
  const Agent asks = asking_agent().id("asks");
  Agent root = scripted(R"({"tool_calls": [{"id": "a", "name": "asks", "arguments": {"prompt": "1"}}, )"
                        R"({"id": "b", "name": "asks", "arguments": {"prompt": "2"}}, )"
                        R"({"id": "c", "name": "quick", "arguments": {"prompt": "3"}}]}
{"text": "done"})");
  root.id("root")
      .use(asks.as_tool("asks", "Asks"))
      .use(scripted(R"({"text": "quick"})").id("quick").as_tool("quick", "Does not ask"));
  Session session = session_of(root);
  std::vector<std::string> finished;
  const auto watching = session.on("tool.completed", [&](const Event& event) {
    finished.push_back(std::get<events::ToolCompleted>(event.body).call.str());
  });
  const AgentResult waits = checked(session.ask("go"));
  EXPECT_THAT(finished, ElementsAre("c"));
  ASSERT_EQ(waits.pending.size(), 2U);
  Gate done;
  const auto ended = session.on("turn.completed", [&](const Event& event) {
    if (event.agent.depth == 0) done.open();
  });
  for (const ParkedStep& step : waits.pending) {
    auto child = runtime_->open_session(step.session, asks);
    ASSERT_TRUE(child) << child.error().message;
    EXPECT_EQ(step.path, "root/asks");
    EXPECT_TRUE(child->answer(step.id, "yes"));
  }
  ASSERT_TRUE(done.wait_briefly());
  for (const char* call : {"a", "b", "c"})
    EXPECT_EQ(result_for(session.history(), call).text, *call == 'c' ? "quick" : "done");
}

}  // namespace
}  // namespace praxis::testing
