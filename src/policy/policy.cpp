#include "praxis/policy/policy.hpp"

#include <algorithm>

namespace praxis {
namespace {

bool any_names(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return rule_names(pattern, name); });
}

std::vector<std::string> names_from(const Json& json, std::string_view key) {
  std::vector<std::string> names;
  const Json& list = json_at(json, key);
  if (!list.is_array()) return names;
  for (const Json& item : list.get_array()) {
    if (item.is_string()) names.emplace_back(item.get_string());
  }
  return names;
}

}  // namespace

bool rule_names(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

Json to_json(const PolicyRules& rules) {
  return JsonObject{{"allow", JsonArray(rules.allow.begin(), rules.allow.end())},
                    {"deny", JsonArray(rules.deny.begin(), rules.deny.end())},
                    {"ask", JsonArray(rules.ask.begin(), rules.ask.end())}};
}

PolicyRules policy_rules_from_json(const Json& json) {
  return {names_from(json, "allow"), names_from(json, "deny"), names_from(json, "ask")};
}

Verdict judge(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call) {
  if (any_names(rules.deny, call.name)) return deny("The agent's rules deny \"" + call.name + "\".");
  if (any_names(rules.ask, call.name))
    return ask("The agent's rules ask a person before \"" + call.name + "\".");
  if (any_names(rules.allow, call.name) || tool.safe_by_default) return allow();
  return deny("\"" + call.name + "\" is not safe by default and no rule of the agent allows it.");
}

}  // namespace praxis
