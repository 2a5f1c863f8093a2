// Calls that wait for sub-agents, approvers or calls within them take no worker from other calls.
#include <filesystem>
#include <iterator>

#include "base/executor_end.hpp"
#include "praxis/tools/fork_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

class WorkersTest : public Scripted {
 protected:
  /// Two workers, so that a few waiting calls would take them all.
  WorkersTest() {
    RuntimeOptions options;
    options.executor = make_executor(2);
    use_runtime(std::move(options));
  }

  /// Waits for the end of the runtime: what it still closes would count as threads of the next test.
  void TearDown() override {
    Scripted::TearDown();
    const ExecutorEnd end(runtime_->model_services().executor);
    runtime_.reset();
    EXPECT_TRUE(end.wait(std::chrono::minutes(1)));
  }

  static std::ptrdiff_t threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  }

  /// An agent that makes `width` calls of `tool` at once, which takes one argument, and then ends.
  Agent calling(const Tool& tool, const std::string& argument, int width, const std::string& id) {
    std::string calls;
    for (int i = 0; i < width; ++i) {
      const std::string n = std::to_string(i);
      calls += (i == 0 ? "" : ",") + (R"({"id":")" + n + R"(","name":")" + tool.definition.name) +
               R"(","arguments":{")" + argument + R"(":"part )" + n + R"("}})";
    }
    Agent agent = scripted(R"({"tool_calls":[)" + calls + "]}\n{\"text\":\"done\"}");
    return agent.id(id).use(tool);
  }
};

TEST_F(WorkersTest, TreeThatIsWiderThanThePool_Ends) {
  Agent agent = calling(echo_tool(), "text", 1, "leaf");
  for (const char* id : {"low", "middle", "top"}) {
    agent = calling(agent.as_tool("work", "Does the work"), "prompt", 3, id);
  }
  Session session = session_of(agent);
  const AgentResult result = checked(session.ask("go"));
  EXPECT_TRUE(result.success) << result.text;
  const auto rows = *journal_->sessions(0);
  EXPECT_EQ(rows.size(), 1U + 3 + 9 + 27);
  for (const SessionRow& row : rows) {
    EXPECT_EQ(row.status, "completed") << row.agent;
  }
}

TEST_F(WorkersTest, TreeEightWideAndDeep_EndsAlsoWithHandlersThatWait) {
  for (const bool waits : {false, true}) {
    Agent agent = calling(echo_tool(), "text", 1, "leaf");
    for (const char* id : {"low", "middle", "top"}) {
      Tool work = agent.as_tool("work", "Does the work");
      // Around another one, the handler of a sub-agent waits for its turn.
      if (waits) work.handler = [inner = work.handler](ToolContext& c, const Json& a) { return inner(c, a); };
      agent = calling(work, "prompt", 8, id);
    }
    Session session = session_of(agent);
    EXPECT_TRUE(checked(session.ask("go")).success);
  }
  const auto rows = *journal_->sessions(0);
  EXPECT_EQ(rows.size(), 2 * (1U + 8 + 64 + 512));
  for (const SessionRow& row : rows) EXPECT_EQ(row.status, "completed") << row.agent;
}

TEST_F(WorkersTest, TreeFourWideAndSixDeep_Ends) {
  Agent agent = calling(echo_tool(), "text", 1, "leaf");
  std::size_t sessions = 1;
  std::vector<const char*> levels{"f", "e", "d", "c", "b", "a"};
  if (PRAXIS_SANITIZED) levels.pop_back();  // a quarter of the sessions, which wait and run as the rest do
  for (const char* id : levels) {
    agent = calling(agent.as_tool("work", "Does the work"), "prompt", 4, id);
    sessions = 1 + 4 * sessions;
  }
  Session session = session_of(agent);
  EXPECT_TRUE(checked(session.ask("go")).success);
  const auto rows = *journal_->sessions(0);
  EXPECT_EQ(rows.size(), sessions);
  for (const SessionRow& row : rows) EXPECT_EQ(row.status, "completed") << row.agent;
}

TEST_F(WorkersTest, SubAgentsThatWaitForApprovals_DoNotHoldUpOtherSessions) {
  const Agent waiting = above(calling(echo_tool(), "text", 1, "below").policy(asking({"echo"})), "above");
  std::vector<praxis::Run> runs;
  for (int i = 0; i < 6; ++i) runs.push_back(session_of(waiting).send_user_message("go"));
  for (praxis::Run& run : runs) {
    EXPECT_EQ(checked(run.report()).pending.size(), 1U);
  }
  Session other = session_of(calling(echo_tool(), "text", 3, "other"));
  EXPECT_TRUE(checked(other.ask("go")).success);
}

TEST_F(WorkersTest, HandlersThatCallTools_LeaveThemTheWorkers) {
  const Tool outer = host_tool("outer", [](ToolContext& context, const Json&) -> Result<ToolOutput> {
    return context.call_tool("echo", JsonObject{{"text", "inside"}});
  });
  Agent agent = calling(outer, "part", 6, "caller").use(echo_tool());
  Session session = session_of(agent);
  const AgentResult result = checked(session.ask("go"));
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.actions.size(), 2 * 6U) << "each with the call within it";
}

