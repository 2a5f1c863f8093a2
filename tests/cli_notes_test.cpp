// The notes of a run (`kv`) as a user meets them: there again after a question, a kill, a fork and a rewind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPlan = R"(
id = "p"
[tools.kv]
[[plan]]
tool = "kv"
input = { op = "put", key = "k", value = "precious" }
[[plan]]
ask = "ok?"
[[plan]]
id = "g"
tool = "kv"
input = { op = "get", key = "k" }
[[plan]]
finish = "got ${steps.g.text}"
)";

/// With the parameter, every session leaves memory whenever it waits.
class CliNotes : public CommandLine, public ::testing::WithParamInterface<bool> {
 protected:
  CliNotes() {
    options_.env["PRAXIS_SUSPEND"] = GetParam() ? "true" : "false";
    file("plan.toml", kPlan);
  }
  /// An agent whose model notes, then works for `delay` ms, then reads the note.
  void write_agent(int delay) const {
    file("notes.toml", "model = \"script:notes.jsonl\"\n[tools.kv]\n");
    file("notes.jsonl",
         R"({"tool_calls":[{"name":"kv","arguments":{"op":"put","key":"k","value":"precious"}}]})"
         "\n"
         R"({"tool_calls":[{"name":"kv","arguments":{"op":"get","key":"k"}}],"delay_ms":)" +
             std::to_string(delay) + "}\n" + R"({"text":"read"})" + "\n");
  }
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSuspension, CliNotes, ::testing::Bool());

TEST_P(CliNotes, AnsweredQuestion_FindsThem) {
  ASSERT_EQ(praxis({"run", "plan.toml", "go"}).status, 3);
  const CommandResult resumed = praxis({"resume", "last", "--answer", "p1=yes"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "got precious\n");
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_P(CliNotes, Fork_FindsThem) {
  ASSERT_EQ(praxis({"run", "plan.toml", "go"}).status, 3);
  ASSERT_EQ(praxis({"fork", "last"}).status, 0);
  const CommandResult resumed = praxis({"resume", "last", "--answer", "p1=yes"});
  EXPECT_EQ(resumed.out, "got precious\n") << resumed.err;
}

TEST_P(CliNotes, RunThatWasKilled_FindsThem) {
  write_agent(60'000);
  Process run(command({"run", "notes.toml", "Note it", "--json"}), options_);
  ASSERT_TRUE(run.prints(R"("event":"tool.completed")")) << run.output << run.errors;
  ASSERT_TRUE(run.prints(R"("step":2)"));
  run.signal(SIGKILL);
  EXPECT_EQ(run.finish(), 128 + SIGKILL);
  write_agent(0);
  // The script is a file of the agent, and it has changed.
  const std::string digest = digest_in(praxis({"resume", "last"}));
  const CommandResult resumed = praxis({"resume", "last", "--json", "--accept-agent", digest});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr(R"("text":"precious")"));
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

}  // namespace
}  // namespace praxis::testing
