#include "praxis/tools/shell_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/base/reach.hpp"

#include <cstdlib>

#include "base/testing/missing_part.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ShellToolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!probe_sandbox().full())
      PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
    options_.folder = folder_.str();
  }
  Result<ToolOutput> run(const Json& arguments) const { return call_with(shell_tool(options_), arguments); }

  ScratchFolder folder_;
  ShellToolOptions options_;
};

TEST_F(ShellToolTest, Program_RunsAndReportsItsEnd) {
  EXPECT_EQ(text_of(run({{"argv", {"sh", "-c", "cat; echo oops >&2; exit 3"}}, {"stdin", "hello"}})),
            "exit status 3\nstdout:\nhello\nstderr:\noops\n");
  const auto result = run({{"argv", {"printf", "%s", "$HOME"}}});
  ASSERT_TRUE(result);
  EXPECT_EQ(json_text(result->value, "stdout"), "$HOME");
  EXPECT_EQ(json_at(result->value, "exit_code"), 0);
}

TEST_F(ShellToolTest, Program_WritesOnlyInItsFolder) {
  EXPECT_EQ(text_of(run({{"argv", {"touch", "made"}}})), "exit status 0\n");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "made"));
  EXPECT_THAT(text_of(run({{"argv", {"touch", "/usr/made"}}})), HasSubstr("Read-only file system"));
}

TEST_F(ShellToolTest, UnlistedVariables_AreNotPassedOn) {
  setenv("PRAXIS_TEST_GIVEN", "given", 1);
  setenv("PRAXIS_TEST_KEPT", "kept", 1);
  options_.environment = {"PRAXIS_TEST_GIVEN", "PRAXIS_TEST_ABSENT"};
  const auto text = text_of(run({{"argv", {"env"}}}));
  EXPECT_THAT(text, HasSubstr("PRAXIS_TEST_GIVEN=given\n"));
  EXPECT_THAT(text, Not(HasSubstr("kept")));
}

TEST_F(ShellToolTest, Program_GetsTheSpanOfItsCall) {
  ToolSet set;
  ASSERT_TRUE(set.add(shell_tool(options_)));
  ToolContext context;
  context.trace = new_trace(1, 2);
  context.trace.state = "rojo=1";
  const auto output = set.execute(context, "shell", R"({"argv": ["env"]})");
  EXPECT_THAT(text_of(output), HasSubstr("TRACEPARENT=" + traceparent(context.trace)));
  EXPECT_THAT(text_of(output), HasSubstr("TRACESTATE=rojo=1"));
  EXPECT_THAT(text_of(run({{"argv", {"env"}}})), Not(HasSubstr("TRACEPARENT")));
}

TEST_F(ShellToolTest, Timeout_ReturnsTheOutputSoFar) {
  const auto text = text_of(run({{"argv", {"sh", "-c", "echo begun; sleep 100"}}, {"timeout_ms", 500}}));
  EXPECT_THAT(text, HasSubstr("because its time limit was reached\nstdout:\nbegun\n"));
}

TEST_F(ShellToolTest, StoppedProgram_IsCancelled) {
  std::stop_source stop;
  stop.request_stop();
  const auto result = call(shell_tool(options_), R"({"argv":["sleep","100"]})", stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reach_of(result.error()), Reach::kSent);
}

TEST(ShellTool, UnlistedPrograms_AreRefused) {
  ShellToolOptions options;
  options.folder = "/nonexistent";
  options.programs = {"git", "/usr/bin/make"};
  for (const char* program : {"sh", "/tmp/git", "make", "git "}) {
    const auto result = call_with(shell_tool(options), {{"argv", {program}}});
    ASSERT_FALSE(result) << program;
    EXPECT_EQ(result.error().code, ErrorCode::kPolicy) << program;
    EXPECT_THAT(result.error().message, HasSubstr("not one of the programs")) << program;
  }
  EXPECT_THAT(text_of(call_with(shell_tool(options), {{"command", "ls"}})), HasSubstr("command"))
      << "not granted";
  EXPECT_THAT(text_of(call_with(shell_tool(options), {{"argv", {"git"}}})),
              HasSubstr("the sandbox cannot be built"));
}

TEST_F(ShellToolTest, ShellStrings_RequireTheirOption) {
  options_.shell_strings = true;
  EXPECT_EQ(text_of(run({{"command", "echo a | tr a b"}})), "exit status 0\nstdout:\nb\n");
  EXPECT_THAT(text_of(run({{"command", "ls"}, {"argv", {"ls"}}})), HasSubstr("set either /argv or /command"));
}

TEST(ShellTool, Tool_NeedsAnAllowRuleAndIsNotIdempotent) {
  const Tool tool = shell_tool({});
  EXPECT_FALSE(tool.definition.safe_by_default);
  EXPECT_FALSE(tool.definition.idempotent);
}

}  // namespace
}  // namespace praxis
