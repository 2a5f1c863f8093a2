#include "app/always_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace praxis::app {
namespace {

using ::testing::HasSubstr;

AlwaysRule narrow(const JsonArray& argv) { return {{"shell", JsonObject{{"argv", argv}}}, {"build.toml"}}; }

std::string refusal(const std::string& text) {
  const auto rule = edited_rule(narrow({"make", "test"}), text);
  return rule ? "accepted" : rule.error().message;
}

TEST(AlwaysRules, EditedRule_MustAllowTheCallInQuestion) {
  const auto wider = edited_rule(narrow({"make", "test"}),
                                 R"({"tool": "shell", "arguments": {"argv": ["make"]}, "any_ending": true})");
  ASSERT_TRUE(wider) << wider.error().message;
  EXPECT_EQ(wider->files, narrow({}).files);
  EXPECT_THAT(
      rule_text(*wider, 80),
      HasSubstr("exactly these, also with more words at the end of \"argv\":\n  | call shell\n  | argv: "
                "[\"make\"]\n  for the agent build.toml\n"));
  const std::string other = "the rule would not allow this call, so it was not changed";
  EXPECT_EQ(refusal(R"({"tool": "shell", "arguments": {"argv": ["make"]}})"), other);
  EXPECT_EQ(refusal(R"({"tool": "kv", "arguments": {"argv": ["make", "test"]}})"), other);
  EXPECT_THAT(refusal(R"({"tool": "*", "arguments": {}})"), HasSubstr("without \"*\""));
  EXPECT_THAT(refusal(R"({"tool": "shell", "arguments": {}, "any_ending": true})"), HasSubstr("argv"));
  EXPECT_NE(refusal("{"), "accepted");
}

TEST(AlwaysRules, RuleToEdit_IsTheSameRuleUnchanged) {
  const AlwaysRule rule = narrow({"make", "test"});
  EXPECT_THAT(rule_to_edit(rule), HasSubstr("\"any_ending\": false"));
  EXPECT_EQ(edited_rule(rule, rule_to_edit(rule)).value(), rule);
}

TEST(AlwaysRules, SavedRule_AllowsFurtherCallsOfTheSameFiles) {
  AlwaysRule make = narrow({"make"});
  make.rule.any_ending = true;
  EXPECT_TRUE(is_allowed({make}, narrow({"make", "lint"})));
  EXPECT_FALSE(is_allowed({make}, narrow({"rm", "-r"})));
  AlwaysRule elsewhere = narrow({"make", "lint"});
  elsewhere.files = {"other.toml"};
  EXPECT_FALSE(is_allowed({make}, elsewhere));
  EXPECT_FALSE(is_allowed({}, narrow({"make"})));
}

}  // namespace
}  // namespace praxis::app
