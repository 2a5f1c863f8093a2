// `praxis show` and `praxis export` let a user read a conversation again; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CliShow : public CommandLine {
 protected:
  CliShow() {
    file("config/praxis/agents/lead.toml", R"(
id = "lead"
model = "script:lead.jsonl"
[tools.kv]
[policy]
ask = ["kv"]
[agents.research]
file = "research.toml"
description = "Finds facts"
)");
    file("config/praxis/agents/research.toml", "id = \"research\"\nmodel = \"script:research.jsonl\"\n");
    file("research.jsonl", R"({"text": "It is red."})");
    file(
        "lead.jsonl",
        R"({"text": "I will note it.", "tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": ")" +
            std::string(400, 'v') +
            R"(END"}}]})"
            "\n"
            R"({"tool_calls": [{"name": "research", "arguments": {"prompt": "Which colour?"}}]})"
            "\n"
            R"({"text": "Red, as I found.\n\n```\ncode\n```"})"
            "\n");
    file("photo.png", "\x89PNG\r\n\x1a\n0000");
  }
  void SetUp() override {
    ASSERT_EQ(praxis({"run", "lead", "Note the colour", "--attach", "photo.png"}).status, 3);
    const CommandResult resumed = praxis({"resume", "last", "--allow", "p1"});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
  }
};

TEST_F(CliShow, Conversation_HasMessagesCallsResultsDecisionsAndSubAgents) {
  const std::string text = praxis({"show", "last"}).out;
  EXPECT_THAT(text, StartsWith("# Run " + last_run()));
  EXPECT_THAT(text, AllOf(HasSubstr("## Turn t1"), HasSubstr("### User\n\n[image: image/png, 12 bytes]"),
                          HasSubstr("Note the colour"), HasSubstr("### Assistant, step 1\n\nI will note it."),
                          HasSubstr("**Call** `kv`"), HasSubstr("vvvEND\""), HasSubstr("**Result** of `kv`")))
      << "texts are whole";
  EXPECT_THAT(text, AllOf(HasSubstr("**Waits** (p1, approval) for `kv`"), HasSubstr("**Decision** on p1"),
                          HasSubstr("**Sub-agent** research"), HasSubstr("It is red."),
                          HasSubstr("Red, as I found."), HasSubstr("*t1: finished*")));
  EXPECT_THAT(text, Not(HasSubstr("effect_settled")));
  EXPECT_THAT(praxis({"show", "last", "--records"}).out, HasSubstr("effect_settled"));
}

TEST_F(CliShow, Context_ShowsWhatFillsTheWindowByPart) {
  const std::string text = praxis({"show", "last", "--context"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("tokens"), HasSubstr("tools (2)"), HasSubstr("user (1 message)"),
                          HasSubstr("assistant (3 messages)"), HasSubstr("tool results (2 messages)")));
  const Json run = praxis({"show", "last", "--context", "--json"}).items().at(0);
  std::int64_t sum = 0;
  for (const Json& part : run.at("parts").as_array()) sum += json_int(part, "tokens");
  EXPECT_EQ(sum, json_int(run, "used"));
  EXPECT_EQ(praxis({"show", "last", "--context", "--records"}).status, 2);
}

TEST_F(CliShow, Export_WritesTheConversationAsMarkdownOrJson) {
  ASSERT_EQ(praxis({"export", "last", "--format", "markdown", "-o", "run.md"}).status, 0);
  EXPECT_EQ(contents("run.md"), praxis({"show", "last"}).out);
  const Json run = praxis({"export", "last", "--format", "json"}).last_line();
  EXPECT_EQ(json_string(run, "run_id"), last_run());
  const JsonArray& items = run.at("items").as_array();
  const auto call = std::ranges::find_if(items, [](const Json& item) {
    return json_string(item, "type") == "answer" && item.at("content").as_array().size() == 2;
  });
  ASSERT_NE(call, items.end());
  EXPECT_EQ(json_string(call->at("content").at(1).at("arguments"), "op"), "put") << "arguments are an object";
  EXPECT_EQ(praxis({"export", "last", "--format", "yaml"}).status, 2);
}

}  // namespace
}  // namespace praxis::testing
