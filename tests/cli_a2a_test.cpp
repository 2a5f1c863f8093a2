// Agents that give work to remote agents by A2A: those of `praxis serve`, and the scripted one of tests/a2a.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include "noted_lines.hpp"
#include "served_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliA2a : public ServedCommandLine {
 protected:
  /// Writes `agent.toml`, which asks the remote agent at `url` once.
  void caller(const std::string& url, const std::string& rules = "allow = [\"far__send\"]",
              const std::string& more = "") const {
    file("script.jsonl", R"({"tool_calls": [{"name": "far__ask", "arguments": {"message": "Hi"}}]})"
                         "\n"
                         R"({"text": "DONE"})"
                         "\n");
    file("agent.toml", "id = \"tester\"\nmodel = \"script:script.jsonl\"\n[policy]\n" + rules +
                           "\n[tools.a2a.far]\nurl = \"" + url + "\"\n" + more);
  }
  /// Starts the scripted agent and writes the caller of it.
  void scripted(const std::string& behaviour, const std::string& rules = "allow = [\"far__send\"]",
                const std::string& more = "") {
    ProcessOptions options = options_;
    options.env["STAY"] = "1";
    remote_ = std::make_unique<Process>(
        std::vector<std::string>{"python3", PRAXIS_SOURCE_DIR "/tests/a2a/server.py", behaviour,
                                 (folder_ / "log").string()},
        options);
    ASSERT_TRUE(remote_->prints("\n"));
    const std::string port = remote_->output.substr(0, remote_->output.find('\n'));
    caller("http://127.0.0.1:" + port + "/agent", rules, more);
  }
  /// An agent of `praxis serve` with this script.
  void served_agent(const std::string& script, const std::string& more = "") const {
    file("greeter.jsonl", script + "\n");
    file("config/praxis/agents/greeter.toml", "model = \"script:greeter.jsonl\"\n" + more);
  }
  std::string served_url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/a2a/greeter"; }
  std::string shown() const { return praxis({"logs", "last", "--json"}).out; }
  std::string log() const { return contents("log"); }
  void await_log(const std::string& line) const { await_line(folder_ / "log", line); }
  int count(const std::string& text) const { return occurrences(log(), text); }
  /// Runs the caller and kills it when the remote agent has noted `line`.
  void kill_at(const std::string& line) const {
    Process process(command({"run", "agent.toml", "go"}), options_);
    await_log(line);
    process.signal(SIGKILL);
    process.finish();
  }

  std::unique_ptr<Process> remote_;
};

TEST_F(CliA2a, AgentOfAServer_AnswersAsATool) {
  served_agent(R"({"text": "Hello from afar."})");
  const auto server = serve();
  options_.env["FAR_TOKEN"] = kServedToken;
  caller(served_url(), "allow = [\"far__send\"]", "token_env = \"FAR_TOKEN\"\n");
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(shown(), AllOf(HasSubstr("Hello from afar."), HasSubstr("far__send"), HasSubstr("far__ask"),
                             Not(HasSubstr(kServedToken))));
  server->signal(SIGTERM);
  EXPECT_EQ(server->finish(), 0);
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "without the remote agent";
}

TEST_F(CliA2a, RemoteAgentThatWaitsForAPerson_AsksTheOneOfTheCaller) {
  served_agent(R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "b"}}]})"
               "\n"
               R"({"text": "Stored."})",
               "[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  const auto server = serve();
  options_.env["FAR_TOKEN"] = kServedToken;
  caller(served_url(), "allow = [\"far__send\"]", "token_env = \"FAR_TOKEN\"\n");
  const CommandResult asked = praxis({"run", "agent.toml", "go"});
  ASSERT_EQ(asked.status, 3) << asked.err;
  EXPECT_THAT(asked.err, AllOf(HasSubstr("The remote agent \"far\" asks:"), HasSubstr("kv")));
  const CommandResult done = praxis({"resume", "last", "--answer", "p1=allow"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(shown(), HasSubstr("Stored."));
}

TEST_F(CliA2a, RunKilledWhileTheTaskWorks_TakesItUpAgain) {
  scripted("streaming");
  kill_at("SubscribeToTask t1");
  file("log.open", "");
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 0) << resumed.out << resumed.err;
  EXPECT_THAT(shown(), HasSubstr("Done: Hi"));
  EXPECT_EQ(count("SendMessage"), 1);
  EXPECT_EQ(count("CancelTask"), 0);
}

