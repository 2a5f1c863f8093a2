// Sub-agents that a process left in a turn which no call will resume: they are closed with the turn above.
#include <map>

#include "journal/testing/journals.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/runtime/commands.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

constexpr std::string_view kHoldThenText =
    R"({"tool_calls": [{"id": "h", "name": "hold"}], "usage": {"input": 70, "output": 7}}
{"text": "done"})";

class LeftAgentsTest : public Scripted {
 protected:
  /// Starts a turn of `agent` and destroys its process when the tool `hold` runs.
  SessionId cut_off(Agent agent, const BlockedTool& hold) {
    auto session = runtime_->create_session(agent.runtime(nullptr));
    if (!session) throw std::runtime_error(session.error().message);
    auto run = session->send_user_message("go");
    hold.entered->wait();
    const SessionId id = session->session_id();
    start_new_process();
    return id;
  }
  /// `leaf` below two agents; the calls of these may be repeated only if `idempotent`.
  Agent chain(const Agent& leaf, bool idempotent) {
    Agent agent = leaf;
    for (const char* id : {"middle", "top"}) {
      Tool work = agent.as_tool("work", "Does the work");
      work.definition.idempotent = idempotent;
      agent = scripted(R"({"tool_calls": [{"id": "w", "name": "work", "arguments": {"prompt": "go"}}]}
{"text": "done"})");
      agent.id(id).use(work);
    }
    return agent.runtime(nullptr);
  }
  Agent leaf(const BlockedTool& hold) {
    return scripted(kHoldThenText).id("leaf").use(hold.tool("hold", true)).runtime(nullptr);
  }
  std::map<std::string, std::string> statuses() {
    JournalTree tree(journal_, {});
    EXPECT_TRUE(tree.refresh());
    std::map<std::string, std::string> statuses;
    for (const AgentNode& node : tree.nodes()) statuses[node.agent] = to_string(node.status);
    return statuses;
  }
};

using Statuses = std::map<std::string, std::string>;

TEST_F(LeftAgentsTest, TurnStoppedWhileNoProcessHasIt_ClosesAllBelow) {
  const BlockedTool hold;
  const SessionId root = cut_off(chain(leaf(hold), true), hold);
  EXPECT_EQ(statuses(),
            (Statuses{{"top", "interrupted"}, {"middle", "interrupted"}, {"leaf", "interrupted"}}));
  const auto stopped = deliver(*journal_, *system_environment(), Commands{{CommandVerb::kInterrupt, root}});
  ASSERT_TRUE(stopped && std::holds_alternative<Delivered>(*stopped));
  EXPECT_EQ(statuses(), (Statuses{{"top", "cancelled"}, {"middle", "cancelled"}, {"leaf", "cancelled"}}));
  const State state = *fold(*read_records(*journal_, root));
  ASSERT_TRUE(state.last);
  EXPECT_GE(state.last->usage_children.total(), 77) << "with what the sub-agents used";
}

TEST_F(LeftAgentsTest, TurnStoppedAfterItWasOpenedAgain_ClosesAllBelow) {
  const BlockedTool hold;
  const SessionId root = cut_off(chain(leaf(hold), false), hold);
  auto session = runtime_->open_session(root, chain(leaf(hold), false).runtime(nullptr));
  ASSERT_TRUE(session);
  session->interrupt();
  while (session->status() == SessionStatus::kRunning) std::this_thread::yield();
  const AgentResult result = session->last_result();
  EXPECT_EQ(result.reason, StopReason::kCancelled);
  EXPECT_GE(result.usage_children.total(), 77);
  EXPECT_EQ(statuses(), (Statuses{{"top", "cancelled"}, {"middle", "cancelled"}, {"leaf", "cancelled"}}));
}

TEST_F(LeftAgentsTest, CallInDoubtThatIsNotRepeated_ClosesItsSubAgents) {
  const BlockedTool hold;
  const SessionId root = cut_off(chain(leaf(hold), false), hold);
  auto session = runtime_->open_session(root, chain(leaf(hold), false).runtime(nullptr));
  ASSERT_TRUE(session);
  const AgentResult waiting = checked(session->resume().report());
  ASSERT_EQ(waiting.pending.size(), 1U);
  const AgentResult result = checked(session->resume({{waiting.pending.front().id, reject("no")}}).report());
  EXPECT_TRUE(result.success);
  EXPECT_GE(result.usage_children.total(), 77);
  EXPECT_EQ(statuses(), (Statuses{{"top", "completed"}, {"middle", "cancelled"}, {"leaf", "cancelled"}}));
}

TEST_F(LeftAgentsTest, QueuedMessagesOfASubAgent_BeginNoTurnAfterItsCall) {
  const BlockedTool hold;
  Session session = session_of(chain(leaf(hold), true).runtime(runtime_));
  auto run = session.send_user_message("go");
  hold.entered->wait();
  for (const AgentNode& node : runtime_->agent_tree()) {
    if (node.agent != "leaf") continue;
    for (const char* text : {"one", "two", "three"})
      ASSERT_TRUE(runtime_->command({{CommandVerb::kEnqueue, node.id, text}}));
  }
  run.interrupt();
  EXPECT_EQ(checked(run.report()).reason, StopReason::kCancelled);
  hold.release->open();
  run = session.send_user_message("again");  // after the call is over
  EXPECT_TRUE(run.report());
  const auto rows = *journal_->sessions(0);
  for (const SessionRow& row : rows) {
    const State state = *fold(*read_records(*journal_, row.id));
    EXPECT_FALSE(state.turn) << row.agent;
    EXPECT_EQ(state.next_turn, row.agent == "top" ? 3U : 2U) << row.agent;
  }
}

TEST_F(LeftAgentsTest, SubAgentBelowOneThatIsLeft_IsLeftToo) {
  const Agent speaker = scripted(R"({"text": "done"})").id("leaf");
  Session session = session_of(chain(speaker, true).runtime(runtime_));
  ASSERT_TRUE(session.ask("go"));
  for (SessionId above = session.session_id(); above != SessionId{};) {
    const auto children = *journal_->children(above);
    above = children.empty() ? SessionId{} : children.front().id;
    if (children.empty()) break;
    // As an earlier version left it when the log of a sub-agent could not be written.
    const Lease lease = *journal_->acquire(above, true);
    Append begun{
        .lease = lease, .expected_seq = children.front().entries, .entries = {}, .blobs = {}, .row = {}};
    begun.entries.push_back({"turn_started", UnixMillis{1}, R"({"turn":"t2"})"});
    ASSERT_TRUE(append_now(*journal_, std::move(begun)));
    journal_->release(lease);
  }
  EXPECT_EQ(statuses(), (Statuses{{"top", "completed"}, {"middle", "error"}, {"leaf", "error"}}));
}

}  // namespace
}  // namespace praxis::testing