TEST_F(WorkersTest, CallsThatWaitForSubAgents_HoldNoThread) {
  const Agent below = calling(echo_tool(), "text", 1, "below").policy(asking({"echo"}));
  const Agent waiting = calling(below.as_tool("work", "Does the work"), "prompt", 1, "above");
  std::vector<Session> sessions;
  std::vector<praxis::Run> runs;
  constexpr std::size_t kRoots = 2000;
  for (std::size_t i = 0; i < kRoots; ++i) {
    sessions.push_back(session_of(waiting));
    runs.push_back(sessions.back().send_user_message("go"));
  }
  std::vector<ParkId> steps;
  for (praxis::Run& run : runs) {
    const AgentResult result = checked(run.result());
    ASSERT_EQ(result.pending.size(), 1U);
    steps.push_back(result.pending.front().id);
  }
  EXPECT_LT(threads(), 50);
  Session other = session_of(calling(echo_tool(), "text", 1, "other"));
  EXPECT_TRUE(checked(other.ask("go")).success);
  for (std::size_t i = 0; i < kRoots; i += 100) {
    EXPECT_EQ(checked(sessions[i].resume({{steps[i], approve()}}).result()).text, "done");
  }
}

TEST_F(WorkersTest, ForksThatWaitForApprovals_HoldNoThread) {
  const std::string lines = R"({"asked": "ask", "tool_calls": [{"name": "echo", "arguments": {"text": "a"}}]}
{"tool_calls": [{"id": "f", "name": "fork", "arguments": {"prompt": "ask"}}]}
{"text": "done"})";
  Agent agent = scripted(lines);
  agent.use(fork_tool()).use(echo_tool()).policy(asking({"echo"}));
  std::vector<Session> sessions;
  for (int i = 0; i < 100; ++i) sessions.push_back(session_of(agent));
  std::vector<praxis::Run> runs;
  for (Session& session : sessions) runs.push_back(session.send_user_message("go"));
  for (praxis::Run& run : runs) {
    EXPECT_EQ(checked(run.result()).pending.size(), 1U);
  }
  EXPECT_LT(threads(), 50);
}

TEST_F(WorkersTest, HandlersOfQuestions_TakeNoWorkerFromOtherSessions) {
  const auto answered = std::make_shared<Gate>();
  const auto asked = std::make_shared<std::atomic<int>>(0);
  const auto expired = std::make_shared<std::atomic<int>>(0);
  runtime_->set_approval_handler(
      [answered, asked, expired](const ParkedStep&, const std::stop_token&) -> std::optional<Approval> {
        ++*asked;
        if (!answered->wait_briefly()) ++*expired;
        return approve();
      });
  const Agent waiting = calling(echo_tool(), "text", 1, "waiting").policy(asking({"echo"}));
  std::vector<praxis::Run> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(session_of(waiting).send_user_message("go"));
  Session other = session_of(calling(echo_tool("quick"), "text", 1, "other"));
  EXPECT_TRUE(checked(other.ask("go")).success);
  EXPECT_EQ(*expired, 0) << "the tool ran while the handlers waited";
  answered->open();
  for (praxis::Run& run : runs) {
    EXPECT_TRUE(checked(run.result()).success);
  }
  EXPECT_EQ(*asked, 4);
}

TEST_F(WorkersTest, HandlerInTwoHalves_GetsTheReportsInOrder) {
  Tool both = host_tool("both", nullptr);
  both.handler = ContinuingHandler{
      [](ToolContext& context, const Json&) -> Result<std::vector<SubAgent>> {
        std::vector<SubAgent> agents{context.spawn("", "First."), context.spawn("", "Second.")};
        if (auto started = agents[0].start("bad"); !started) return fail(started.error());
        if (auto started = agents[1].start("good"); !started) return fail(started.error());
        return agents;
      },
      [](ToolContext&, const Json& arguments,
         std::vector<Result<AgentResult>> reports) -> Result<ToolOutput> {
        if (reports.at(0)->success) return fail(ErrorCode::kTool, "the first has a model that fails");
        return says(json_string(arguments, "part") + " is " + reports.at(1)->text);
      }};
  Agent agent = scripted(R"({"asked": "bad", "error": {"code": "invalid_request", "status": 400}}
{"asked": "good", "text": "well", "delay_ms": 5}
{"tool_calls": [{"id": "t", "name": "both", "arguments": {"part": "all"}}]}
{"text": "done"})");
  Session session = session_of(agent.use(both));
  EXPECT_TRUE(checked(session.ask("go")).success);
  EXPECT_EQ(result_for(session.history(), "t").text, "all is well");
}

TEST_F(WorkersTest, HandlerAroundASubAgent_SeesItsResult) {
  const Agent below = scripted(R"({"text":"inner"})").id("below");
  Tool around = below.as_tool("work", "Does the work");
  around.handler = [inner = around.handler](ToolContext& context, const Json& arguments) {
    auto output = inner(context, arguments);
    if (output) output->text += " and outer";
    return output;
  };
  Session session = session_of(calling(around, "prompt", 1, "above"));
  EXPECT_TRUE(checked(session.ask("go")).success);
  EXPECT_EQ(result_for(session.history(), "0").text, "inner and outer");
}

}  // namespace
}  // namespace praxis::testing
