// Forms of an MCP server as questions: what an answer may leave out.
#include "runtime/mcp_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

TEST(McpForm, AnswerGetsTheDefaultsOfFieldsThatItLeavesOut) {
  McpRound round;
  round.number = 1;
  round.input.requests["q"] = parse_json(R"({"method": "elicitation/create", "params": {
    "message": "Which shirt?", "requestedSchema": {"type": "object", "required": ["size", "colour", "count"],
      "properties": {"size": {"type": "string", "default": "M"}, "colour": {"type": "string"},
                     "count": {"type": "integer", "default": 1}, "note": {"type": "string"}}}}})")
                                  .value();
  const Error question = next_question("shop", round, {});
  EXPECT_THAT(question.message, HasSubstr("size: string (default: \"M\")"));
  const Json asked = json_at(Json(question.detail()), "question");
  const auto schema = JsonSchema::compile(json_at(asked, "schema"));
  ASSERT_TRUE(schema) << to_json_text(asked);
  EXPECT_TRUE(schema->validate(JsonObject{{"colour", "red"}}, 1).empty());
  EXPECT_FALSE(schema->validate(JsonObject{{"size", "L"}}, 1).empty()) << "the colour has no default";

  CallAnswer answer;
  answer.state = JsonObject{{"round", 1}, {"name", "q"}, {"requests", round.input.requests}};
  answer.text = R"({"colour": "red", "count": 2})";
  EXPECT_EQ(json_at(json_at(round_of({answer}).answers, "q"), "content"),
            Json(JsonObject{{"size", "M"}, {"colour", "red"}, {"count", 2}}));
}

}  // namespace
}  // namespace praxis
