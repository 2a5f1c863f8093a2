// `praxis logs --follow` from another process than that of the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CliLogs : public CommandLine {
 protected:
  CliLogs() {
    file("slow.toml", "id = 'slow'\nmodel = 'script:slow.jsonl'\n[tools.kv]\n");
    file("slow.jsonl",
         R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": "v"}}]})"
         "\n"
         R"({"text": "Late.", "delay_ms": 60000})"
         "\n");
    file("quick.jsonl", "{\"text\": \"Quick.\"}\n");
    file("ask.toml", "id = 'ask'\nmodel = 'script:slow.jsonl'\n[tools.kv]\n[policy]\nask = ['kv']\n");
  }

  std::vector<std::string> slow_run() const {
    return command({"run", "slow.toml", "Take your time", "--json"});
  }
  std::vector<std::string> follow(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"logs", "last", "--follow"});
    return command(more);
  }
  /// Whether the run has called its model for the second time, which then takes a minute.
  static bool waits_for_model(Process& run) { return run.prints(R"("event":"tool.completed")"); }
  static std::vector<std::string> event_names(const CommandResult& logs) {
    std::vector<std::string> names;
    for (const Json& event : logs.items()) names.push_back(json_string(event, "event"));
    return names;
  }
};

TEST_F(CliLogs, Follow_ShowsWhatARunInAnotherProcessDoes_UntilItsTurnEnds) {
  Process run(slow_run(), options_);
  ASSERT_TRUE(waits_for_model(run)) << run.errors;
  Process logs(follow(), options_);
  ASSERT_TRUE(logs.prints("tool.completed")) << logs.errors;
  EXPECT_THAT(logs.output, AllOf(HasSubstr("turn.started"), Not(HasSubstr("look at the sea"))));
  ASSERT_EQ(praxis({"tree", "annotate", last_run(), "look at the sea"}).status, 0);
  ASSERT_TRUE(logs.prints("look at the sea")) << "shown while the run continues" << logs.output;
  ASSERT_EQ(praxis({"tree", "stop", last_run()}).status, 0);
  EXPECT_EQ(logs.finish(), 0) << logs.errors;
  EXPECT_THAT(logs.output, HasSubstr("turn.cancelled"));
  EXPECT_THAT(logs.errors, IsEmpty());
  run.finish();
  EXPECT_EQ(logs.output, praxis({"logs", "last"}).out) << "each event once, and in order";
}

TEST_F(CliLogs, FollowAsJson_IsThatOfTheWholeLog) {
  Process run(slow_run(), options_);
  ASSERT_TRUE(waits_for_model(run)) << run.errors;
  Process logs(follow({"--json"}), options_);
  ASSERT_TRUE(logs.prints(R"("event":"tool.completed")")) << logs.errors;
  ASSERT_EQ(praxis({"tree", "stop", last_run()}).status, 0);
  EXPECT_EQ(logs.finish(), 0) << logs.errors;
  run.finish();
  EXPECT_EQ(logs.output, praxis({"logs", "last", "--json"}).out);
  const CommandResult followed{0, logs.output, logs.errors};
  EXPECT_EQ(json_string(followed.last_line(), "command"), "logs");
  EXPECT_EQ(json_string(followed.last_line(), "run_id"), last_run());
}

TEST_F(CliLogs, FollowOfARunThatHasEnded_PrintsItAndEnds) {
  ASSERT_EQ(praxis({"run", "--model", "script:quick.jsonl", "Hi"}).status, 0);
  const CommandResult followed = praxis({"logs", "last", "-f"});
  EXPECT_EQ(followed.status, 0) << followed.err;
  EXPECT_THAT(followed.out, HasSubstr("turn.completed"));
  EXPECT_EQ(followed.out, praxis({"logs", "last"}).out);
}

TEST_F(CliLogs, FollowOfARunWhoseProcessIsKilled_SaysSoAndEnds) {
  Process run(slow_run(), options_);
  ASSERT_TRUE(waits_for_model(run)) << run.errors;
  Process logs(follow(), options_);
  ASSERT_TRUE(logs.prints("tool.completed")) << logs.errors;
  run.signal(SIGKILL);
  run.finish();
  EXPECT_EQ(logs.finish(), 1);
  const std::string id = last_run();
  EXPECT_EQ(logs.errors,
            id + " was interrupted: its process has ended. Resume it with praxis resume " + id + "\n");
  EXPECT_EQ(praxis({"logs", "last", "--follow"}).status, 1) << "also when it was dead before";
}

TEST_F(CliLogs, FollowOfARunThatWaitsForAHuman_SaysSoAndEnds) {
  ASSERT_EQ(praxis({"run", "ask.toml", "Go"}).status, 3);
  const CommandResult followed = praxis({"logs", "last", "--follow"});
  EXPECT_EQ(followed.status, 3);
  EXPECT_EQ(followed.err, last_run() + " waits for a human, and no process runs it now: praxis approve\n");
}

TEST_F(CliLogs, Interrupt_EndsTheFollowingAndNotTheRun) {
  Process run(slow_run(), options_);
  ASSERT_TRUE(waits_for_model(run)) << run.errors;
  Process logs(follow({"--json"}), options_);
  ASSERT_TRUE(logs.prints(R"("event":"tool.completed")")) << logs.errors;
  logs.signal(SIGINT);
  EXPECT_EQ(logs.finish(), 130);
  EXPECT_EQ(json_int(CommandResult{0, logs.output, {}}.last_line(), "exit_status"), 130) << logs.output;
  EXPECT_EQ(json_string(praxis({"runs", "--json"}).items().front(), "status"), "running");
  ASSERT_EQ(praxis({"tree", "stop", last_run()}).status, 0);
  run.finish();
}

TEST_F(CliLogs, ReaderThatHasGone_EndsTheFollowing) {
  Process run(slow_run(), options_);
  ASSERT_TRUE(waits_for_model(run)) << run.errors;
  Process logs(follow(), options_);
  ASSERT_TRUE(logs.prints("tool.completed")) << logs.errors;
  logs.stop_reading();
  ASSERT_EQ(praxis({"tree", "annotate", last_run(), "unread"}).status, 0);
  EXPECT_EQ(logs.finish(), 0) << "while the run continues";
  ASSERT_EQ(praxis({"tree", "stop", last_run()}).status, 0);
  run.finish();
}

TEST_F(CliLogs, From_BeginsWithTheRecordOfThatNumber) {
  ASSERT_EQ(praxis({"run", "--model", "script:quick.jsonl", "Hi"}).status, 0);
  const CommandResult all = praxis({"logs", "last", "--json"});
  const auto items = all.items();
  ASSERT_GT(items.size(), 3U);
  const auto middle = json_int(items[items.size() / 2], "seq");
  std::vector<std::string> expected;
  for (const Json& event : items) {
    if (json_int(event, "seq") >= middle) expected.push_back(json_string(event, "event"));
  }
  ASSERT_LT(expected.size(), items.size());
  EXPECT_EQ(event_names(praxis({"logs", "last", "--json", "--from", std::to_string(middle)})), expected);
  EXPECT_EQ(event_names(praxis({"logs", "last", "--json", "-f", "--from", std::to_string(middle)})),
            expected);
  const CommandResult beyond = praxis({"logs", "last", "--from", "100000"});
  EXPECT_EQ(beyond.status, 0);
  EXPECT_THAT(beyond.out, IsEmpty());
}

}  // namespace
}  // namespace praxis::testing
