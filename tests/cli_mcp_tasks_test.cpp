// Agents with MCP servers whose calls are tasks (tests/mcp/task_server.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "mcp_agent.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliMcpTasks : public CliMcp, public ::testing::WithParamInterface<const char*> {
 protected:
  /// An agent that calls a tool and waits for its task.
  void waiting_for(const std::string& tool, const std::string& more = "",
                   const std::string& rules = "allow = [\"fix__*\"]") const {
    agent(GetParam(),
          R"({"tool_calls": [{"name": "fix__)" + tool +
              R"(", "arguments": {}}]})"
              "\n" +
              calls("await_task", R"({"task": "task-1"})"),
          more, rules, "task_server.py");
  }
  /// Starts a run, waits until the server has noted the line, and sends the signal.
  void signal_at(const std::string& line, int signal) {
    Process process(command({"run", "agent.toml", "go"}), options_);
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!contents("notes/calls").contains(line) && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    process.signal(signal);
    process.finish();
  }
};

TEST_P(CliMcpTasks, HandleIsTheRecordedResult_AndTheNextCallWaits) {
  waiting_for("build");
  EXPECT_THAT(praxis({"mcp", "list", "agent.toml"}).out, HasSubstr("fix__await_task"));
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(shown(), AllOf(HasSubstr("fix__await_task with"), HasSubstr("built")));
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "without the server";
}

TEST_P(CliMcpTasks, KilledRun_WaitsForTheSameTaskAndStartsNoOther) {
  waiting_for("build");
  file("notes/calls.gate", "");
  signal_at("get task-1\n", SIGKILL);
  std::filesystem::remove(folder_ / "notes/calls.gate");
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 0) << resumed.out << resumed.err;
  EXPECT_THAT(shown(), HasSubstr("built"));
  const std::string notes = contents("notes/calls");
  EXPECT_EQ(notes.find("call build"), notes.rfind("call build")) << notes;
  EXPECT_THAT(notes, Not(HasSubstr("cancel")));
}

TEST_P(CliMcpTasks, StoppedRun_CancelsTheTask) {
  waiting_for("build");
  file("notes/calls.gate", "");
  signal_at("get task-1\n", SIGINT);
  EXPECT_THAT(contents("notes/calls"), HasSubstr("cancel task-1"));
}

TEST_P(CliMcpTasks, InputRequired_IsAParkedQuestionThatAnotherProcessAnswers) {
  waiting_for("shirt");
  const CommandResult asked = praxis({"run", "agent.toml", "go"});
  ASSERT_EQ(asked.status, 3) << asked.err;
  const CommandResult waiting = praxis({"approve", "last/p1"});
  EXPECT_THAT(waiting.out + waiting.err,
              AllOf(HasSubstr("The MCP server \"fix\" asks: Which size?"), HasSubstr(R"(one of ["S","L"])")));
  const CommandResult done = praxis({"resume", "last", "--answer", "p1=L"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(shown(), HasSubstr(R"(\"size\": \"L\")"));
  const std::string notes = contents("notes/calls");
  EXPECT_EQ(notes.find("call shirt"), notes.rfind("call shirt")) << notes;
}

TEST_P(CliMcpTasks, RulesJudgeTheCallThatBeginsTheTask) {
  waiting_for("build", "", "deny = [\"fix__build\"]\nask = [\"fix__shirt\"]");
  praxis({"run", "agent.toml", "go"});
  EXPECT_THAT(contents("notes/calls"), Not(HasSubstr("call build")));
}

INSTANTIATE_TEST_SUITE_P(Eras, CliMcpTasks, ::testing::Values("modern", "handshake"));

// ---- agents as tasks for clients of `praxis mcp serve`

class CliMcpServeTasks : public CliMcp {
 protected:
  void SetUp() override {
    model_agent("greeter", "{\"text\": \"Hello there.\"}\n");
    model_agent("asker",
                R"({"tool_calls": [{"name": "ask_user", "arguments": {"question": "Which colour?"}}]})"
                "\n{\"text\": \"Thank you.\"}\n",
                "[tools.ask_user]\n");
    file(kAgents + "sleeper.toml", "[[plan]]\nid = \"s\"\nsleep_ms = 3600000\n");
    file(kAgents + "napper.toml",
         "[[plan]]\nid = \"s\"\nsleep_ms = 500\n[[plan]]\nid = \"e\"\nfinish = \"Rested.\"\n");
  }
  void model_agent(const std::string& name, const std::string& script, const std::string& more = "") const {
    const auto lines = file("scripts/" + name + ".jsonl", script);
    file(kAgents + name + ".toml", "model = \"script:" + lines.string() + "\"\n" + more);
  }
  CommandResult tasks(const std::string& scenario) const {
    return run({"python3", kMcpFolder + "/client.py", scenario, PRAXIS_BINARY_DIR "/praxis", "mcp", "serve",
                "greeter", "sleeper", "asker", "napper"},
               options_);
  }
  static inline const std::string kAgents = "config/praxis/agents/";
};

TEST_F(CliMcpServeTasks, CallIsATaskThatIsFetchedOrCancelled) {
  const CommandResult served = tasks("tasks");
  EXPECT_EQ(served.status, 0) << served.err << served.out;
  EXPECT_THAT(served.out, AllOf(HasSubstr(R"("resultType": "task")"), HasSubstr(R"("text": "Hello there.")"),
                                HasSubstr(R"(there is no task \"nothing\")"), HasSubstr("-32021")));
  EXPECT_THAT(praxis({"logs", "last", "--json"}).out, HasSubstr("turn.cancelled"));
}

TEST_F(CliMcpServeTasks, KilledServer_GoesOnWithTheTaskAndItsQuestion) {
  const CommandResult served = tasks("tasks-kill");
  EXPECT_EQ(served.status, 0) << served.err << served.out;
  EXPECT_THAT(served.out, AllOf(HasSubstr("Which colour?"), HasSubstr("Thank you.")));
  const CommandResult shown = praxis({"show", "last"});
  EXPECT_THAT(shown.out, HasSubstr("blue"));
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliMcpServeTasks, EndOfInput_LeavesTheTaskForTheNextServer) {
  const CommandResult served = tasks("tasks-end");
  EXPECT_EQ(served.status, 0) << served.err << served.out;
  EXPECT_THAT(served.out, HasSubstr("Rested."));
}

}  // namespace
}  // namespace praxis::testing
