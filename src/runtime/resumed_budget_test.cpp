// Limits of a turn that continues after its process died: what its sub-agents used before counts.
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

class ResumedBudgetTest : public Scripted {
 protected:
  /// A session that does not keep its runtime alive.
  Session homeless(Agent agent) {
    auto session = runtime_->create_session(agent.runtime(nullptr));
    if (!session) throw std::runtime_error(session.error().message);
    return *session;
  }
  State state_of(const SessionId& id) { return *fold(*read_records(*journal_, id)); }
  static Tool repeatable(Tool tool) {
    tool.definition.idempotent = true;
    return tool;
  }
};

constexpr std::string_view kTwoEchoes = R"({"tool_calls": [{"name": "echo", "arguments": {"text": "a"}}, )"
                                        R"({"name": "echo", "arguments": {"text": "b"}}]}
{"text": "done"})";
constexpr std::string_view kWorkHoldEcho =
    R"({"tool_calls": [{"name": "work", "arguments": {"prompt": "go"}}]}
{"tool_calls": [{"name": "hold"}]}
{"tool_calls": [{"name": "echo", "arguments": {"text": "one too many"}}]}
{"text": "done"})";

TEST_F(ResumedBudgetTest, ToolCallsOfSubAgentsFromBeforeTheCrash_Count) {
  const auto agent = [this](const BlockedTool& hold) {
    const Agent below = scripted(kTwoEchoes).id("below").use(echo_tool());
    return scripted(kWorkHoldEcho)
        .use(below.as_tool("work", "Does the work"))
        .use(repeatable(hold.tool("hold", true)))
        .use(echo_tool())
        .limits(limit(&Limits::max_tool_calls, 4U));
  };
  const BlockedTool first, second;
  Session session = homeless(agent(first));
  const SessionId id = session.session_id();
  auto run = session.send_user_message("go");
  first.entered->wait();
  start_new_process();
  second.release->open();
  auto again = runtime_->open_session(id, agent(second).runtime(nullptr));
  ASSERT_TRUE(again);
  const AgentResult result = checked(again->resume().report());
  EXPECT_EQ(result.reason, StopReason::kMaxToolCalls) << result.text;
  EXPECT_EQ(state_of(id).subtree_calls(), 4U);
}

constexpr std::string_view kQuick = R"({"tool_calls": [{"name": "gate"}], "usage": {"input": 1, "output": 1}}
{"text": "spent", "usage": {"input": 600, "output": 600}})";
constexpr std::string_view kSlow = R"({"tool_calls": [{"name": "hold"}], "usage": {"input": 1, "output": 1}}
{"text": "done", "usage": {"input": 1, "output": 1}})";
constexpr std::string_view kBoth =
    R"({"tool_calls": [{"id": "q", "name": "quick", "arguments": {"prompt": "go"}}, )"
    R"({"id": "s", "name": "slow", "arguments": {"prompt": "go"}}], "usage": {"input": 1, "output": 1}})";

TEST_F(ResumedBudgetTest, ResultThatTheLogAboveLacks_CountsForTheOthers) {
  const BlockedTool gate, first, second;
  const auto agent = [&](const BlockedTool& hold) {
    const Agent quick = scripted(kQuick).id("quick").use(gate.tool("gate", true));
    const Agent slow = scripted(kSlow).id("slow").use(repeatable(hold.tool("hold", true)));
    return scripted(kBoth)
        .use(quick.as_tool("quick", "Is quick"))
        .use(slow.as_tool("slow", "Is slow"))
        .limits(limit(&Limits::max_tokens, std::int64_t{1000}));
  };
  Session session = homeless(agent(first));
  const SessionId id = session.session_id();
  journal_->fail_append_of("child_settled");
  auto run = session.send_user_message("go");
  first.entered->wait();
  gate.release->open();
  EXPECT_FALSE(run.report()) << "the disk is full";
  start_new_process();
  auto again = runtime_->open_session(id, agent(second).runtime(nullptr));
  ASSERT_TRUE(again);
  auto resumed = again->resume();
  second.entered->wait();
  while (state_of(id).turn_calls() == 2) std::this_thread::yield();
  second.release->open();
  EXPECT_EQ(checked(resumed.report()).reason, StopReason::kTokenLimit);
  const auto rows = *journal_->sessions(0);
  for (const SessionRow& row : rows) {
    EXPECT_EQ(row.status, row.agent == "quick" ? "completed" : "error") << row.agent;
  }
}

}  // namespace
}  // namespace praxis::testing
