// What `praxis replay` with changes reaches outside: nothing but the tools that are `live`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mcp_agent.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A run with a server of tools that notes its starts.
class CliReplayOffline : public CliMcp {
 protected:
  void SetUp() override {
    CliMcp::SetUp();
    file("script.jsonl", calls("sum", R"({"a": 2, "b": 3})"));
    file("agent.toml", "id = \"tester\"\nmodel = \"script:script.jsonl\"\n[policy]\nallow = [\"fix__*\"]\n" +
                           server("fix"));
  }
  /// A server of this name, which notes it when it starts.
  std::string server(const std::string& name) const {
    const std::string start = "echo " + name + " >> " + (folder_ / "notes" / "starts").string() +
                              "; exec python3 " + kMcpFolder + "/server.py usual " + notes_path();
    return "[tools.mcp." + name + "]\ncommand = [\"sh\", \"-c\", \"" + start + "\"]\nread = [\"" +
           kMcpFolder + "\"]\nwrite = [\"notes\"]\n";
  }
  int starts() const {
    const std::string noted = contents("notes/starts");
    return static_cast<int>(std::ranges::count(noted, '\n'));
  }
};

TEST_F(CliReplayOffline, RecordedToolsOfAServer_DoNotStartIt) {
  ASSERT_EQ(praxis({"run", "agent.toml", "Add them"}).status, 0);
  const std::string run = last_run();
  ASSERT_EQ(starts(), 1);
  const CommandResult same = praxis({"replay", run, "--tool", "fix__sum=recorded", "--json"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_EQ(json_int(same.last_line(), "differing_steps"), 0);
  const CommandResult fails = praxis({"replay", run, "--tool", "fix__sum=fail", "--json"});
  EXPECT_EQ(json_int(fails.last_line(), "differing_steps"), 1) << fails.out << fails.err;
  const CommandResult later = praxis({"replay", run, "--from", "2", "--json"});
  EXPECT_EQ(json_int(later.last_line(), "differing_steps"), 0) << later.out << later.err;
  EXPECT_EQ(starts(), 1) << "replays ask no server";
}

TEST_F(CliReplayOffline, LiveToolOfAServer_IsCalledThere) {
  ASSERT_EQ(praxis({"run", "agent.toml", "Add them"}).status, 0);
  const std::string run = last_run();
  const CommandResult live = praxis({"replay", run, "--tool", "fix__sum=live", "--json"});
  EXPECT_EQ(live.status, 0) << live.out << live.err;
  EXPECT_EQ(json_int(live.last_line(), "differing_steps"), 0) << "the server still adds";
  EXPECT_EQ(starts(), 2) << "once more, for the call of the changed run";
}

TEST_F(CliReplayOffline, LiveToolThatItsServerChanged_WaitsAsInANewRun) {
  options_.env["XDG_STATE_HOME"] = (folder_ / "state").string();
  agent("poisoning", calls("echo", R"({"text": "hi"})"));
  ASSERT_EQ(praxis({"run", "agent.toml", "go"}).status, 0) << "the first list is accepted";
  const std::string run = last_run();
  file("notes/calls", "");
  file("notes/calls.poisoned", "");
  const CommandResult live = praxis({"replay", run, "--tool", "fix__echo=live", "--json"});
  EXPECT_EQ(live.status, 3) << live.out << live.err;
  EXPECT_EQ(contents("notes/calls"), "") << "the server was not called";
  const std::string changed = json_string(live.last_line(), "changed_run_id");
  EXPECT_THAT(praxis({"approve", changed + "/p1"}).out, HasSubstr("changed at its server since it was accepted"));
  const CommandResult resumed = praxis({"resume", changed, "--allow", "p1"});
  EXPECT_EQ(resumed.status, 0) << resumed.out << resumed.err;
  EXPECT_EQ(contents("notes/calls"), "call echo\n");
}

TEST_F(CliReplayOffline, ReplayOfAReplay_MakesItsRetriesAgain) {
  file("send.jsonl",
       "{\"tool_calls\": [{\"name\": \"http\", \"arguments\": {\"method\": \"POST\", \"url\": "
       "\"http://127.0.0.1:1/\"}}]}\n{\"text\": \"DONE\"}\n");
  file("send.toml",
       "model = \"script:send.jsonl\"\n[tools.http]\nallow = [\"127.0.0.1:1\"]\nretries = 2\n[policy]\n"
       "allow = [\"http\"]\n");
  const CommandResult made = praxis({"run", "send.toml", "Send it"});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string run = last_run(), delay = "\"delay_ms\":";
  ASSERT_THAT(praxis({"export", run}).out, HasSubstr(delay)) << "two retries waited";

  const CommandResult same = praxis({"replay", run, "--tool", "http=recorded", "--json"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_EQ(json_int(same.last_line(), "differing_steps"), 0);
  const std::string changed = json_string(same.last_line(), "changed_run_id");
  EXPECT_THAT(praxis({"export", changed}).out, HasSubstr("\"attempt\":3")) << "the retries are made again";
  const CommandResult again = praxis({"replay", changed, "--tool", "http=recorded", "--json"});
  EXPECT_EQ(again.status, 0) << again.out << again.err;
  EXPECT_EQ(json_int(again.last_line(), "differing_steps"), 0);
}

}  // namespace
}  // namespace praxis::testing
