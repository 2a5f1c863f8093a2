#include "praxis/policy/policy.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

Permission permission(const PolicyRules& rules, bool safe, const std::string& tool = "file_write") {
  ToolDefinition definition;
  definition.name = tool;
  definition.safe_by_default = safe;
  ToolCallPart call;
  call.name = tool;
  return judge(rules, definition, call);
}

CallRule run(std::initializer_list<const char*> argv, bool any_ending = false) {
  return {"shell", JsonObject{{"argv", JsonArray(argv.begin(), argv.end())}}, any_ending};
}
ToolCallPart shell(std::string arguments) {
  ToolCallPart call;
  call.name = "shell";
  call.arguments = std::move(arguments);
  return call;
}

TEST(Policy, UnsafeToolWithoutRule_IsDenied) {
  EXPECT_TRUE(std::holds_alternative<Deny>(permission({}, false)));
  EXPECT_TRUE(std::holds_alternative<Allow>(permission({}, true)));
}

TEST(Policy, Deny_TakesPrecedenceOverAskAndAskOverAllow) {
  EXPECT_TRUE(std::holds_alternative<Deny>(permission({{"*"}, {"file_*"}, {"*"}}, true)));
  EXPECT_TRUE(std::holds_alternative<NeedsApproval>(permission({{"*"}, {}, {"file_write"}}, true)));
  EXPECT_TRUE(std::holds_alternative<Allow>(permission({{"file_*"}, {}, {}}, false)));
}

TEST(Policy, DeniedToolsAreThoseThatSomeDenyRuleNames) {
  const PolicyRules root{{"*"}, {"delete_*"}, {}}, child{{}, {"shell"}, {"send"}};
  EXPECT_TRUE(denies({root, child}, "delete_all"));
  EXPECT_TRUE(denies({root, child}, "shell"));
  EXPECT_FALSE(denies({root, child}, "send"));
  EXPECT_FALSE(denies({root, child}, "unnamed")) << "a call rule may still allow single calls";
}

TEST(Policy, Pattern_MatchesOnlyItsPrefix) {
  EXPECT_TRUE(rule_names("file_*", "file_read"));
  EXPECT_FALSE(rule_names("file_*", "http"));
  EXPECT_FALSE(rule_names("file", "file_read"));
  EXPECT_FALSE(rule_names("", "file_read"));
}

TEST(Policy, Rules_SurviveARoundTripThroughJson) {
  const PolicyRules rules{{"a"}, {"b", "c*"}, {"d"}, {{"e", JsonObject{{"x", 1}}}, run({"ls"}, true)}};
  EXPECT_EQ(policy_rules_from_json(to_json(rules)), rules);
  EXPECT_FALSE(to_json(PolicyRules{}).get_object().contains("calls")) << "as before there were such rules";
}

// ---- several sets of rules

TEST(PolicyOfSeveral, StrictestRule_Applies) {
  const PolicyRules silent, allows{{"file_write"}, {}, {}}, asks{{}, {}, {"file_write"}},
      denies{{}, {"*"}, {}};
  struct Case {
    std::vector<PolicyRules> rules;
    bool safe;
    std::size_t permission;
  };
  const std::size_t allowed = Permission(allow()).index(), denied = deny("").index(),
                    asked = needs_approval("").index();
  const std::vector<Case> cases = {
      {{allows, allows}, false, allowed}, {{denies, allows}, true, denied},
      {{allows, denies}, true, denied},   {{silent, allows}, false, denied},
      {{silent, allows}, true, allowed},  {{asks, allows}, false, asked},
      {{allows, asks}, false, asked},     {{asks, denies}, true, denied},
      {{asks, silent}, false, denied},    {{}, false, allowed},
  };
  ToolDefinition tool;
  tool.name = "file_write";
  ToolCallPart call;
  call.name = tool.name;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    tool.safe_by_default = cases[i].safe;
    EXPECT_EQ(judge(cases[i].rules, tool, call).index(), cases[i].permission) << "case " << i;
  }
}

TEST(PolicyOfSeveral, CallAllowedForTheChild_StillNeedsApprovalAbove) {
  PolicyRules above, own;
  above.ask = {"shell"};
  own.ask = {"shell"};
  own.calls = {run({"ls"})};
  const ToolCallPart call = shell(R"({"argv": ["ls"]})");
  EXPECT_TRUE(std::holds_alternative<NeedsApproval>(judge({above, own}, {}, call)));
  above.calls = own.calls;
  EXPECT_TRUE(std::holds_alternative<Allow>(judge({above, own}, {}, call)));
}

TEST(Policy, RepeatedKey_IsDeniedBeforeAnApproverIsAsked) {
  PolicyRules asks;
  asks.ask = {"shell"};
  ToolDefinition careful;
  careful.needs_approval = true;
  const ToolCallPart plain = shell(R"({"argv": ["ls"], "env": {"argv": 1}})");
  const ToolCallPart twice = shell(R"({"argv": ["ls"], "\u0061rgv": ["rm"]})");
  const ToolCallPart below = shell(R"({"a": [{"b": {"k": 1, "k": 2}}]})");
  for (const auto& [rules, tool] : {std::pair(asks, ToolDefinition{}), std::pair(PolicyRules{}, careful)}) {
    EXPECT_TRUE(std::holds_alternative<NeedsApproval>(judge(rules, tool, plain)));
    const Permission permission = judge(rules, tool, twice);
    ASSERT_TRUE(std::holds_alternative<Deny>(permission));
    EXPECT_NE(std::get<Deny>(permission).reason.find("the key \"argv\" occurs more than once"),
              std::string::npos);
    EXPECT_TRUE(std::holds_alternative<Deny>(judge(rules, tool, below)));
  }
}

