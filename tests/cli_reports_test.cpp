// Reports are true: the status of runs that were killed, stopped or branched, and how long turns took.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <regex>
#include <string>
#include <thread>

#include "command_line.hpp"
#include "praxis/base/dates.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliReports : public CommandLine {
 protected:
  CliReports() {
    file("slow.jsonl", R"({"text": "x", "delay_ms": 60000})");
    file("two.jsonl",
         R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": "v"}}]})"
         "\n{\"text\": \"Done.\"}\n{\"text\": \"More.\"}\n");
    file("two.toml", "model = \"script:two.jsonl\"\n[tools.kv]\n");
  }

  /// Starts a run whose model does not answer.
  std::unique_ptr<Process> slow_run() const {
    auto run =
        std::make_unique<Process>(command({"run", "--model", "script:slow.jsonl", "Hi", "--json"}), options_);
    EXPECT_TRUE(run->prints(R"("event":"model.requested")")) << run->output << run->errors;
    return run;
  }
  void expect_status(const std::string& status) const {
    const Json row = praxis({"runs", "--json"}).items().front();
    EXPECT_EQ(json_string(row, "status"), status);
    EXPECT_FALSE(json_bool(row, "held", true));
    EXPECT_THAT(praxis({"runs"}).out, HasSubstr("  " + status + " "));
    const Json node = praxis({"tree", "last", "--json"}).last_item();
    EXPECT_EQ(json_string(node, "status"), status);
    EXPECT_THAT(praxis({"tree", "last"}).out, HasSubstr("  " + status + "  "));
    EXPECT_EQ(praxis({"runs", "--status", status, "--json"}).items().size(), 1U);
  }
  /// The time that `tree` shows of the newest run.
  std::string shown_time() const {
    const std::string tree = praxis({"tree", "last"}).out;
    std::smatch found;
    const bool has = std::regex_search(tree, found, std::regex("(completed|interrupted)  (-?[0-9.]+ m?s)"));
    return has ? found[2].str() : "none in " + tree;
  }
};

TEST_F(CliReports, KilledRun_IsInterruptedWithTheCommandThatResumesIt) {
  const auto run = slow_run();
  run->signal(SIGKILL);
  run->finish();
  expect_status("interrupted");
  EXPECT_THAT(praxis({"tree"}).out, HasSubstr("praxis resume " + last_run()));
}

TEST_F(CliReports, StoppedRun_IsCancelled) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto run = slow_run();
    run->signal(signal);
    EXPECT_EQ(run->finish(), 128 + signal);
    expect_status("cancelled");
    EXPECT_THAT(run->output, HasSubstr(R"("termination":"cancelled")"));
    EXPECT_EQ(praxis({"runs", "rm", "last", "--yes"}).status, 0);
  }
}

TEST_F(CliReports, BranchThatWasNeverContinued_IsInterrupted) {
  ASSERT_EQ(praxis({"run", "two.toml", "Go"}).status, 0);
  ASSERT_EQ(praxis({"fork", "last@1"}).status, 0);
  EXPECT_THAT(praxis({"runs", "--status", "interrupted"}).out, HasSubstr(last_run()));
  EXPECT_THAT(shown_time(), Not(HasSubstr("-"))) << "a branch is younger than its records";
  ASSERT_EQ(praxis({"export", "last", "-o", "branch.jsonl"}).status, 0);
  ASSERT_EQ(praxis({"import", "branch.jsonl", "--journal", "other.db"}).status, 0);
  EXPECT_THAT(praxis({"tree", "--journal", "other.db"}).out, HasSubstr("interrupted"));
}

TEST_F(CliReports, ClockOfAnEndedTurn_StandsStill) {
  ASSERT_EQ(praxis({"run", "two.toml", "Go"}).status, 0);
  const std::string time = shown_time();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shown_time(), time);
}

TEST_F(CliReports, TimeBetweenTwoTurns_DoesNotCount) {
  ASSERT_EQ(praxis({"run", "two.toml", "Go"}).status, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ASSERT_EQ(praxis({"resume", "last", "And again"}).status, 0);
  const Json node = praxis({"tree", "last", "--json"}).last_item();
  EXPECT_GT(json_int(node, "ended_turns_ms"), 0);
  EXPECT_TRUE(json_at(node, "turn_began").is_null());
  const Json run = praxis({"runs", "--json"}).items().front();
  EXPECT_EQ(json_int(node, "ended_turns_ms"), json_int(run, "duration_ms"));
  const auto time_of = [&](const char* key) { return *from_iso8601(json_string(node, key)); };
  EXPECT_LE(json_int(node, "ended_turns_ms"), (time_of("updated") - time_of("created")).count() - 1500);
}

TEST_F(CliReports, DurationOfATurn_IsWallTimeAndWorkHasItsOwn) {
  std::string calls;
  for (int i = 1; i <= 4; ++i)
    calls += std::string(i == 1 ? "" : ", ") + R"({"name": "below", "arguments": {"prompt": ")" +
             std::to_string(i) + "\"}}";
  file("lead.jsonl", "{\"tool_calls\": [" + calls + "]}\n{\"text\": \"Done.\"}\n");
  file("below.jsonl", R"({"text": "x", "delay_ms": 300})");
  file("below.toml", "model = \"script:below.jsonl\"\n");
  file("lead.toml",
       "model = \"script:lead.jsonl\"\n[agents.below]\nfile = \"below.toml\"\ndescription = \"Works\"\n");
  const Json metrics = praxis({"run", "lead.toml", "Go", "--json"}).last_line().at("metrics");
  const auto wall = json_int(metrics, "duration_ms"), work = json_int(metrics, "tool_latency_ms");
  EXPECT_GE(wall, 300);
  EXPECT_GE(work, 1200) << "the sum of the calls";
  EXPECT_LT(wall, work) << "they ran at the same time";
}

}  // namespace
}  // namespace praxis::testing
