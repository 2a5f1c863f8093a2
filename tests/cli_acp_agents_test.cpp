// Agents of others as tools, over ACP: the scripted one of tests/acp, and `praxis acp` itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "command_line.hpp"
#include "noted_lines.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kAllow = "allow = [\"coder__ask\", \"coder__permission\"]";

constexpr int kDenied = 4;  ///< status of a run in which a call was denied

class CliAcpAgents : public CommandLine {
 protected:
  /// Writes an agent that asks the program once, with the folder `work`.
  void caller(const std::string& path, const std::string& command, const std::string& rules,
              const std::string& more) const {
    const auto script =
        file("script.jsonl", R"({"tool_calls": [{"name": "coder__ask", "arguments": {"prompt": "execute"}}]})"
                             "\n"
                             R"({"text": "DONE"})"
                             "\n");
    file("work/kept", "");
    file(path, "id = \"tester\"\nmodel = \"script:" + script.string() + "\"\n[policy]\n" + rules +
                   "\n[tools.acp.coder]\ncommand = [" + command + "]\nfolder = \"work\"\n" + more);
  }
  /// The same for the scripted agent.
  void scripted(const std::string& behaviour, const std::string& rules = kAllow,
                const std::string& path = "agent.toml") const {
    caller(path,
           "\"python3\", \"" PRAXIS_SOURCE_DIR "/tests/acp/agent.py\", \"" + behaviour + "\", \"" +
               (folder_ / "work/log").string() + '"',
           rules, "read = [\"" PRAXIS_SOURCE_DIR "/tests/acp\"]\nwrite = [\"work\"]\n");
  }
  std::string shown() const { return praxis({"logs", "last", "--json"}).out; }
  std::string log() const { return contents("work/log"); }
  void await_log(const std::string& line) const { await_line(folder_ / "work/log", line); }
  int count(const std::string& text) const { return occurrences(log(), text); }
};

TEST_F(CliAcpAgents, Rules_JudgeWhatTheAgentAsksPermissionFor) {
  const std::string rule = "allow = [\"coder__ask\"]\n[[policy.rules]]\nid = \"r\"\n";
  const std::string make = " = \"coder__permission\"\nwhen.\"input.command\" = { is = \"make\" }\n";
  for (const auto& [rules, said] : {std::pair{std::string(kAllow), "execute=once"},
                                    {rule + "allow" + make, "execute=once"},
                                    {rule + "deny" + make, "execute=no"},
                                    {kAllow + std::string("\ndeny = [\"coder__p*\"]"), "execute=no"}}) {
    scripted("permissions", rules);
    const CommandResult run = praxis({"run", "agent.toml", "go"});
    EXPECT_EQ(run.status, said == std::string("execute=no") ? kDenied : 0) << run.err;
    EXPECT_THAT(shown(), AllOf(HasSubstr(said), HasSubstr("coder__permission"))) << rules;
  }
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "without the program";
}

TEST_F(CliAcpAgents, RuleThatAsks_AHumanAnswersInAnEditor) {
  scripted("permissions", "allow = [\"coder__ask\"]\nask = [\"coder__permission\"]",
           "config/praxis/agents/lead.toml");
  const CommandResult talk = run({"python3", PRAXIS_SOURCE_DIR "/tests/acp/client.py", "allow",
                                  folder_.string(), PRAXIS_BINARY_DIR "/praxis", "acp", "lead"},
                                 options_);
  ASSERT_EQ(talk.status, 0) << talk.err << talk.out;
  std::string said;
  for (const Json& line : talk.lines()) {
    const std::string text = to_json_text(line);
    if (text.contains("session/request_permission")) said += "asked ";
    for (const char* option : {"execute=once", "execute=no"}) {
      if (text.contains(option) && text.contains("\"completed\"")) said += std::string(option) + ' ';
    }
  }
  EXPECT_EQ(said, "asked execute=once asked execute=no asked execute=once execute=once ");
  EXPECT_EQ(count("\"optionId\":\"always\""), 0);
}