TEST(CallRule, RepeatedKey_MatchesNoRule) {
  PolicyRules rules;
  rules.calls = {run({"ls"})};
  EXPECT_FALSE(allows(rules.calls.front(), shell(R"({"argv": ["rm"], "argv": ["ls"]})")));
}

// ---- rules for single calls

TEST(CallRule, Rule_AllowsExactlyItsArguments) {
  struct Case {
    CallRule rule;
    const char* arguments;
    bool allowed;
  };
  const CallRule two{"shell", parse_json(R"({"argv": ["ls"], "cwd": "src"})").value()};
  const CallRule words{"shell", parse_json(R"({"argv": ["git", "log"], "cwd": "src"})").value(), true};
  const std::vector<Case> cases = {
      {two, R"({"argv": ["ls"], "cwd": "src"})", true},
      {two, R"({ "cwd":"src", "argv":["ls"] })", true},
      {two, R"({"argv": ["ls"]})", false},
      {two, R"({"argv": ["ls"], "cwd": "src", "env": {}})", false},
      {two, R"({"argv": ["ls", "-l"], "cwd": "src"})", false},
      {two, R"({"argv": ["ls"], "cwd": "/"})", false},
      {two, "{", false},
      {two, "", false},
      {words, R"({"argv": ["git", "log"], "cwd": "src"})", true},
      {words, R"({"argv": ["git", "log", "-p"], "cwd": "src"})", true},
      {words, R"({"argv": ["git"], "cwd": "src"})", false},
      {words, R"({"argv": ["git", "push"], "cwd": "src"})", false},
      {words, R"({"argv": ["git", "log"], "cwd": "/"})", false},
      {words, R"({"argv": ["git", "log"]})", false},
      {words, R"({"argv": "git log", "cwd": "src"})", false},
      {{"shell", JsonObject{}}, "", true},
      {{"shell", JsonObject{}, true}, R"({"argv": ["rm"]})", false},
      {{"other", JsonObject{}}, "", false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(allows(each.rule, shell(each.arguments)), each.allowed)
        << to_text(each.rule) << ' ' << each.arguments;
  }
}

TEST(CallRule, Rule_TakesPrecedenceOverAskButNotOverDeny) {
  const ToolCallPart call = shell(R"({"argv": ["ls"]})"), other = shell(R"({"argv": ["rm"]})");
  PolicyRules rules;
  rules.calls = {run({"ls"})};
  EXPECT_TRUE(std::holds_alternative<Allow>(judge(rules, {}, call)));
  EXPECT_TRUE(std::holds_alternative<Deny>(judge(rules, {}, other)));
  rules.ask = {"*"};
  EXPECT_TRUE(std::holds_alternative<Allow>(judge(rules, {}, call)));
  EXPECT_TRUE(std::holds_alternative<NeedsApproval>(judge(rules, {}, other)));
  rules.deny = {"shell"};
  EXPECT_TRUE(std::holds_alternative<Deny>(judge(rules, {}, call)));
}

TEST(CallRule, Text_DescribesWhatTheRuleAllows) {
  EXPECT_EQ(to_text(run({"git", "log"})),
            R"(Allow "shell" without asking whenever its arguments are exactly {"argv":["git","log"]}.)");
  EXPECT_EQ(to_text(run({"git", "log"}, true)),
            R"(Allow "shell" without asking whenever its arguments are exactly {"argv":["git","log"]}, )"
            R"(also with more words at the end of "argv".)");
}

TEST(CallRule, InvalidRule_IsReported) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"3", "a call rule must be a table"},
      {"{}", "a call rule must name its tool in \"tool\""},
      {R"({"tool": "a*", "arguments": {}})", "a call rule must name one tool, without \"*\" (got \"a*\")"},
      {R"({"tool": "a"})", "a call rule must have the arguments of the call as a table in \"arguments\""},
      {R"({"tool": "a", "arguments": {}, "any": 1})",
       "a call rule has \"tool\", \"arguments\" and \"any_ending\", not \"any\""},
      {R"({"tool": "a", "arguments": {}, "any_ending": 1})",
       "a call rule must have true or false in \"any_ending\""},
      {R"({"tool": "a", "arguments": {}, "any_ending": true})",
       "a call rule with \"any_ending\" needs the first words of the list \"argv\" in its arguments"},
  };
  for (const auto& [json, why] : cases) {
    const auto rule = call_rule_from_json(parse_json(json).value());
    ASSERT_FALSE(rule) << json;
    EXPECT_EQ(rule.error().message, why);
  }
}

}  // namespace
}  // namespace praxis
