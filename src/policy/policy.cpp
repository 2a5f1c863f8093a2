#include "praxis/policy/policy.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "json/repeated_key.hpp"
#include "policy/conditions.hpp"

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

const JsonArray* words(const Json& arguments) { return json_at(arguments, "argv").if_array(); }

/// Cuts the list `argv` in `arguments` to at most `most` words.
Json shortened(Json arguments, std::size_t most) {
  if (words(arguments) == nullptr) return arguments;
  JsonArray& argv = arguments.get_object()["argv"].get_array();
  if (argv.size() > most) argv.resize(most);
  return arguments;
}

/// Parses the arguments of a call; a model may leave them empty if there are no arguments.
Json arguments_of(std::string_view text) {
  if (text.empty()) return JsonObject{};
  if (repeated_key(text)) return nullptr;
  return parse_json(text).value_or(nullptr);
}

/// Puts a call before an approver, unless its arguments can be read in two ways: the tool would refuse them.
Permission ask_about(const ToolCallPart& call, std::string reason) {
  if (const auto key = repeated_key(call.arguments))
    return deny("The arguments of \"" + call.name + "\" are refused: " + repeated_key_problem(*key) + ".");
  return needs_approval(std::move(reason));
}

std::string name_of(const PolicyRule& rule) { return "rule " + rule.id; }

std::string text_of(const PolicyRule& rule, std::string_view does, const ToolCallPart& call) {
  std::string text = "The rule \"" + rule.id + "\" ";
  text.append(does).append(" \"" + call.name + '"' + condition_text(rule));
  return text + (rule.reason.empty() ? "." : ": " + rule.reason);
}

/// Stands for a rule that cannot be read.
PolicyRule unreadable(std::string why) {
  return {.id = "unreadable", .kind = RuleKind::kDeny, .tools = {"*"}, .reason = std::move(why)};
}

std::unexpected<Error> no_rule(std::string why) {
  return fail(ErrorCode::kInput, "a call rule " + std::move(why));
}

}  // namespace

Json to_json(const CallRule& rule) {
  JsonObject out{{"tool", rule.tool}, {"arguments", rule.arguments}};
  if (rule.any_ending) out["any_ending"] = true;
  return out;
}

Result<CallRule> call_rule_from_json(const Json& json) {
  if (!json.is_object()) return no_rule("must be a table");
  for (const auto& [key, value] : json.get_object()) {
    if (key != "tool" && key != "arguments" && key != "any_ending")
      return no_rule("has \"tool\", \"arguments\" and \"any_ending\", not \"" + std::string(key) + '"');
  }
  CallRule rule{json_string(json, "tool"), json_at(json, "arguments"), json_bool(json, "any_ending")};
  if (rule.tool.empty()) return no_rule("must name its tool in \"tool\"");
  if (rule.tool.contains('*'))
    return no_rule("must name one tool, without \"*\" (got \"" + rule.tool + "\")");
  if (!rule.arguments.is_object())
    return no_rule("must have the arguments of the call as a table in \"arguments\"");
  const Json& ending = json_at(json, "any_ending");
  if (!ending.is_null() && !ending.is_bool()) return no_rule("must have true or false in \"any_ending\"");
  const JsonArray* argv = words(rule.arguments);
  if (rule.any_ending && (argv == nullptr || argv->empty()))
    return no_rule("with \"any_ending\" needs the first words of the list \"argv\" in its arguments");
  return rule;
}

std::string to_text(const CallRule& rule) {
  std::string text = "Allow \"" + rule.tool + "\" without asking whenever its arguments are exactly " +
                     to_json_text(rule.arguments);
  if (rule.any_ending) text += ", also with more words at the end of \"argv\"";
  return text + ".";
}

bool allows(const CallRule& rule, const ToolCallPart& call) {
  if (rule.tool != call.name) return false;
  Json arguments = arguments_of(call.arguments);
  if (!arguments.is_object()) return false;
  const JsonArray* first = rule.any_ending ? words(rule.arguments) : nullptr;
  if (first != nullptr && !first->empty()) arguments = shortened(std::move(arguments), first->size());
  return to_canonical_json(arguments) == to_canonical_json(rule.arguments);
}

