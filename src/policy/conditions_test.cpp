#include "policy/conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "praxis/base/dates.hpp"
#include "praxis/core/state.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PolicyRule timed(const std::string& text) {
  auto read = policy_rule_from_json(parse_json(text).value());
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read.value_or(PolicyRule{});
}

std::string wrong(const std::string& text) {
  const auto read = policy_rule_from_json(parse_json(text).value());
  return read ? "" : read.error().message;
}

State at_time(const char* time) {
  State state;
  state.time = from_iso8601(time).value();
  return state;
}

/// `allow`, `ask` or `deny`, and the reason.
std::string decision(const PolicyRules& rules, const State& at, const std::string& arguments = "{}") {
  ToolDefinition tool;
  tool.name = "http";
  ToolCallPart call;
  call.name = "http";
  call.arguments = arguments;
  const Permission permission = judge_at({rules}, tool, call, &at);
  if (const auto* denied = std::get_if<Deny>(&permission)) return "deny: " + denied->reason;
  if (const auto* asked = std::get_if<NeedsApproval>(&permission)) return "ask: " + asked->reason;
  return "allow";
}

TEST(PolicyConditions, TimesOfDay_AreThoseOfTheZone) {
  const PolicyRules rules{
      .allow = {"http"},
      .rules = {
          timed(R"({"id":"night","deny":"http","during":{"from":"18:00","to":"08:00","zone":"+02:00"}})")}};
  EXPECT_EQ(decision(rules, at_time("2026-03-02T15:59:59Z")), "allow");
  EXPECT_EQ(decision(rules, at_time("2026-03-02T16:00:00Z")),
            "deny: The rule \"night\" denies \"http\" 18:00-08:00 (+02:00).");
  EXPECT_THAT(decision(rules, at_time("2026-03-03T05:59:00Z")), HasSubstr("deny"));
  EXPECT_EQ(decision(rules, at_time("2026-03-03T06:00:00Z")), "allow");
}

TEST(PolicyConditions, DaysAreThoseOnWhichTheSpanBegins) {
  const PolicyRules rules{
      .rules = {timed(
          R"({"id":"r","allow":"http","during":{"from":"22:00","to":"02:00","days":["fri"],"zone":"UTC"}})")}};
  EXPECT_THAT(decision(rules, at_time("2026-03-05T23:00:00Z")), HasSubstr("deny")) << "Thursday";
  EXPECT_EQ(decision(rules, at_time("2026-03-06T23:00:00Z")), "allow");
  EXPECT_EQ(decision(rules, at_time("2026-03-07T01:00:00Z")), "allow") << "began on Friday";
  EXPECT_THAT(decision(rules, at_time("2026-03-07T23:00:00Z")), HasSubstr("deny"));
}

TEST(PolicyConditions, CallsBeyondTheNumber_AreDeniedEvenIfAListAllowsThem) {
  const PolicyRules rules{
      .allow = {"http"},
      .rules = {
          timed(R"({"id":"few","allow":"http","at_most":{"calls":2,"per":"1h"},"reason":"It is slow."})")}};
  State at = at_time("2026-03-02T10:00:00Z");
  at.started = {{.tool = "http", .arguments = "{}", .time = at.time + Millis{-3'600'001}},
                {.tool = "kv", .arguments = "{}", .time = at.time},
                {.tool = "http", .arguments = "{}", .time = at.time + Millis{-3'599'999}}};
  EXPECT_EQ(decision(rules, at), "allow");
  at.started.push_back({.tool = "http", .arguments = "{}", .time = at.time});
  EXPECT_EQ(decision(rules, at), "deny: The rule \"few\" allows \"http\" at most 2 times in 1h: It is slow.");
  EXPECT_THAT(conditions_at(rules, "http", at), ElementsAre("rule few: 2 of 2 calls in 1h"));
  at.time = at.time + Millis{3'600'000};
  EXPECT_EQ(decision(rules, at), "allow");
}

TEST(PolicyConditions, RuleThatAsksAfterSomeCalls_CountsThoseItIsAbout) {
  const PolicyRules rules{
      .allow = {"http"},
      .rules = {timed(R"({"id":"r","ask":"http","when":{"method":{"is":"POST"}},"after":{"calls":1}})")}};
  const std::string post = R"({"method":"POST"})", get = R"({"method":"GET"})";
  State at;
  at.started = {{.tool = "http", .arguments = get}, {.tool = "http", .arguments = get}};
  EXPECT_EQ(decision(rules, at, post), "allow");
  at.started.push_back({.tool = "http", .arguments = post});
  EXPECT_THAT(decision(rules, at, post), HasSubstr("requires an approval for \"http\" after 1 calls"));
  EXPECT_EQ(decision(rules, at, get), "allow");
  at.started = {{.tool = "http", .arguments = ""}};
  EXPECT_THAT(decision(rules, at, post), HasSubstr("ask")) << "unknown arguments count";
}

