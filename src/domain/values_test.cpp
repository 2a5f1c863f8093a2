#include <gtest/gtest.h>

#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis {
namespace {

TEST(Usage, Sums_AndSurvivesJson) {
  const Usage a{100, 20, 30, 5, 1, 7, {1'250'001}, false};
  const Usage b{1, 2, 3, 4, 2, 5, {6}, true};
  const Usage sum = a + b;
  EXPECT_EQ(sum, (Usage{101, 22, 33, 9, 3, 12, {1'250'007}, true}));
  EXPECT_EQ(sum.total(), 123);
  EXPECT_EQ(usage_from_json(to_json(sum)), sum);
}

TEST(ToolDefinition, InvalidField_IsNamed) {
  const auto problem = [](std::string name, Json parameters, int timeout_ms) {
    ToolDefinition definition;
    definition.name = std::move(name);
    definition.parameters = std::move(parameters);
    definition.timeout = std::chrono::milliseconds(timeout_ms);
    const Status checked = check(definition);
    return checked ? std::string() : checked.error().message;
  };
  const Json object = JsonObject{{"type", "object"}};
  EXPECT_EQ(problem("good_name-1", object, 1), "");
  EXPECT_NE(problem("", object, 1).find("must be 1 to 64"), std::string::npos);
  EXPECT_NE(problem("no spaces", object, 1).find("\"no spaces\""), std::string::npos);
  EXPECT_NE(problem(std::string(65, 'a'), object, 1).find("must be 1 to 64"), std::string::npos);
  EXPECT_NE(problem("t", JsonObject{{"type", "array"}}, 1).find("\"type\": \"object\""), std::string::npos);
  EXPECT_NE(problem("t", object, -1).find("timeout must not be negative"), std::string::npos);
}

AgentSpec full_spec() {
  AgentSpec spec;
  spec.id = "a";
  spec.name = "A";
  spec.model = "script:x";
  spec.instructions = "Be brief.";
  spec.options.temperature = 0.5;
  spec.options.max_output_tokens = 9;
  spec.options.tool_choice = "required";
  spec.options.reasoning_effort = "low";
  spec.options.extra = JsonObject{{"seed", 1}};
  spec.tools = {{{"t", "does", JsonObject{{"type", "object"}}, Millis{5}, true, true}, 2, true}};
  spec.limits = {1, 2, Millis{3}, 4, {5'000'000}, 6, 7, 8, 9, 10};
  spec.tool_failure = ToolFailureMode::kFail;
  spec.in_doubt = InDoubt::kTell;
  spec.plan = JsonArray{JsonObject{{"finish", "x"}}};
  spec.policy = JsonObject{{"deny", JsonArray{"t"}}};
  spec.metadata = JsonObject{{"k", "v"}};
  return spec;
}

TEST(AgentSpec, EveryField_SurvivesJson) {
  const auto back = agent_spec_from_json(to_json(full_spec()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(full_spec()));
  EXPECT_EQ(back->limits, full_spec().limits);
  EXPECT_EQ(to_json_text(to_json(full_spec().limits)),
            R"({"max_steps":1,"max_tool_calls":2,"timeout":3,"max_tokens":4,"max_usd":5,"max_context":6,)"
            R"("max_parallel_tools":7,"max_model_attempts":8,"max_repeats":9,"max_messages":10,)"
            R"("max_model_retries":16,"compact_at":80,"max_wait":0})");
  EXPECT_EQ(back->options, full_spec().options);
  ASSERT_NE(back->find_tool("t"), nullptr);
  EXPECT_EQ(back->find_tool("t")->retries, 2U);
  EXPECT_TRUE(back->find_tool("t")->definition.idempotent);
  EXPECT_EQ(back->find_tool("u"), nullptr);
}

TEST(Limits, NamesOfEarlierJournals_AreRead) {
  const Limits old = limits_from_json(
      *parse_json(R"({"max_steps":5,"max_time_ms":1500,"max_cost_usd":0.25,"max_wait_ms":99999999999})"));
  EXPECT_EQ(old.max_steps, 5U);
  EXPECT_EQ(old.timeout, Millis{1'500});
  EXPECT_EQ(old.max_usd, MicroUsd{250'000});
  EXPECT_EQ(old.max_wait, Millis{99'999'999'999});
  EXPECT_EQ(old.max_parallel_tools, Limits{}.max_parallel_tools);
  EXPECT_EQ(old.max_model_retries, 0U) << "there was no such bound";
  EXPECT_EQ(old.compact_at, 0U);
  EXPECT_EQ(limits_from_json(*parse_json(R"({"max_steps":"many","to_come":1})")).max_steps, 100U);
  EXPECT_EQ(limits_from_json(nullptr).max_steps, 100U);
}

TEST(Limits, Settings_AreLaidOverAndCheckedByName) {
  Limits limits;
  limits.max_tokens = 7;
  ASSERT_TRUE(read_limits(*parse_json(R"({"timeout":"5m","max_usd":0.5,"compact_at":50})"), limits));
  EXPECT_EQ(limits.timeout, Millis{300'000});
  EXPECT_EQ(limits.max_usd, MicroUsd{500'000});
  EXPECT_EQ(limits.max_tokens, 7);
  const auto wrong = [&](std::string_view table) {
    return read_limits(*parse_json(table), limits).error().message;
  };
  EXPECT_EQ(wrong(R"({"max_step":1})"), R"(unknown key "limits.max_step"; did you mean "max_steps"?)");
  EXPECT_EQ(wrong(R"({"max_usd":-1})"), R"("limits.max_usd" must be US dollars, 0 or more)");
  EXPECT_EQ(wrong(R"({"max_steps":-1})"), R"("limits.max_steps" must be an integer from 0 to 4294967295)");
}

TEST(AgentSpec, BadTool_IsRefused) {
  const auto spec = agent_spec_from_json(JsonObject{
      {"tools", JsonArray{JsonObject{{"name", "t"}, {"parameters", JsonObject{{"type", "string"}}}}}}});
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().code, ErrorCode::kInput);
}

TEST(ModelTypes, FinishReasons_RoundTrip) {
  for (int i = 0; i <= static_cast<int>(FinishReason::kOther); ++i) {
    const auto reason = static_cast<FinishReason>(i);
    EXPECT_EQ(finish_reason_from(to_string(reason)), reason);
  }
  EXPECT_EQ(finish_reason_from("brand_new"), FinishReason::kOther);
}

TEST(ModelTypes, Response_SurvivesJson) {
  ModelResponse response;
  response.parts = {TextPart{"hi", nullptr}, ToolCallPart{CallId{"c"}, "t", "{}", true, nullptr}};
  response.finish = FinishReason::kToolCalls;
  response.finish_raw = "tool_use";
  response.usage.input = 3;
  response.failed_usage.output = 4;
  response.model = "m-1";
  response.response_id = "r";
  response.warnings = {"w"};
  const auto back = model_response_from_json(to_json(response));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(response));
  EXPECT_EQ(back->failed_usage.output, 4);
}

}  // namespace
}  // namespace praxis
