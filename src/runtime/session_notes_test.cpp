// The notes of a session (`kv`): a projection of its log, so that they are there whenever and wherever the
// session continues, and in no other session.
#include <gmock/gmock.h>

#include "praxis/tools/ask_user_tool.hpp"
#include "praxis/tools/kv_tool.hpp"
#include "praxis/tools/python_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDone = R"({"text":"done"})"
                              "\n";

/// A line of a script: the model calls `kv` with these arguments, then says "done".
std::string turn_with(const std::string& arguments, const std::string& id = "k") {
  return R"({"tool_calls":[{"name":"kv","id":")" + id + R"(","arguments":)" + arguments + "}]}\n" + kDone;
}
std::string putting(const std::string& key, const std::string& value) {
  return turn_with(R"({"op":"put","key":")" + key + R"(","value":")" + value + R"("})");
}
std::string getting(const std::string& key, const std::string& id = "g") {
  return turn_with(R"({"op":"get","key":")" + key + R"("})", id);
}

class SessionNotes : public Scripted {
 protected:
  Agent notes(const std::string& script, const Tool& kv = kv_tool()) { return scripted(script).use(kv); }
  /// A session that does not keep its runtime alive.
  Session homeless(Agent agent) {
    auto session = runtime_->create_session(agent.runtime(nullptr));
    if (!session) throw std::runtime_error(session.error().message);
    return *session;
  }
  Session reopened(const SessionId& id, const Agent& agent) {
    auto session = runtime_->open_session(id, agent);
    if (!session) throw std::runtime_error(session.error().message);
    return *session;
  }
  /// What the model got for its last call with this id.
  static std::string result_of_call(Session& session, std::string_view id = "g") {
    std::string text = "no result";
    for (const MessagePtr& message : session.history().messages()) {
      for (const Part& part : message->parts) {
        const auto* result = std::get_if<ToolResultPart>(&part);
        if (result != nullptr && result->id.str() == id) text = result->text;
      }
    }
    return text;
  }
};

TEST_F(SessionNotes, NewProcess_FindsThem) {
  const std::string script = putting("k", "precious") + getting("k");
  SessionId id;
  {
    Session session = homeless(notes(script));
    ASSERT_TRUE(session.ask("note it"));
    id = session.session_id();
  }
  start_new_process();
  Session session = reopened(id, notes(script));
  ASSERT_TRUE(session.ask("what was it?"));
  EXPECT_EQ(result_of_call(session), "precious");
}

TEST_F(SessionNotes, TurnThatWaitedForAnAnswer_FindsThemInTheNextProcess) {
  const std::string script =
      R"({"tool_calls":[{"name":"kv","id":"k","arguments":{"op":"put","key":"k","value":"precious"}}]}
{"tool_calls":[{"name":"ask_user","id":"q","arguments":{"question":"ok?"}}]}
)" + getting("k");
  SessionId id;
  {
    Session session = homeless(notes(script).use(ask_user_tool()));
    ASSERT_EQ(checked(session.ask("go")).pending.size(), 1U);
    id = session.session_id();
  }
  start_new_process();
  Session session = reopened(id, notes(script).use(ask_user_tool()));
  ASSERT_TRUE(session.resume({{ParkId{"p1"}, answer("yes")}}).report());
  EXPECT_EQ(result_of_call(session), "precious");
}

TEST_F(SessionNotes, CallWhoseOutcomeWasNotRecorded_IsMadeAgain) {
  const std::string script =
      R"({"tool_calls":[{"name":"kv","id":"k","arguments":{"op":"put","key":"k","value":"precious"}}]}
)" + getting("k");
  SessionId id;
  {
    Session session = homeless(notes(script));
    journal_->fail_append(3);
    ASSERT_FALSE(session.ask("go"));
    id = session.session_id();
  }
  start_new_process();
  Session session = reopened(id, notes(script));
  ASSERT_TRUE(session.resume().report());
  EXPECT_EQ(result_of_call(session, "k"), R"(stored "k")");
  EXPECT_EQ(result_of_call(session), "precious");
}

