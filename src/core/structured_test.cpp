// Answers that must match a schema: what counts as a match, how often a model may correct itself, and the
// final result.
#include "core/structured.hpp"

#include <gmock/gmock.h>

#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

Json city_schema() {
  return parse_json(R"({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})")
      .value();
}

struct Asked : Fold {
  explicit Asked(AgentSpec agent = model_agent()) : Fold(std::move(agent), kAskModel) {
    apply(records::TurnStarted{TurnId{"t1"}, city_schema()});
    apply(
        records::MessageAppended{std::make_shared<const Message>(text_message(Role::kUser, "Which city?"))});
    run();
  }
  static AgentSpec model_agent() {
    AgentSpec agent;
    agent.model = "test:model";
    return agent;
  }
};

TEST(StructuredAnswer, Answer_IsJsonWithOrWithoutAFence) {
  for (const char* text : {R"({"name":"Rome"})", " \n{\"name\":\"Rome\"}\n",
                           "```json\n{\"name\":\"Rome\"}\n```", "```\n{\"name\":\"Rome\"}```\n"}) {
    const auto value = structured_answer(city_schema(), text);
    ASSERT_TRUE(value) << text << ": " << value.error().message;
    EXPECT_EQ(json_string(*value, "name"), "Rome");
  }
}

TEST(StructuredAnswer, Mismatch_IsReportedByPathAndExpectation) {
  const auto refusal = [](std::string_view text) { return structured_answer(city_schema(), text).error(); };
  EXPECT_THAT(refusal("Rome").message, HasSubstr("no JSON"));
  EXPECT_THAT(refusal("").message, HasSubstr("empty"));
  EXPECT_THAT(refusal("```\n```").message, HasSubstr("empty"));
  EXPECT_THAT(refusal(R"({"name":"Rome"} or so)").message, HasSubstr("no JSON"));
  const Error wrong = refusal(R"({"name":5})");
  EXPECT_THAT(wrong.message, HasSubstr("/name: "));
  EXPECT_EQ(json_string(wrong.detail(), "path"), "/name");
  EXPECT_THAT(json_string(wrong.detail(), "expected"), HasSubstr("string"));
  EXPECT_EQ(wrong.kind(), ErrorKind::kInvalidOutput);
}

TEST(StructuredTurn, MatchingAnswer_IsTheResult) {
  Asked fold;
  fold.answer(says(R"({"name":"Rome"})"));
  EXPECT_EQ(fold.result().reason, StopReason::kFinished);
  EXPECT_EQ(fold.result().structured, Json(JsonObject{{"name", "Rome"}}));
  EXPECT_EQ(fold.result().text, R"({"name":"Rome"})");
}

TEST(StructuredTurn, Schema_IsSentWithTheRequest) {
  Asked fold;
  const auto& intent = std::get<records::EffectIntended>(fold.log().back().body);
  EXPECT_EQ(question_of(fold.state(), intent).options.output_schema, city_schema());
  Fold plain(Asked::model_agent(), kAskModel);
  plain.begin("Which city?");
  EXPECT_NE(std::get<records::EffectIntended>(plain.log().back().body).request.settings,
            intent.request.settings);
}

TEST(StructuredTurn, MismatchingAnswer_IsSentBackTwiceAtMost) {
  Asked fold;
  EXPECT_TRUE(is<Wait>(fold.answer(says("Rome"))));
  EXPECT_EQ(fold.messages().back()->role, Role::kUser);
  EXPECT_THAT(fold.messages().back()->text(), HasSubstr("no JSON"));
  EXPECT_TRUE(is<Wait>(fold.answer(says(R"({"name":5})"))));
  EXPECT_THAT(fold.messages().back()->text(), HasSubstr("/name"));
  EXPECT_TRUE(is<Idle>(fold.answer(says(R"({"nom":"Rome"})"))));
  EXPECT_EQ(fold.result().reason, StopReason::kInvalidOutput);
  EXPECT_FALSE(fold.result().success);
  EXPECT_TRUE(fold.result().structured.is_null());
  EXPECT_THAT(fold.result().error->message, HasSubstr("also after 2 corrections"));
  EXPECT_THAT(fold.result().error->message, HasSubstr("name"));
}

TEST(StructuredTurn, CorrectedAnswer_IsTheResult) {
  Asked fold;
  fold.answer(says("Rome"));
  fold.answer(says(R"({"name":"Rome"})"));
  EXPECT_EQ(fold.result().reason, StopReason::kFinished);
  EXPECT_EQ(json_string(fold.result().structured, "name"), "Rome");
}

TEST(StructuredTurn, LongComplaint_IsCutShort) {
  AgentSpec agent = Asked::model_agent();
  agent.options.output_schema = parse_json(R"({"enum": ["one"]})").value();
  Fold fold(agent, kAskModel);
  fold.begin("Say it");
  fold.answer(says("\"" + std::string(5'000, 'x') + "\""));
  EXPECT_LT(fold.messages().back()->text().size(), 600U);
}

TEST(StructuredTurn, Refusal_IsNotReadAsJson) {
  Asked fold;
  ModelResponse refusal = says({}, FinishReason::kRefusal);
  refusal.parts.emplace_back(RefusalPart{R"({"name":"Rome"})", nullptr});
  fold.answer(refusal);
  EXPECT_EQ(fold.result().reason, StopReason::kRefused);
  EXPECT_TRUE(fold.result().structured.is_null());
}

TEST(StructuredTurn, ToolsAndSteering_AreHandledBeforeTheAnswerIsJudged) {
  AgentSpec agent = Asked::model_agent();
  agent.tools = {test_tool("read")};
  Asked fold(agent);
  fold.answer(calls({tool_call("a", "read")}));
  fold.apply(records::Intervened{CommandVerb::kSteer, "the capital of France", nullptr});
  fold.give("a", "Rome");
  fold.answer(says(R"({"name":"Paris"})"));
  EXPECT_EQ(json_string(fold.result().structured, "name"), "Paris");
}

TEST(StructuredTurn, SchemaOfTheAgent_AppliesToEveryTurn) {
  AgentSpec agent = Asked::model_agent();
  agent.options.output_schema = city_schema();
  Fold fold(agent, kAskModel);
  for (const char* city : {"Rome", "Paris"}) {
    fold.begin("Which city?");
    fold.answer(says(R"({"name":")" + std::string(city) + "\"}"));
    EXPECT_EQ(json_string(fold.result().structured, "name"), city);
  }
}

}  // namespace
}  // namespace praxis