bool rule_names(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

Json to_json(const PolicyRules& rules) {
  JsonObject out{{"allow", JsonArray(rules.allow.begin(), rules.allow.end())},
                 {"deny", JsonArray(rules.deny.begin(), rules.deny.end())},
                 {"ask", JsonArray(rules.ask.begin(), rules.ask.end())}};
  const auto add = [&](const char* key, const auto& list) {
    if (list.empty()) return;
    JsonArray& array = out[key].emplace_array();
    for (const auto& rule : list) array.push_back(to_json(rule));
  };
  add("calls", rules.calls);
  add("rules", rules.rules);
  if (rules.flow != FlowRules{}) out["flow"] = to_json(rules.flow);
  if (!rules.filters.is_null()) out["filters"] = rules.filters;
  if (!rules.source.empty()) out["source"] = rules.source;
  return out;
}

PolicyRules policy_rules_from_json(const Json& json) {
  PolicyRules rules{names_from(json, "allow"), names_from(json, "deny"), names_from(json, "ask")};
  const JsonArray* calls = json_at(json, "calls").if_array();
  for (std::size_t i = 0; calls != nullptr && i < calls->size(); ++i) {
    if (auto rule = call_rule_from_json((*calls)[i])) rules.calls.push_back(*std::move(rule));
  }
  if (const JsonArray* const about = json_at(json, "rules").if_array()) {
    for (const Json& item : *about) {
      auto rule = policy_rule_from_json(item);
      rules.rules.push_back(rule ? *std::move(rule) : unreadable(rule.error().message));
    }
  }
  if (const Json& flow = json_at(json, "flow"); !flow.is_null()) {
    auto read = flow_rules_from_json(flow);
    if (!read) rules.rules.push_back(unreadable(read.error().message));
    if (read) rules.flow = *std::move(read);
  }
  rules.filters = json_at(json, "filters");
  rules.source = json_string(json, "source");
  return rules;
}

Judgement explain_at(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call,
                     const State* at) {
  const std::string whose = rules.source.empty() ? "The agent's rules" : "The rules of " + rules.source;
  if (any_names(rules.deny, call.name)) return {deny(whose + " deny \"" + call.name + "\"."), "deny"};
  const Json arguments = rules.rules.empty() ? Json() : arguments_of(call.arguments);
  const auto rule_of = [&](RuleKind kind) {
    const auto found = std::ranges::find_if(rules.rules, [&](const PolicyRule& rule) {
      return rule.kind == kind && concerns(rule, tool, arguments) && applies_at(rule, at);
    });
    return found == rules.rules.end() ? nullptr : &*found;
  };
  if (const auto* rule = rule_of(RuleKind::kDeny))
    return {deny(text_of(*rule, "denies", call)), name_of(*rule)};
  for (const PolicyRule& rule : rules.rules) {
    if (is_used_up(rule, tool, arguments, at)) return {deny(text_of(rule, "allows", call)), name_of(rule)};
  }
  if (std::ranges::any_of(rules.calls, [&](const CallRule& rule) { return allows(rule, call); }))
    return {allow(), "calls"};
  if (const auto* rule = rule_of(RuleKind::kAsk))
    return {ask_about(call, text_of(*rule, "requires an approval for", call)), name_of(*rule)};
  if (const auto* rule = rule_of(RuleKind::kAllow)) return {allow(), name_of(*rule)};
  if (any_names(rules.ask, call.name))
    return {ask_about(call, whose + " require an approval for \"" + call.name + "\"."), "ask"};
  if (!rules.source.empty()) return {allow(), ""};
  if (tool.needs_approval)
    return {ask_about(call, "\"" + call.name + "\" needs an approval for every call."), "the tool"};
  if (any_names(rules.allow, call.name)) return {allow(), "allow"};
  if (tool.safe_by_default) return {allow(), "the tool"};
  return {deny("\"" + call.name + "\" is not safe by default and no rule of the agent allows it."),
          "the tool"};
}

Judgement explain(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call) {
  return explain_at(rules, tool, call, nullptr);
}

Permission judge(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call) {
  return explain(rules, tool, call).permission;
}

Permission judge_at(const std::vector<PolicyRules>& rules, const ToolDefinition& tool,
                    const ToolCallPart& call, const State* at) {
  Permission strictest = allow();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    Permission permission = explain_at(rules[i], tool, call, at).permission;
    if (auto* denied = std::get_if<Deny>(&permission)) {
      if (i + 1 < rules.size() && rules[i].source.empty())
        denied->reason += " (They are those of an agent above, which hold here too.)";
      return permission;
    }
    if (std::holds_alternative<NeedsApproval>(permission)) strictest = std::move(permission);
  }
  return strictest;
}

Permission judge(const std::vector<PolicyRules>& rules, const ToolDefinition& tool,
                 const ToolCallPart& call) {
  return judge_at(rules, tool, call, nullptr);
}

bool denies(const std::vector<PolicyRules>& rules, std::string_view tool) {
  return std::ranges::any_of(rules, [&](const PolicyRules& of_one) {
    return any_names(of_one.deny, tool) || std::ranges::any_of(of_one.rules, [&](const PolicyRule& rule) {
             return rule.kind == RuleKind::kDeny && rule.when.empty() && !has_conditions(rule) &&
                    names_tool(rule, tool);
           });
  });
}

bool may_allow(const PolicyRules& rules, std::string_view tool) {
  return any_names(rules.allow, tool) || any_names(rules.ask, tool) ||
         std::ranges::any_of(rules.rules, [&](const PolicyRule& rule) {
           return rule.kind != RuleKind::kDeny && names_tool(rule, tool);
         });
}

bool asks_about(const PolicyRules& rules, std::string_view tool) {
  const bool may_run = !rules.source.empty() || may_allow(rules, tool);
  if (rules.flow.mode == FlowMode::kAsk && may_run) return true;
  return any_names(rules.ask, tool) || std::ranges::any_of(rules.rules, [&](const PolicyRule& rule) {
           return rule.kind == RuleKind::kAsk && names_tool(rule, tool);
         });
}

}  // namespace praxis
