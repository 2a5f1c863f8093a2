// A session as a conversation: what a caller can ask of it before, during and after its turns.
#include "praxis/runtime/session.hpp"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionTest : public Scripted {};

TEST_F(SessionTest, OneTurn_GivesTheModelsText) {
  auto result = scripted(R"({"text": "hello"})").run("hi");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "hello");
  EXPECT_TRUE(result->success);
  EXPECT_EQ(result->steps, 1U);
  EXPECT_EQ(result->reason, StopReason::kFinished);
}

TEST_F(SessionTest, ToolCall_GoesThroughTheToolAndBack) {
  Agent agent = scripted(R"({"tool_calls": [{"name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done"})");
  Session session = session_of(agent.use(echo_tool()));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  ASSERT_EQ(result->actions.size(), 1U);
  EXPECT_EQ(result->actions[0].outcome, Outcome::kOk);
  EXPECT_EQ(session.turns().size(), 4U);
}

TEST_F(SessionTest, Ids_AreUnique) {
  const Agent agent = scripted(R"({"text": "x"})");
  std::set<SessionId> ids;
  for (int i = 0; i < 50; ++i) ids.insert(session_of(agent).session_id());
  EXPECT_EQ(ids.size(), 50U);
  EXPECT_FALSE(ids.contains(SessionId{}));
}

TEST_F(SessionTest, Turns_RememberEachOther) {
  Session session = session_of(scripted(R"({"text": "one", "usage": {"input": 10, "output": 2}}
{"text": "two", "usage": {"input": 20, "output": 3}})"));
  ASSERT_TRUE(session.ask("first"));
  auto second = session.ask("second");
  ASSERT_TRUE(second) << second.error().message;
  std::vector<std::string> texts;
  for (const TurnView& turn : session.turns()) texts.push_back(turn.message->text());
  EXPECT_THAT(texts, ElementsAre("first", "one", "second", "two"));
  EXPECT_EQ(session.token_usage().total(), 35);
  EXPECT_EQ(second->usage.total(), 23) << "a result counts its own turn";
  EXPECT_EQ(second->usage_total.total(), 35);
  EXPECT_EQ(session.turns()[3].usage.total(), 23);
}

TEST_F(SessionTest, TurnThatFollowsBeforeTheLastOneIsDurable_GetsItsOwnResult) {
  Session session = session_of(scripted(R"({"text": "one"}
{"text": "two"})"));
  const auto acknowledged = journal_->hold_append(2);
  auto first = session.send_user_message("a");
  while (session.status() == SessionStatus::kRunning) std::this_thread::yield();
  auto second = session.send_user_message("b");
  acknowledged->open();
  auto one = first.report(), two = second.report();
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(one->text, "one");
  EXPECT_EQ(two->text, "two");
  EXPECT_EQ(names(first).back(), "turn.completed");
  EXPECT_EQ(names(second).front(), "turn.started");
}

TEST_F(SessionTest, AddedUserTurn_IsAnsweredByTheNextRun) {
  Session session = session_of(scripted(R"({"text": "both seen"})"));
  ASSERT_TRUE(session.add_user_turn("one"));
  EXPECT_EQ(session.status(), SessionStatus::kIdle) << "adding starts nothing";
  auto result = session.run().report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "both seen");
  EXPECT_EQ(session.turns().size(), 2U);
}

TEST_F(SessionTest, SentMessage_MayCarryMoreThanText) {
  Session session = session_of(scripted(R"({"text": "a cat"})"));
  Message message = text_message(Role::kUser, "What is this?");
  message.parts.emplace_back(ImagePart{{"image/png", "bytes", {}}, nullptr});
  ASSERT_TRUE(session.send(message).report());
  EXPECT_EQ(session.turns()[0].message->parts.size(), 2U);
}

TEST_F(SessionTest, WhileRunning_NothingElseStartsAndEverythingCanBeAsked) {
  BlockedTool blocked;
  Agent agent = scripted(R"({"tool_calls": [{"name": "wait"}], "usage": {"input": 30, "output": 20}}
{"text": "done", "usage": {"input": 60, "output": 20}})");
  Session session = session_of(
      agent.use(blocked.tool("wait", true)).limits(limit(&Limits::max_context, std::int64_t{1000})));
  auto first = session.send_user_message("go");
  blocked.entered->wait();

  EXPECT_EQ(session.status(), SessionStatus::kRunning);
  const Status added = session.add_user_turn("more");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kInput);
  EXPECT_THAT(added.error().message, HasSubstr("running"));

  auto second = session.send_user_message("again");
  EXPECT_THAT(names(second), ElementsAre("turn.failed"));
  auto refused = second.report();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_FALSE(session.ask("and again"));
  EXPECT_FALSE(session.rewind(TurnId{"t1"}));

  {
    std::vector<std::jthread> askers;
    for (int t = 0; t < 4; ++t) {
      askers.emplace_back([&session] {
        for (int i = 0; i < 50; ++i) {
          EXPECT_EQ(session.turns().size(), 2U);
          EXPECT_EQ(session.token_usage().total(), 50);
          EXPECT_EQ(session.context_usage_percent(), 5);
          EXPECT_EQ(session.last_result().steps, 0U) << "not known before the turn has ended";
        }
      });
    }
  }
  blocked.release->open();
  auto result = first.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done") << "the refused message changed nothing";
  EXPECT_EQ(session.turns().size(), 4U);
  EXPECT_EQ(session.context_usage(), (std::pair<std::int64_t, std::int64_t>{80, 1000}));
}

