#include "praxis/policy/rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policy/conditions.hpp"
#include "praxis/core/state.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Json json(std::string_view text) { return parse_json(text).value(); }

PolicyRule rule(const std::string& text) {
  auto read = policy_rule_from_json(json(text));
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read.value_or(PolicyRule{});
}

ToolDefinition tool_of(const std::string& name, std::string_view schema = R"({"type":"object"})") {
  ToolDefinition tool;
  tool.name = name;
  tool.parameters = json(schema);
  return tool;
}

ToolCallPart call_of(const std::string& name, std::string arguments) {
  ToolCallPart call;
  call.name = name;
  call.arguments = std::move(arguments);
  return call;
}

/// Whether a rule with the condition `when` on the tool `t` concerns a call, for a rule that allows and one
/// that denies.
std::string who_concerns(const std::string& when, const std::string& arguments,
                         std::string_view schema = R"({"type":"object"})") {
  std::string who;
  for (const char* kind : {"allow", "deny"}) {
    const PolicyRule made = rule(std::string(R"({"id":"r",")") + kind + R"(":["t"],"when":)" + when + '}');
    if (concerns(made, tool_of("t", schema), json(arguments)))
      who += who.empty() ? kind : std::string(" ") + kind;
  }
  return who;
}

constexpr const char* kBoth = "allow deny";
constexpr const char* kUnclear = "deny";  // fails closed
constexpr const char* kNeither = "";

struct TestCase {
  std::string when, arguments, concerned;
};

void expect_concerned(const std::vector<TestCase>& cases) {
  for (const auto& [when, arguments, concerned] : cases)
    EXPECT_EQ(who_concerns(when, arguments), concerned) << when << ' ' << arguments;
}

TEST(PolicyRuleTest, TestsOfValuesAndLists_AnswerYesNoOrUnclear) {
  expect_concerned({
      {R"({"x":{"is":"a"}})", R"({"x":"a"})", kBoth},
      {R"({"x":{"is":"a"}})", R"({"x":"b"})", kNeither},
      {R"({"x":{"is":{"b":1,"a":2}}})", R"({"x":{"a":2,"b":1}})", kBoth},
      {R"({"x":{"is":"1"}})", R"({"x":1})", kNeither},
      {R"({"x":{"is":"a"}})", R"({})", kUnclear},
      {R"({"x":{"is":null}})", R"({"x":null})", kBoth},
      {R"({"x":{"one_of":["a",2]}})", R"({"x":2})", kBoth},
      {R"({"x":{"one_of":["a",2]}})", R"({"x":3})", kNeither},
      {R"({"x":{"begins":"re"}})", R"({"x":"read"})", kBoth},
      {R"({"x":{"begins":"re"}})", R"({"x":"Read"})", kNeither},
      {R"({"x":{"begins":"re"}})", R"({"x":["re"]})", kUnclear},
      {R"({"x":{"begins":["git","log"]}})", R"({"x":["git","log","-1"]})", kBoth},
      {R"({"x":{"begins":["git","log"]}})", R"({"x":["git"]})", kNeither},
      {R"({"x":{"begins":["git"]}})", R"({"x":"git log"})", kUnclear},
      {R"({"x":{"has":["--force","-f"]}})", R"({"x":["git","push","--force"]})", kBoth},
      {R"({"x":{"has":["--force"]}})", R"({"x":["git","push","--force=yes"]})", kBoth},
      {R"({"x":{"has":["--force"]}})", R"({"x":["git","push","--force-with-lease"]})", kNeither},
      {R"({"x":{"has":["--force"]}})", R"({"x":["git","push","--forc"]})", kUnclear},
      {R"({"x":{"has":["--force"]}})", R"({"x":["git","push","--f=yes"]})", kUnclear},
      {R"({"x":{"has":["--force"]}})", R"({"x":["git","push","--f","--force"]})", kBoth},
      {R"({"x":{"has":["--force"]}})", R"({"x":["git","push","--","--=force","-force"]})", kNeither},
      {R"({"x":{"has":["--force"]}})", R"({"x":["git","push","--fast"]})", kNeither},
      {R"({"x":{"has":"-f"}})", R"({"x":["rm","-rf","/"]})", kBoth},
      {R"({"x":{"has":"-f"}})", R"({"x":["rm","--force"]})", kNeither},
      {R"({"x":{"has":"-f"}})", R"({"x":["rm",7]})", kUnclear},
      {R"({"x":{"has":"-f"}})", R"({"x":"rm -f"})", kUnclear},
  });
}

TEST(PolicyRuleTest, TestsOfTextsNumbersPathsAndUrls_AnswerYesNoOrUnclear) {
  expect_concerned({
      {R"({"x":{"matches":"[a-z]+"}})", R"({"x":"abc"})", kBoth},
      {R"({"x":{"matches":"[a-z]+"}})", R"({"x":"abc1"})", kNeither},
      {R"({"x":{"matches":"a.c"}})", R"({"x":"aöc"})", kBoth},
      {R"({"x":{"matches":"[a-z]+"}})", R"({"x":1})", kUnclear},
      {R"({"x":{"glob":"*.md"}})", R"({"x":"a.md"})", kBoth},
      {R"({"x":{"glob":"*.md"}})", R"({"x":"b/a.md"})", kNeither},
      {R"({"x":{"glob":"docs/**/*.md"}})", R"({"x":"docs/b/c/a.md"})", kBoth},
      {R"-({"x":{"glob":"ä?.(x)"}})-", R"-({"x":"äb.(x)"})-", kBoth},
      {R"({"x":{"at_most":5}})", R"({"x":5})", kBoth},
      {R"({"x":{"at_most":5}})", R"({"x":5.01})", kNeither},
      {R"({"x":{"at_least":2,"at_most":5}})", R"({"x":1})", kNeither},
      {R"({"x":{"at_most":5}})", R"({"x":"4"})", kUnclear},
      {R"({"x":{"at_most":5}})", R"({"x":18446744073709551615})", kNeither},
      {R"({"x":{"below":"docs"}})", R"({"x":"docs/a.md"})", kBoth},
      {R"({"x":{"below":"docs"}})", R"({"x":"./docs"})", kBoth},
      {R"({"x":{"below":"docs/"}})", R"({"x":"docs//a/../b"})", kBoth},
      {R"({"x":{"below":"docs"}})", R"({"x":"docs/../src/a"})", kNeither},
      {R"({"x":{"below":"docs"}})", R"({"x":"docs-old/a"})", kNeither},
      {R"({"x":{"below":"docs"}})", R"({"x":"../docs/a"})", kUnclear},
      {R"({"x":{"below":"docs"}})", R"({"x":"/docs/a"})", kUnclear},
      {R"({"x":{"below":"docs"}})", R"({"x":"docs/\u0000a"})", kUnclear},
      {R"({"x":{"below":"/srv/ws"}})", R"({"x":"/srv/ws-evil"})", kNeither},
      {R"({"x":{"below":"/"}})", R"({"x":"/etc/passwd"})", kBoth},
      {R"({"x":{"host":["example.com"]}})", R"({"x":"https://EXAMPLE.com:8443/a"})", kBoth},
      {R"({"x":{"host":["example.com"]}})", R"({"x":"https://example.com./"})", kBoth},
      {R"({"x":{"host":["example.com"]}})", R"({"x":"https://a.example.com/"})", kNeither},
      {R"({"x":{"host":["*.example.com"]}})", R"({"x":"https://a.example.com/"})", kBoth},
      {R"({"x":{"host":["*.example.com"]}})", R"({"x":"https://example.com/"})", kNeither},
      {R"({"x":{"host":["*.example.com"]}})", R"({"x":"https://evilexample.com/"})", kNeither},
      {R"({"x":{"host":"example.com"}})", R"({"x":"https://example.com@evil.org/"})", kUnclear},
      {R"({"x":{"host":"example.com"}})", R"({"x":"example.com"})", kUnclear},
      {R"({"x.y":{"is":1}})", R"({"x":{"y":1}})", kBoth},
      {R"({"x.y":{"is":1}})", R"({"x":1})", kUnclear},
  });
}

TEST(PolicyRuleTest, AllConditionsMustHold) {
  const std::string when = R"({"x":{"begins":"a","glob":"*z"},"y":{"is":true}})";
  EXPECT_EQ(who_concerns(when, R"({"x":"a-z","y":true})"), kBoth);
  EXPECT_EQ(who_concerns(when, R"({"x":"a-z","y":false})"), kNeither);
  EXPECT_EQ(who_concerns(when, R"({"x":"b-z","y":true})"), kNeither);
  EXPECT_EQ(who_concerns(when, R"({"x":"a-z"})"), kUnclear);
}

TEST(PolicyRuleTest, MissingArgument_IsWhatTheSchemaSaysItIs) {
  constexpr const char* kSchema =
      R"({"type":"object","properties":{"method":{"default":"GET"},"o":{"properties":{"n":{"default":3}}}}})";
  EXPECT_EQ(who_concerns(R"({"method":{"is":"GET"}})", "{}", kSchema), kBoth);
  EXPECT_EQ(who_concerns(R"({"method":{"is":"POST"}})", "{}", kSchema), kNeither);
  EXPECT_EQ(who_concerns(R"({"method":{"is":"GET"}})", R"({"method":"POST"})", kSchema), kNeither);
  EXPECT_EQ(who_concerns(R"({"o.n":{"at_most":3}})", "{}", kSchema), kBoth);
}

TEST(PolicyRuleTest, ArgumentsThatCannotBeRead_AreDeniedAndNotAllowed) {
  const ToolDefinition tool = tool_of("t", R"({"properties":{"x":{"default":"a"}}})");
  const std::string when = R"("when":{"x":{"is":"a"}}})";
  const PolicyRules allowing{.rules = {rule(R"({"id":"r","allow":["t"],)" + when)}};
  const PolicyRules denying{.allow = {"t"}, .rules = {rule(R"({"id":"r","deny":["t"],)" + when)}};
  for (const char* arguments : {"[1]", "{", R"({"x":"b","x":"a"})", "null"}) {
    EXPECT_EQ(explain(allowing, tool, call_of("t", arguments)).decided_by, "the tool") << arguments;
    EXPECT_EQ(explain(denying, tool, call_of("t", arguments)).decided_by, "rule r") << arguments;
  }
}

TEST(PolicyRuleTest, JsonForm_IsReadBackAsTheSameRule) {
  for (
      const char* text :
      {R"({"id":"a","deny":["shell","py*"],"when":{"argv":{"begins":["git","push"],"has":["-f"]}},"reason":"No."})",
       R"({"id":"b","ask":["http"],"when":{"url":{"host":["*.example.com"]},"n":{"at_least":1.5},"m":{"at_most":2}}})",
       R"({"id":"c","allow":["f"],"when":{"path":{"below":"docs"},"x":{"glob":"*.md"},"y":{"matches":"a+"},"z":{"is":[1]},"w":{"one_of":[1,"b"]},"v":{"begins":"a"}}})",
       R"({"id":"d","allow":["f"]})"}) {
    const PolicyRule read = rule(text);
    EXPECT_EQ(rule(to_json_text(to_json(read))), read) << text;
    EXPECT_EQ(to_canonical_json(to_json(read)),
              to_canonical_json(to_json(rule(to_json_text(to_json(read))))));
  }
  const PolicyRules rules{.deny = {"x"}, .rules = {rule(R"({"id":"a","ask":["f"]})")}, .source = "here"};
  EXPECT_EQ(policy_rules_from_json(to_json(rules)), rules);
}

TEST(PolicyRuleTest, WrongRule_IsNamed) {
  struct Case {
    std::string text, why;
  };
  for (const auto& [text, why] : std::vector<Case>{
           {"1", "must be a table"},
           {R"({"deny":["t"]})", "needs an \"id\""},
           {R"({"id":"r"})", "needs one of \"allow\", \"ask\" and \"deny\""},
           {R"({"id":"r","allow":["t"],"deny":["t"]})", "needs one of"},
           {R"({"id":"r","deny":[]})", "\"deny\" must be a text or a list of texts, not []"},
           {R"({"id":"r","deny":["t"],"wen":{}})", "not \"wen\""},
           {R"({"id":"r","deny":["t"],"reason":1})", "the \"reason\" of a rule must be a text"},
           {R"({"id":"r","deny":["t"],"when":[1]})", "\"when\" must be a table of arguments"},
           {R"({"id":"r","deny":["t"],"when":{"x":"a"}})", "\"when.x\" must be a table with a test"},
           {R"({"id":"r","deny":["t"],"when":{"x":{}}})", "\"when.x\" must be a table with a test"},
           {R"({"id":"r","deny":["t"],"when":{"x":{"equals":1}}})", "there is no test \"equals\""},
           {R"-({"id":"r","deny":["t"],"when":{"x":{"matches":"(?=a)"}}})-", "no look-around"},
           {R"({"id":"r","deny":["t"],"when":{"x":{"at_most":"1"}}})", "\"at_most\" must be a number"},
           {R"({"id":"r","deny":["t"],"when":{"x":{"begins":1}}})", "\"begins\" must be"},
           {R"({"id":"r","deny":["t"],"when":{"x":{"one_of":[]}}})", "\"one_of\" must be"},
           {R"({"id":"r","deny":["t"],"when":{"x":{"below":""}}})", "\"below\" must be a folder"},
           {R"({"id":"r","deny":["t"],"when":{"x":{"glob":")" + std::string(1001, '*') + R"("}}})",
            "more than 1000 bytes"},
       }) {
    const auto read = policy_rule_from_json(json(text));
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(why)) << text;
  }
}

TEST(PolicyRuleTest, UnreadableRuleInALog_DeniesEverything) {
  const PolicyRules rules =
      policy_rules_from_json(json(R"({"allow":["t"],"rules":[{"id":"new","forbid":"t"}]})"));
  EXPECT_TRUE(std::holds_alternative<Deny>(judge(rules, tool_of("t"), call_of("t", "{}"))));
}

// ---- precedence

TEST(PolicyRuleTest, Precedence_IsTheSameInEveryOrderOfTheRules) {
  const std::vector<PolicyRule> all{rule(R"({"id":"deny","deny":["t"],"when":{"n":{"at_least":30}}})"),
                                    rule(R"({"id":"ask","ask":["t"],"when":{"n":{"at_least":20}}})"),
                                    rule(R"({"id":"allow","allow":["t"],"when":{"n":{"at_least":10}}})")};
  std::vector<std::size_t> order{0, 1, 2};
  do {
    PolicyRules rules{.ask = {"t"}, .calls = {{"t", json(R"({"n":25})")}, {"t", json(R"({"n":35})")}}};
    for (const std::size_t i : order) rules.rules.push_back(all[i]);
    const auto by = [&](const char* arguments) {
      return explain(rules, tool_of("t"), call_of("t", arguments)).decided_by;
    };
    EXPECT_EQ(by(R"({"n":31})"), "rule deny");
    EXPECT_EQ(by(R"({"n":35})"), "rule deny") << "a call that was allowed before is denied too";
    EXPECT_EQ(by(R"({"n":25})"), "calls");
    EXPECT_EQ(by(R"({"n":21})"), "rule ask");
    EXPECT_EQ(by(R"({"n":11})"), "rule allow") << "a rule is about less than the list";
    EXPECT_EQ(by(R"({"n":1})"), "ask");
  } while (std::ranges::next_permutation(order).found);
}

TEST(PolicyRuleTest, Texts_NameTheRuleAndItsReason) {
  const PolicyRules rules{.rules = {rule(R"({"id":"no-push","deny":["t"],"reason":"A person pushes."})"),
                                    rule(R"({"id":"look","ask":["u"]})")}};
  const Permission denied = judge(rules, tool_of("t"), call_of("t", "{}"));
  EXPECT_EQ(std::get<Deny>(denied).reason, R"(The rule "no-push" denies "t": A person pushes.)");
  const Permission asked = judge(rules, tool_of("u"), call_of("u", "{}"));
  EXPECT_EQ(std::get<NeedsApproval>(asked).reason, R"(The rule "look" requires an approval for "u".)");
}

TEST(PolicyRuleTest, RuleWithoutConditions_HidesTheTool) {
  const PolicyRules rules{.rules = {rule(R"({"id":"a","deny":["t"]})"),
                                    rule(R"({"id":"b","deny":["u"],"when":{"x":{"is":1}}})")}};
  EXPECT_TRUE(denies({rules}, "t"));
  EXPECT_FALSE(denies({rules}, "u"));
}

TEST(PolicyRuleTest, LayerOfTheConfiguration_OnlyRestricts) {
  const PolicyRules layer{.deny = {"rm"},
                          .ask = {"send"},
                          .rules = {rule(R"({"id":"r","deny":["t"],"when":{"x":{"is":1}}})")},
                          .source = "/etc/praxis/config.toml"};
  const PolicyRules agent{.allow = {"*"}};
  const auto decision = [&](const std::vector<PolicyRules>& rules, const char* tool, const char* arguments) {
    return judge(rules, tool_of(tool), call_of(tool, arguments));
  };
  EXPECT_TRUE(std::holds_alternative<Allow>(decision({layer, agent}, "t", R"({"x":2})")));
  EXPECT_TRUE(std::holds_alternative<Deny>(decision({layer, agent}, "t", R"({"x":1})")));
  EXPECT_TRUE(std::holds_alternative<Deny>(decision({layer, {}}, "t", R"({"x":2})"))) << "it allows nothing";
  EXPECT_TRUE(std::holds_alternative<NeedsApproval>(decision({layer, agent}, "send", "{}")));
  EXPECT_THAT(std::get<Deny>(decision({layer, agent}, "rm", "{}")).reason,
              AllOf(HasSubstr("/etc/praxis/config.toml"), ::testing::Not(HasSubstr("agent above"))));
}

// One more set of rules never makes a decision milder, for all pairs of sets and all calls, at any point of a
// session.
TEST(PolicyRuleTest, AddingALayer_NeverWidens) {
  const std::vector<PolicyRules> sets{
      {.allow = {"*"}},
      {.deny = {"t"}},
      {.ask = {"t"}},
      {.allow = {"t"}, .rules = {rule(R"({"id":"r","deny":["t"],"when":{"x":{"at_least":2}}})")}},
      {.rules = {rule(R"({"id":"r","allow":["t"],"when":{"x":{"at_most":2}}})")}},
      {.ask = {"t"}, .calls = {{"t", json(R"({"x":1})")}}},
      {.ask = {"t"}, .source = "layer"},
      {.rules = {rule(R"({"id":"r","ask":["t"],"when":{"x":{"is":3}}})")}, .source = "layer"},
      {.rules = {rule(R"({"id":"r","allow":["t"],"at_most":{"calls":1,"per":"1h"}})")}},
      {.allow = {"t"}, .rules = {rule(R"({"id":"r","ask":["t"],"after":{"calls":1}})")}},
      {.rules = {rule(R"({"id":"r","deny":["*"],"during":{"to":"08:00","zone":"UTC"}})")}, .source = "layer"},
      {.rules = {rule(R"({"id":"r","allow":["t"],"during":{"from":"08:00","zone":"+01:00"}})")}}};
  std::vector<State> points(4);
  points[1].time = {9 * 3'600'000};
  points[2].started = {{.tool = "t", .arguments = "{}", .time = {0}}};
  points[3].time = {10 * 3'600'000};
  points[3].started = {{.tool = "t", .time = {0}, .calls = 3}};
  const ToolDefinition tool = tool_of("t");
  for (const PolicyRules& first : sets) {
    for (const PolicyRules& second : sets) {
      for (const char* arguments : {"{}", R"({"x":1})", R"({"x":2})", R"({"x":3})", R"({"x":"2"})", "["}) {
        const ToolCallPart call = call_of("t", arguments);
        for (std::size_t i = 0; i <= points.size(); ++i) {
          const State* const at = i < points.size() ? &points[i] : nullptr;
          const int both = strictness(judge_at({first, second}, tool, call, at));
          EXPECT_GE(both, strictness(judge_at({second}, tool, call, at))) << arguments << i;
          EXPECT_GE(both, strictness(judge_at({first}, tool, call, at))) << arguments << i;
          EXPECT_GE(both, strictness(judge({first, second}, tool, call))) << "conditions widen" << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace praxis
