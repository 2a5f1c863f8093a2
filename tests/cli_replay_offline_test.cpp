// What `praxis replay` with changes reaches outside: nothing but the tools that are `live`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>

#include "mcp_agent.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

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
  /// A run of which a call was made again twice, after a delay; its id.
  std::string run_with_retries() const {
    file("send.jsonl",
         "{\"tool_calls\": [{\"name\": \"http\", \"arguments\": {\"method\": \"POST\", \"url\": "
         "\"http://127.0.0.1:1/\"}}]}\n{\"text\": \"DONE\"}\n");
    file("send.toml",
         "model = \"script:send.jsonl\"\n[tools.http]\nallow = [\"127.0.0.1:1\"]\nretries = 2\n[policy]\n"
         "allow = [\"http\"]\n");
    const CommandResult made = praxis({"run", "send.toml", "Send it"});
    EXPECT_EQ(made.status, 0) << made.err;
    const std::string run = last_run();
    EXPECT_THAT(praxis({"export", run}).out, HasSubstr("\"delay_ms\":"));
    return run;
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
  EXPECT_THAT(praxis({"approve", changed + "/p1"}).out,
              HasSubstr("changed at its server since it was accepted"));
  const CommandResult resumed = praxis({"resume", changed, "--allow", "p1"});
  EXPECT_EQ(resumed.status, 0) << resumed.out << resumed.err;
  EXPECT_EQ(contents("notes/calls"), "call echo\n");
}

TEST_F(CliReplayOffline, LiveToolOfOneServer_DoesNotStartTheOthers) {
  file("agent.toml",
       "id = \"tester\"\nmodel = \"script:script.jsonl\"\n[policy]\nallow = [\"fix__*\", \"other__*\"]\n" +
           server("other") + server("fix"));
  const CommandResult made = praxis({"run", "agent.toml", "Add them"});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string run = last_run();
  file("notes/starts", "");
  const CommandResult live = praxis({"replay", run, "--tool", "fix__sum=live", "--json"});
  EXPECT_EQ(live.status, 0) << live.out << live.err;
  EXPECT_EQ(contents("notes/starts"), "fix\n");
}

TEST_F(CliReplayOffline, TurnAfterOneThatFailed_HasItsRecordedTools) {
  file("script.jsonl", R"({"error": {"code": "model", "message": "no", "status": 400}})"
                       "\n{\"text\": \"DONE\"}\n");
  ASSERT_NE(praxis({"run", "agent.toml", "Add them"}).status, 0) << "the model refuses";
  const std::string run = last_run();
  ASSERT_EQ(praxis({"resume", run, "Again"}).status, 0);
  const CommandResult later = praxis({"replay", run, "--from", "t2", "--json"});
  EXPECT_EQ(later.status, 0) << later.out << later.err;
  const auto offers = [&](const std::string& each) {
    const std::string records = praxis({"export", each}).out;
    return std::ranges::distance(std::ranges::views::split(records, std::string_view("\"set_agent\"")));
  };
  EXPECT_EQ(offers(json_string(later.last_line(), "changed_run_id")), offers(run))
      << "no other list of tools";
}

TEST_F(CliReplayOffline, ReplayOfAReplay_MakesItsRetriesAgain) {
  const std::string run = run_with_retries();
  const CommandResult same = praxis({"replay", run, "--tool", "http=recorded", "--json"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_EQ(json_int(same.last_line(), "differing_steps"), 0);
  const std::string changed = json_string(same.last_line(), "changed_run_id");
  EXPECT_THAT(praxis({"export", changed}).out, HasSubstr("\"attempt\":3")) << "the retries are made again";
  const CommandResult again = praxis({"replay", changed, "--tool", "http=recorded", "--json"});
  EXPECT_EQ(again.status, 0) << again.out << again.err;
  EXPECT_EQ(json_int(again.last_line(), "differing_steps"), 0);
}

TEST_F(CliReplayOffline, ForkOfARunWithRetries_IsReplayed) {
  const CommandResult made = praxis({"fork", run_with_retries() + "@1"});
  ASSERT_EQ(made.status, 0) << made.err;
  const CommandResult replayed = praxis({"replay", "last"});
  EXPECT_EQ(replayed.status, 0) << replayed.out << replayed.err;
  EXPECT_EQ(praxis({"fork", "last"}).status, 0);
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "the delays are those of the first run";
}

}  // namespace
}  // namespace praxis::testing