TEST_F(SessionTest, Status_FollowsTheTurns) {
  Agent agent = scripted(R"({"text": "fine"}
{"error": {"status": 401, "message": "no such key"}}
{"tool_calls": [{"name": "echo", "arguments": {"text": "x"}}]}
{"text": "fine again"})");
  Session session = session_of(agent.use(echo_tool()).policy(asking({"echo"})));
  EXPECT_EQ(session.status(), SessionStatus::kIdle);
  ASSERT_TRUE(session.ask("a"));
  EXPECT_EQ(session.status(), SessionStatus::kCompleted);
  ASSERT_TRUE(session.send_user_message("b").report());
  EXPECT_EQ(session.status(), SessionStatus::kError);
  ASSERT_TRUE(session.ask("c"));
  EXPECT_EQ(session.status(), SessionStatus::kAwaitingUser);
  ASSERT_TRUE(session.resume({{session.last_result().pending[0].id, approve()}}).report());
  EXPECT_EQ(session.status(), SessionStatus::kCompleted);
}

Message said(Role role, std::string_view id, std::string text) {
  Message message = text_message(role, std::move(text));
  message.id = MessageId{std::string(id)};
  return message;
}

TEST_F(SessionTest, ConversationIsWhereASessionStarts) {
  const Conversation start{
      "order-4711",
      {said(Role::kUser, "u1", "My name is Ada."), said(Role::kAssistant, "m7", "Hello Ada.")},
      JsonObject{{"tenant", "t9"}}};
  auto session = scripted(R"({"text": "You are Ada."})").session(start);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->session_id(), SessionId{"order-4711"});
  Message question = said(Role::kUser, "u2", "Who am I?");
  ASSERT_TRUE(session->send(question).result());
  const auto whole = session->transcript();
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->id, "order-4711");
  EXPECT_EQ(whole->metadata, start.metadata);
  std::vector<std::string> ids;
  for (const Message& message : whole->messages) ids.push_back(message.id.str() + " " + message.text());
  EXPECT_THAT(ids, ElementsAre("u1 My name is Ada.", "m7 Hello Ada.", "u2 Who am I?", "m8 You are Ada."));
  const auto taken = scripted(R"({"text": "x"})").session(start);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind(), ErrorKind::kExists);
}

TEST_F(SessionTest, ConversationThatIsNotValidIsRefused) {
  Message orphan;
  orphan.role = Role::kTool;
  orphan.id = MessageId{"r1"};
  orphan.parts.emplace_back(ToolResultPart{CallId{"c"}, "echo", ToolStatus::kOk, "x", {}, {}});
  const Agent agent = scripted(R"({"text": "x"})");
  for (const Conversation& start : {Conversation{{}, {orphan}, nullptr}, Conversation{"a b", {}, nullptr},
                                    Conversation{"last", {}, nullptr}, Conversation{"../x", {}, nullptr}}) {
    const auto session = agent.session(start);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, ErrorCode::kInput);
  }
  EXPECT_TRUE(journal_->sessions(0)->empty());
}

TEST_F(SessionTest, RunTakesMessages) {
  const Agent agent = scripted(R"({"asked": "Who am I?", "text": "You are Ada."})");
  const auto reply = agent.run(std::vector{said(Role::kUser, "u1", "My name is Ada."),
                                           said(Role::kAssistant, "a1", "Hello Ada."),
                                           said(Role::kUser, "u2", "Who am I?")});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "You are Ada.");
  EXPECT_EQ(runtime_->agent_state(reply->session)->history.messages().size(), 4U);
  const auto refused = agent.run(std::vector{said(Role::kAssistant, "a1", "Hello.")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
}

TEST_F(SessionTest, TranscriptHasWhatTheWindowCut) {
  std::string script;
  for (int i = 0; i < 12; ++i) script += R"({"text": "answer )" + std::to_string(i) + "\"}\n";
  Session session = session_of(scripted(script).limits(limit(&Limits::max_messages, 6U)));
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(session.ask("question " + std::to_string(i)));
  EXPECT_LT(session.turns().size(), 24U);
  const auto whole = session.transcript();
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->messages.size(), 24U);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(whole->messages[2 * i].text(), "question " + std::to_string(i));
    EXPECT_EQ(whole->messages[2 * i + 1].text(), "answer " + std::to_string(i));
  }
  ASSERT_TRUE(session.rewind(TurnId{"t12"}));
  EXPECT_EQ(session.transcript()->messages.size(), 22U);
}

