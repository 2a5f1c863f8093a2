#include "praxis/policy/policy.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

Verdict verdict(const PolicyRules& rules, bool safe, const std::string& tool = "file_write") {
  ToolDefinition definition;
  definition.name = tool;
  definition.safe_by_default = safe;
  ToolCallPart call;
  call.name = tool;
  return judge(rules, definition, call);
}

TEST(Policy, UnsafeToolWithoutRule_IsDenied) {
  EXPECT_TRUE(std::holds_alternative<Deny>(verdict({}, false)));
  EXPECT_TRUE(std::holds_alternative<Allow>(verdict({}, true)));
}

TEST(Policy, DenyWinsOverAsk_AskOverAllow) {
  EXPECT_TRUE(std::holds_alternative<Deny>(verdict({{"*"}, {"file_*"}, {"*"}}, true)));
  EXPECT_TRUE(std::holds_alternative<Ask>(verdict({{"*"}, {}, {"file_write"}}, true)));
  EXPECT_TRUE(std::holds_alternative<Allow>(verdict({{"file_*"}, {}, {}}, false)));
}

TEST(Policy, PatternNamesOnlyItsPrefix) {
  EXPECT_TRUE(rule_names("file_*", "file_read"));
  EXPECT_FALSE(rule_names("file_*", "http"));
  EXPECT_FALSE(rule_names("file", "file_read"));
  EXPECT_FALSE(rule_names("", "file_read"));
}

TEST(Policy, RulesSurviveJson) {
  const PolicyRules rules{{"a"}, {"b", "c*"}, {"d"}};
  EXPECT_EQ(policy_rules_from_json(to_json(rules)), rules);
}

}  // namespace
}  // namespace praxis
