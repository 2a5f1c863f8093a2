// What a user sees of a call that a rule denied; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWrites =
    R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": "v"}}]})"
    "\n"
    R"({"text": "Written."})"
    "\n";

class CliDenials : public CommandLine {
 protected:
  CliDenials() {
    file("writer.jsonl", kWrites);
    file("writer.toml", "model = \"script:writer.jsonl\"\n[tools.kv]\n[policy]\ndeny = [\"kv\"]\n");
    file("lead.jsonl", R"({"tool_calls": [{"name": "writer", "arguments": {"prompt": "Write"}}]})"
                       "\n"
                       R"({"text": "Done."})"
                       "\n");
    file(
        "lead.toml",
        "model = \"script:lead.jsonl\"\n[agents.writer]\nfile = \"writer.toml\"\ndescription = \"Writes\"\n");
  }
};

TEST_F(CliDenials, CallDeniedByARule_IsReportedAndExitsWith4) {
  const CommandResult run = praxis({"run", "writer.toml", "Write"});
  EXPECT_EQ(run.status, 4) << run.err;
  EXPECT_EQ(run.out, "Written.\n");
  EXPECT_THAT(run.err, HasSubstr("denied: "));
  EXPECT_EQ(praxis({"run", "writer.toml", "Write", "--denials-ok"}).status, 0);
}

TEST_F(CliDenials, CallDeniedBelow_IsReportedByTheRun) {
  const CommandResult run = praxis({"run", "lead.toml", "Write"});
  EXPECT_EQ(run.status, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("step 1: kv {\"op\":"));
  const Json result = praxis({"run", "--json", "lead.toml", "Write"}).last_line();
  ASSERT_EQ(result.at("denials").as_array().size(), 1U);
  EXPECT_THAT(std::string(result.at("denials").at(0).as_string()), HasSubstr("kv (in 01"));
}

TEST_F(CliDenials, CallRejectedByAHuman_DoesNotBlock) {
  file("writer.toml", "model = \"script:writer.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  ASSERT_EQ(praxis({"run", "writer.toml", "Write"}).status, 3);
  EXPECT_EQ(praxis({"resume", "last", "--deny", "p1"}).status, 0);
}

TEST_F(CliDenials, PlanWhoseStepIsDenied_ExitsWith4) {
  file("plan.toml",
       "[tools.kv]\n[policy]\ndeny = [\"kv\"]\n[[plan]]\nid = \"put\"\ntool = \"kv\"\n"
       "input = { op = \"put\", key = \"k\", value = \"v\" }\n");
  const CommandResult run = praxis({"run", "plan.toml"});
  EXPECT_EQ(run.status, 4) << run.err;
}

}  // namespace
}  // namespace praxis::testing