TEST_F(CliA2a, RunKilledWhileItSends_ParksTheSendingInDoubt) {
  scripted("silent");
  kill_at("SendMessage new");
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 3) << resumed.out << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("far__send"));
  EXPECT_EQ(count("SendMessage"), 1);
}

TEST_F(CliA2a, InterruptedRun_CancelsTheTask) {
  scripted("streaming");
  Process process(command({"run", "agent.toml", "go"}), options_);
  await_log("SubscribeToTask t1");
  process.signal(SIGINT);
  process.finish();
  await_log("CancelTask t1");
}

TEST_F(CliA2a, TaskWithoutStreams_IsAskedForUntilItEnds) {
  scripted("usual");
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(shown(), HasSubstr("Done: Hi"));
}

TEST_F(CliA2a, EqualAnswersToTwoQuestions_AreBothSentOnce) {
  scripted("asking-twice");
  ASSERT_EQ(praxis({"run", "agent.toml", "go"}).status, 3);
  const CommandResult second = praxis({"resume", "last", "--answer", "p1=L"});
  ASSERT_EQ(second.status, 3) << second.err;
  EXPECT_THAT(second.err, Not(HasSubstr("\x1b[31m")));
  const CommandResult done = praxis({"resume", "last", "--answer", "p2=L"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(shown(), HasSubstr("Done: Hi L L"));
  EXPECT_EQ(count("SendMessage"), 3);
}

TEST_F(CliA2a, DeclinedQuestion_CancelsTheTask) {
  scripted("asking");
  ASSERT_EQ(praxis({"run", "agent.toml", "go"}).status, 3);
  EXPECT_EQ(praxis({"resume", "last", "--deny", "p1"}).status, 0);
  EXPECT_THAT(shown(), HasSubstr("did not answer it"));
  EXPECT_EQ(count("CancelTask t1"), 1);
}

TEST_F(CliA2a, RuleThatAsks_ShowsTheMessageOnce) {
  scripted("quick", "ask = [\"far__send\"]");
  const CommandResult asked = praxis({"run", "agent.toml", "go"});
  ASSERT_EQ(asked.status, 3) << asked.err;
  EXPECT_THAT(praxis({"approve", "last/p1"}).out, AllOf(HasSubstr("far__send"), HasSubstr("Hi")));
  EXPECT_EQ(log(), "") << "nothing is sent before the approval, not even for the card";
  EXPECT_EQ(praxis({"resume", "last", "--allow", "p1"}).status, 0);
  EXPECT_EQ(count("SendMessage"), 1);
}

TEST_F(CliA2a, FailureOfTheTask_IsAFailedCallWithItsReason) {
  for (const char* behaviour : {"failing", "refusing"}) {
    scripted(behaviour);
    EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 0) << "the model reads it";
    EXPECT_THAT(shown(), HasSubstr(std::string(behaviour) == "failing" ? "it is not possible" : "-32602"));
  }
}

TEST_F(CliA2a, TableWithoutARuleOrAVariable_IsRefused) {
  const auto why = [&](const std::string& rules, const std::string& more) {
    caller("https://far.example/agent", rules, more);
    const CommandResult run = praxis({"run", "agent.toml", "go"});
    EXPECT_EQ(run.status, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(why("allow = [\"far__ask\"]", ""), HasSubstr("name \"far__send\" in policy.ask"));
  EXPECT_THAT(why("allow = [\"far__send\"]", "token_env = \"NOT_SET_HERE\"\n"),
              HasSubstr("\"NOT_SET_HERE\""));
  EXPECT_THAT(why("allow = [\"far__send\"]", "headers_env = {Host = \"HOME\"}\n"),
              HasSubstr("set by the client"));
  EXPECT_THAT(why("allow = [\"far__send\"]", "headers_env = {X = 1}\n"), HasSubstr("environment variable"));
}

}  // namespace
}  // namespace praxis::testing