TEST_F(SessionTest, ActionsAreInTheOrderOfTheCalls) {
  Gate second;
  const Tool slow = host_tool("slow", [&](ToolContext&, const Json&) -> Result<ToolOutput> {
    second.wait();
    return says("slow");
  });
  const Tool fast =
      host_tool("fast", [&](ToolContext&, const Json&) -> Result<ToolOutput> { return says("fast"); });
  Session session = session_of(scripted(R"({"tool_calls": [{"name": "slow"}, {"name": "fast"}]}
{"text": "done"})")
                                   .use(slow)
                                   .use(fast));
  const auto ended = session.on("tool.completed", [&](const Event&) { second.open(); });
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->actions.size(), 2U);
  EXPECT_EQ(result->actions[0].tool, "slow");
  EXPECT_EQ(result->actions[1].tool, "fast");
  const Json json = to_json(*result);
  EXPECT_TRUE(json.at("metrics").at("latency_by_tool_ms").as_object().contains("slow"));
  EXPECT_FALSE(json.as_object().contains("deterministic"));
}

TEST_F(SessionTest, UnknownContextWindow_CountsAsNothingUsed) {
  Session session = session_of(scripted(R"({"text": "x"})"));
  ASSERT_TRUE(session.ask("hi"));
  EXPECT_EQ(session.context_usage_percent(), 0);
  EXPECT_EQ(session.context_usage().second, 0);
}

TEST_F(SessionTest, Rewind_ForgetsFromThatTurnOn) {
  Session session = session_of(scripted(R"({"text": "one"}
{"text": "two"}
{"text": "three"})"));
  ASSERT_TRUE(session.ask("a"));
  ASSERT_TRUE(session.ask("b"));
  const Status unknown = session.rewind(TurnId{"t9"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("t1, t2"));
  ASSERT_TRUE(session.rewind(TurnId{"t2"}));
  EXPECT_EQ(session.turns().size(), 2U);
  ASSERT_TRUE(session.ask("c"));
  EXPECT_EQ(session.turns()[2].message->text(), "c");
}

TEST_F(SessionTest, Comment_IsKept) {
  Session session = session_of(scripted(R"({"text": "x"})"));
  session.annotate("looks good");
  EXPECT_EQ(session.comment(), "looks good");
}

TEST_F(SessionTest, LongTitle_IsCutBetweenCharacters) {
  Session session = session_of(scripted(R"({"text": "x"})"));
  std::string prompt = "a";
  for (int i = 0; i < 60; ++i) prompt += "é";
  ASSERT_TRUE(session.ask(prompt));
  const std::string title = journal_->session(session.session_id())->title;
  EXPECT_TRUE(is_valid_utf8(title)) << title;
  EXPECT_TRUE(prompt.starts_with(title));
  EXPECT_EQ(title.size(), 79U);
}

TEST_F(SessionTest, FullText_HoldsWhatWasSaidOverAllModelCalls) {
  const auto result =
      scripted(R"({"text": "Looking. ", "tool_calls": [{"name": "echo", "arguments": {"text": "x"}}]}
{"text": "Found."})")
          .use(echo_tool())
          .run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "Found.");
  EXPECT_EQ(result->full_text, "Looking. Found.");
}

TEST_F(SessionTest, AgentThatCannotRun_SaysSoAtOnce) {
  auto nothing = Agent().runtime(runtime_).run("hi");
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("neither a model nor a written plan"));
  Agent twice = scripted(R"({"text": "x"})");
  auto result = twice.use(echo_tool()).use(echo_tool()).stream("hi").report();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("two tools named \"echo\""));
}

TEST_F(SessionTest, ResultHasMessagesActionsAndProvenance) {
  Agent agent = scripted(R"({"tool_calls": [{"id": "c1", "name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done"})");
  Session session = session_of(agent.id("teller").use(echo_tool()));
  const AgentResult result = checked(session.ask("go"));
  ASSERT_EQ(result.messages.size(), 4U);
  EXPECT_EQ(result.messages.front()->text(), "go");
  EXPECT_EQ(result.message, result.messages.back());
  EXPECT_EQ(result.message->text(), "done");
  ASSERT_EQ(result.actions.size(), 1U);
  EXPECT_EQ(result.actions[0].arguments, R"({"text":"abc"})");
  EXPECT_EQ(result.actions[0].result, "abc");
  ASSERT_EQ(result.model_calls.size(), 2U);
  EXPECT_EQ(result.model_calls[0].provider, "script");
  EXPECT_FALSE(result.model_calls[0].prompt.empty());
  EXPECT_NE(result.model_calls[0].prompt, result.model_calls[1].prompt);
  EXPECT_EQ(result.provenance.agent, "teller");
  EXPECT_FALSE(result.provenance.tools.empty());
  EXPECT_EQ(result.provenance.models.size(), 1U);
  EXPECT_EQ(latency_by_tool(result).count("echo"), 1U);
}

}  // namespace
}  // namespace praxis::testing
