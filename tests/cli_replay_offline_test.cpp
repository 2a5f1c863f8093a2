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
    const std::string start = "echo started >> " + (folder_ / "notes" / "starts").string() +
                              "; exec python3 " + kMcpFolder + "/server.py usual " + notes_path();
    file("agent.toml",
         "id = \"tester\"\nmodel = \"script:script.jsonl\"\n[policy]\nallow = [\"fix__*\"]\n[tools.mcp.fix]\n"
         "command = [\"sh\", \"-c\", \"" +
             start + "\"]\nread = [\"" + kMcpFolder + "\"]\nwrite = [\"notes\"]\n");
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

TEST_F(CliReplayOffline, RecordedRetries_AreNotWaitedFor) {
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
  const std::string again = praxis({"export", json_string(same.last_line(), "changed_run_id")}).out;
  EXPECT_THAT(again, HasSubstr("\"attempt\":3")) << "the retries are made again";
  EXPECT_THAT(again, Not(HasSubstr(delay)));
}

}  // namespace
}  // namespace praxis::testing