TEST(PolicyConditions, RulesWithoutAPointOfTheSession_AreJudgedWhenTheCallStarts) {
  const PolicyRules rules{.allow = {"http"},
                          .rules = {timed(R"({"id":"r","deny":"*","after":{"calls":0}})")}};
  ToolDefinition tool;
  tool.name = "http";
  ToolCallPart call;
  call.name = "http";
  EXPECT_TRUE(std::holds_alternative<Allow>(judge(rules, tool, call)));
  EXPECT_FALSE(denies({rules}, "http")) << "the model is offered the tool";
  EXPECT_THAT(decision(rules, State{}), HasSubstr("deny"));
}

TEST(PolicyConditions, JsonForm_IsReadBackAsTheSameRule) {
  for (
      const char* text :
      {R"({"id":"a","allow":["t"],"at_most":{"calls":20,"per":"90m"}})",
       R"({"id":"a","deny":["t"],"during":{"from":"09:00","to":"17:30","days":["mon","sun"],"zone":"UTC"},"after":{"calls":0},"given":[{"time":5,"calls":2}]})"}) {
    EXPECT_EQ(to_json(timed(text)), parse_json(text).value()) << text;
    EXPECT_EQ(timed(to_json_text(to_json(timed(text)))), timed(text));
  }
}

TEST(PolicyConditions, WrongCondition_IsNamed) {
  struct Case {
    std::string keys, message;
  };
  for (const auto& [keys, message] : std::vector<Case>{
           {R"("allow":"t","after":{"calls":1})", "a rule that allows has \"at_most\""},
           {R"("deny":"t","at_most":{"calls":1})", "one that asks or denies has \"after\""},
           {R"("deny":"t","after":{"calls":-1})",
            "\"after.calls\" must be an integer from 0 to 1000, not -1"},
           {R"("deny":"t","after":{"calls":1001})", "from 0 to 1000"},
           {R"("deny":"t","after":{"per":"1h"})", "not null"},
           {R"("deny":"t","after":{"calls":1,"per":60})", "\"after.per\" must be a duration such as \"1h\""},
           {R"("deny":"t","after":{"calls":1,"in":"1h"})", "\"after\" has no key \"in\""},
           {R"("deny":"t","during":"night")", "\"during\" must be a table"},
           {R"("deny":"t","during":{"from":"9:00","zone":"UTC"})", "\"during.from\" must be a time"},
           {R"("deny":"t","during":{"to":"24:01","zone":"UTC"})", "\"during.to\" must be a time"},
           {R"("deny":"t","during":{"from":"09:00","to":"09:00","zone":"UTC"})", "not when it begins"},
           {R"("deny":"t","during":{"days":["Monday"],"zone":"UTC"})", "mon, tue"},
           {R"("deny":"t","during":{"days":[],"zone":"UTC"})", "must be a list"},
           {R"("deny":"t","during":{"from":"09:00"})", "needs a \"zone\""},
           {R"("deny":"t","during":{"zone":"Nowhere/At_All"})", "\"Nowhere/At_All\" is not known"},
       })
    EXPECT_THAT(wrong(R"({"id":"r",)" + keys + '}'), HasSubstr(message)) << keys;
}

TEST(PolicyConditions, SubAgent_BeginsWithTheCallsOfThoseAbove) {
  const Json policy = to_json(
      PolicyRules{.allow = {"http"}, .rules = {timed(R"({"id":"r","deny":"http","after":{"calls":3}})")}});
  State above;
  above.time = {10'000};
  above.started = {{.tool = "http", .arguments = "{}", .time = {1'000}, .calls = 2}};
  const Json below = counted_below(policy, above);
  State child;
  child.time = {11'000};
  EXPECT_EQ(decision(policy_rules_from_json(below), child), "allow");
  child.started = {{.tool = "http", .arguments = "{}", .time = {10'500}}};
  EXPECT_THAT(decision(policy_rules_from_json(below), child), HasSubstr("deny"));
  EXPECT_EQ(decision(policy_rules_from_json(policy), child), "allow") << "without them it would run";
  const Json further = counted_below(below, child);
  EXPECT_THAT(decision(policy_rules_from_json(further), State{}), HasSubstr("deny")) << "two levels down";
  const Json other = JsonObject{{"allow", JsonArray{"*"}}, {"redact", "off"}};
  EXPECT_EQ(counted_below(other, above), other);
}

}  // namespace
}  // namespace praxis
