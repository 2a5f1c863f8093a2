// The runtime of an agent that a program made with `Agent::journal`: it ends with the last handle, unless a
// turn works.
#include <gmock/gmock.h>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);

class OwnRuntimeTest : public Scripted {
 protected:
  /// An agent on a runtime of its own, on the journal of the test.
  Agent apart(Agent agent) { return agent.runtime(nullptr).journal(journal_); }
  /// One whose sub-agent calls `tool` once.
  Agent tree(Tool tool) {
    Agent below = scripted(R"({"tool_calls": [{"id": "c", "name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done below"})");
    return apart(above(below.id("below").use(std::move(tool)), "lead"));
  }
  Agent asking_tree() {
    Tool tool = echo_tool();
    tool.approval_when = [](const Json&) { return true; };
    return tree(std::move(tool));
  }
  /// Whether a runtime lets go of the session.
  bool is_left(const SessionId& session) {
    for (const auto until = std::chrono::steady_clock::now() + kPatience;
         std::chrono::steady_clock::now() < until; std::this_thread::yield()) {
      const auto lease = journal_->acquire(session, false);
      if (!lease) continue;
      journal_->release(*lease);
      return true;
    }
    return false;
  }
  std::string recorded(const SessionId& session) { return journal_->session(session)->status; }
};

TEST_F(OwnRuntimeTest, EndsWithTheLastHandle_WhileATreeWaitsForAPerson) {
  SessionId root;
  {
    praxis::Run run = asking_tree().stream("go");
    root = run.session_id();
    EXPECT_EQ(checked(run.report()).status, SessionStatus::kAwaitingUser);
    EXPECT_FALSE(journal_->acquire(root, false)) << "a handle keeps the runtime";
  }
  ASSERT_TRUE(is_left(root));
  const AgentResult waits = checked(asking_tree().resume(root));
  ASSERT_EQ(waits.pending.size(), 1U);
  EXPECT_EQ(checked(asking_tree().resume(root, {{waits.pending[0].id, approve()}})).text, "done");
}

TEST_F(OwnRuntimeTest, WorksOnWithoutHandles_UntilTheTurnHasEnded) {
  const BlockedTool hold;
  const SessionId root = tree(hold.tool("echo", false)).stream("go").session_id();
  hold.entered->wait();
  hold.release->open();
  ASSERT_TRUE(is_left(root));
  EXPECT_EQ(recorded(root), "completed");
}

TEST_F(OwnRuntimeTest, WorksOnAfterADecision_WithoutHandles) {
  SessionId root;
  {
    Session session = session_of(asking_tree());
    root = session.session_id();
    const AgentResult waits = checked(session.send_user_message("go").report());
    ASSERT_EQ(waits.pending.size(), 1U);
    ASSERT_TRUE(session.decide(waits.pending[0].id, approve()));
  }
  ASSERT_TRUE(is_left(root));
  EXPECT_EQ(recorded(root), "completed");
}

TEST_F(OwnRuntimeTest, StopEndsATurn_WhoseRunWasDropped) {
  const BlockedTool hold;
  std::stop_source stop;
  const SessionId root = tree(hold.tool("echo", true)).stream("go", stop.get_token()).session_id();
  hold.entered->wait();
  stop.request_stop();
  ASSERT_TRUE(is_left(root));
  EXPECT_EQ(recorded(root), "cancelled");
}

}  // namespace
}  // namespace praxis::testing