TEST_F(SessionNotes, OtherSessionsOfTheAgent_DoNotSeeThem) {
  const Tool kv = kv_tool();
  Session one = session_of(notes(putting("card", "4111") + getting("card"), kv));
  Session other = session_of(notes(getting("card"), kv));
  ASSERT_TRUE(one.ask("note it"));
  ASSERT_TRUE(other.ask("what is it?"));
  EXPECT_EQ(result_of_call(other), R"(there is no "card")");
  ASSERT_TRUE(one.ask("what is it?"));
  EXPECT_EQ(result_of_call(one), "4111");
}

TEST_F(SessionNotes, SubAgent_HasItsOwn) {
  const Tool kv = kv_tool();
  std::string seen;
  Agent below = notes(getting("k") + putting("k", "of the sub-agent"), kv);
  below.id("below").on("tool.completed", [&seen](const Event& event) {
    if (const auto* done = std::get_if<events::ToolCompleted>(&event.body)) seen = done->text;
  });
  Agent lead = scripted(
      R"({"tool_calls":[{"name":"kv","id":"k","arguments":{"op":"put","key":"k","value":"of the lead"}}]}
{"tool_calls":[{"name":"work","id":"w","arguments":{"prompt":"go"}}]}
)" + getting("k"));
  Session session = session_of(lead.use(kv).use(below.as_tool("work", "Does the work")));
  ASSERT_TRUE(session.ask("go"));
  EXPECT_EQ(seen, R"(there is no "k")");
  EXPECT_EQ(result_of_call(session), "of the lead");
}

TEST_F(SessionNotes, Fork_HasThoseOfTheSharedPart) {
  const std::string script = putting("k", "before") + putting("k", "after") + getting("k");
  Session session = session_of(notes(script));
  ASSERT_TRUE(session.ask("one"));
  const std::uint64_t seq = session.last_result().last_seq;
  ASSERT_TRUE(session.ask("two"));
  const auto fork = fork_session(*journal_, runtime_->environment(), session.session_id(), seq);
  ASSERT_TRUE(fork) << fork.error().message;
  Session forked = reopened(*fork, notes(putting("unused", "") + getting("k")));
  ASSERT_TRUE(forked.ask("what was it?"));
  EXPECT_EQ(result_of_call(forked), "before");
}

TEST_F(SessionNotes, Rewind_TakesBackThoseOfTheRemovedTurns) {
  Session session = session_of(notes(putting("k", "first") + putting("k", "second") + getting("k")));
  ASSERT_TRUE(session.ask("one"));
  ASSERT_TRUE(session.ask("two"));
  ASSERT_TRUE(session.rewind(TurnId{"t2"}));
  ASSERT_TRUE(session.ask("what was it?"));
  EXPECT_EQ(result_of_call(session), "first");
}

TEST_F(SessionNotes, CallsOfPythonCode_AreNotesToo) {
  PythonToolOptions options;
  options.sandbox = std::nullopt;
  PolicyRules allow_python;
  allow_python.allow = {"python"};
  const std::string code = "kv(op='put', key='k', value='from code')\\nprint(kv(op='get', key='k')['value'])";
  Session session = session_of(notes(R"({"tool_calls":[{"name":"python","id":"p","arguments":{"code":")" +
                                     code + "\"}}]}\n" + getting("k"))
                                   .use(python_tool(std::move(options)))
                                   .policy(allow_python));
  ASSERT_TRUE(session.ask("go"));
  EXPECT_THAT(result_of_call(session, "p"), HasSubstr("from code"));
  EXPECT_EQ(result_of_call(session), "from code");
}

TEST_F(SessionNotes, SharedTool_IsSharedByTheSessionsThatHoldIt) {
  const Tool kv = shared_kv_tool();
  Session one = session_of(notes(putting("k", "for all"), kv)), other = session_of(notes(getting("k"), kv));
  ASSERT_TRUE(one.ask("note it"));
  ASSERT_TRUE(other.ask("what is it?"));
  EXPECT_EQ(result_of_call(other), "for all");
}

}  // namespace
}  // namespace praxis::testing