TEST_F(CliAcpAgents, QuestionOfAProcessThatHasEnded_LeavesTheCallInDoubt) {
  scripted("permissions", "allow = [\"coder__ask\"]");
  const CommandResult asked = praxis({"run", "agent.toml", "go"});
  ASSERT_EQ(asked.status, 3) << asked.err;
  EXPECT_THAT(asked.err, AllOf(HasSubstr("coder__permission"), HasSubstr("Run make")));
  const CommandResult resumed = praxis({"resume", "last", "--allow", "p1"});
  EXPECT_EQ(resumed.status, 3) << resumed.err << resumed.out;
  EXPECT_THAT(resumed.err, HasSubstr("coder__ask"));
  EXPECT_EQ(count("session/prompt"), 1);
}

TEST_F(CliAcpAgents, RunKilledWhileTheAgentWorks_ParksTheCallInDoubt) {
  scripted("patient");
  {
    Process process(command({"run", "agent.toml", "go"}), options_);
    await_log("session/prompt");
    process.signal(SIGKILL);
    process.finish();
  }
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 3) << resumed.out << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("coder__ask"));
  EXPECT_EQ(count("session/prompt"), 1);
}

TEST_F(CliAcpAgents, InterruptedRun_CancelsTheTurnOfTheAgent) {
  scripted("patient");
  Process process(command({"run", "agent.toml", "go"}), options_);
  await_log("session/prompt");
  process.signal(SIGINT);
  process.finish();
  await_log("\ncancelled\n");
}

TEST_F(CliAcpAgents, PraxisItself_WorksForPraxisByOurRules) {
  if (PRAXIS_SANITIZED) GTEST_SKIP() << "the sanitizers reserve more memory than a sandbox has";
  const auto lines = file(
      "scripts/writer.jsonl",
      R"({"tool_calls": [{"name": "file_write", "arguments": {"path": "note.txt", "content": "new\n"}}]})"
      "\n{\"text\": \"I wrote it.\"}\n");
  file("config/praxis/agents/writer.toml",
       "model = \"script:" + lines.string() +
           "\"\n[tools.file]\nread = [\".\"]\nwrite = [\".\"]\n[policy]\nask = [\"file_write\"]\n");
  file("inner/kept", "");
  const std::string folder = folder_.string();
  const auto shown_with = [&](const std::string& rules) {
    caller("agent.toml",
           "\"" PRAXIS_BINARY_DIR "/praxis\", \"acp\", \"writer\", \"--journal\", \"" + folder +
               "/inner/runs.db\"",
           rules,
           "environment = [\"XDG_CONFIG_HOME\"]\nread = [\"" + folder + "/config\", \"" + folder +
               "/scripts\", \"" PRAXIS_BINARY_DIR "/praxis\"]\nwrite = [\"work\", \"inner\"]\n");
    const CommandResult run = praxis({"run", "agent.toml", "go"});
    EXPECT_EQ(run.status, rules == kAllow ? 0 : kDenied) << run.err << run.out;
    return shown();
  };
  EXPECT_THAT(shown_with("allow = [\"coder__ask\"]\ndeny = [\"coder__permission\"]"),
              AllOf(HasSubstr("I wrote it."), HasSubstr("note.txt"), HasSubstr("coder__permission")));
  EXPECT_EQ(contents("work/note.txt"), "") << "what the inner agent asked for was denied";
  EXPECT_THAT(shown_with(kAllow), HasSubstr("I wrote it."));
  EXPECT_EQ(contents("work/note.txt"), "new\n");
}

TEST_F(CliAcpAgents, TableWithoutAProgramOrARule_IsRefused) {
  const auto why = [&](const std::string& command, const std::string& rules, const std::string& more = "") {
    caller("agent.toml", command, rules, more);
    const CommandResult run = praxis({"run", "agent.toml", "go"});
    EXPECT_EQ(run.status, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(why("\"x\"", "ask = [\"coder__permission\"]"), HasSubstr("name \"coder__ask\" in policy.ask"));
  EXPECT_THAT(why("", kAllow), HasSubstr("needs \"command\""));
  EXPECT_THAT(why("\"x\"", "allow = [\"coder__*\"]", "[tools.mcp.coder]\ncommand = [\"y\"]\n"),
              HasSubstr("[tools.mcp.coder]"));
  EXPECT_THAT(why("\"x\"", kAllow, "[tools.acp.a__b]\ncommand = [\"y\"]\n"), HasSubstr("1 to 24 letters"));
}

}  // namespace
}  // namespace praxis::testing
