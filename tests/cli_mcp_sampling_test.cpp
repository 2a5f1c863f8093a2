// MCP servers that ask for an answer of the agent's model while they carry out a call (sampling).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp_agent.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The parameter is the server's behaviour: of version 2026-07-28, or of one with a handshake.
class CliMcpSampling : public CliMcp, public ::testing::WithParamInterface<const char*> {
 protected:
  void server(const std::string& sampling, const std::string& wants = "") const {
    agent(GetParam(),
          R"({"asked": "Summarise", "text": "All is well."})"
          "\n" +
              calls("sample", R"({"text": ")" + wants + "\"}"),
          sampling);
  }
  /// What the server got, as the model reads it.
  static std::string given() { return R"(\"content\": {\"text\": \"All is well.\", \"type\": \"text\"})"; }
};

TEST_P(CliMcpSampling, ServerGetsTheAnswerOfASubAgent) {
  server("sampling = \"allow\"\n");
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(shown(), AllOf(HasSubstr(given()), HasSubstr(R"(\"stopReason\": \"endTurn\")")));
  int sub_agents = 0;
  for (const Json& item : praxis({"tree", "last", "--json"}).items()) {
    if (json_string(item, "item") != "agent") continue;
    EXPECT_EQ(json_string(item, "status"), "completed");
    sub_agents += json_int(item, "depth") == 1 ? 1 : 0;
  }
  EXPECT_EQ(sub_agents, 1);
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "without the server";
}

TEST_P(CliMcpSampling, ConversationIsSentWithItsRoles) {
  server("sampling = \"allow\"\n", "talk");
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 0);
  std::string child;
  for (const Json& item : praxis({"tree", "last", "--json"}).items())
    if (json_int(item, "depth") == 1) child = json_string(item, "id");
  EXPECT_THAT(
      praxis({"show", child, "--json"}).out,
      AllOf(HasSubstr("User: Summarise"), HasSubstr("Assistant: Which one?"), HasSubstr("User: Today's")));
}

TEST_P(CliMcpSampling, NothingIsGivenWithoutTheSetting) {
  server("");
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 0);
  EXPECT_THAT(shown(), Not(HasSubstr(given())));
  EXPECT_THAT(praxis({"tree", "last", "--json"}).out, Not(HasSubstr("\"depth\":1")));
}

TEST_P(CliMcpSampling, WhatIsNotGiven_IsDeclined) {
  for (const char* const wants : {"picture", "tools"}) {
    server("sampling = \"allow\"\n", wants);
    EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 0) << wants;
    const std::string log = shown();
    EXPECT_THAT(log, Not(HasSubstr(given()))) << wants;
    EXPECT_TRUE(log.contains(R"(\"code\": -1)") ||
                log.contains("asks for a model's answer, which it does not get"))
        << wants;
    EXPECT_THAT(praxis({"tree", "last", "--json"}).out, Not(HasSubstr("\"depth\":1"))) << wants;
  }
}

TEST_P(CliMcpSampling, LimitOfTheRunHoldsForTheAnswer) {
  const std::string usage = R"("usage": {"input": 100, "output": 10})";
  agent(GetParam(),
        R"({"asked": "Summarise", "text": "All is well.", )" + usage +
            "}\n"
            R"({"tool_calls": [{"name": "fix__sample", "arguments": {}}], )" +
            usage + "}\n",
        "sampling = \"allow\"\n[limits]\nmax_tokens = 110\n");
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 5);
  EXPECT_THAT(shown(), Not(HasSubstr("All is well.")));
}

INSTANTIATE_TEST_SUITE_P(Eras, CliMcpSampling, ::testing::Values("rich", "inquiring"));

TEST_F(CliMcp, PersonDecidesWhetherAServerGetsAnAnswerOfTheModel) {
  const std::string script = R"({"asked": "Summarise", "text": "All is well."})"
                             "\n" +
                             calls("sample");
  for (const bool allows : {true, false}) {
    agent("rich", script, "sampling = \"ask\"\n");
    const CommandResult asked = praxis({"run", "agent.toml", "go"});
    ASSERT_EQ(asked.status, 3) << asked.err;
    EXPECT_THAT(asked.err, AllOf(HasSubstr("The MCP server \"fix\" asks for an answer of the model"),
                                 HasSubstr("Be brief."), HasSubstr("Summarise"), Not(HasSubstr("\x1b[2J"))));
    const CommandResult done = allows ? praxis({"resume", "last", "--answer", "p1=yes"})
                                      : praxis({"resume", "last", "--deny", "p1"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(shown().contains("All is well."), allows);
  }
}

}  // namespace
}  // namespace praxis::testing
