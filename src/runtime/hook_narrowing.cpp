#include "runtime/hook_narrowing.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <vector>

#include "praxis/policy/policy.hpp"

namespace praxis {
namespace {

using Names = std::vector<std::string>;

bool covers(const Names& patterns, const std::string& pattern) {
  return std::ranges::any_of(patterns, [&](const std::string& p) { return rule_names(p, pattern); });
}

/// The patterns of either list that the other list covers: what both of them match.
Names common(const Names& a, const Names& b) {
  Names both;
  std::ranges::copy_if(a, std::back_inserter(both), [&](const std::string& p) { return covers(b, p); });
  std::ranges::copy_if(b, std::back_inserter(both), [&](const std::string& p) {
    return covers(a, p) && std::ranges::find(both, p) == both.end();
  });
  return both;
}

void add_missing(Names& names, const Names& wanted) {
  for (const std::string& name : wanted) {
    if (!covers(names, name)) names.push_back(name);
  }
}

/// The filters that were there, then those of `after` that are new and do not allow.
Json both_filters(const Json& before, const Json& after) {
  const JsonArray* const there = before.if_array();
  const JsonArray* const wanted = after.if_array();
  if (there == nullptr) return after;
  JsonArray both = *there;
  for (std::size_t i = 0; wanted != nullptr && i < wanted->size(); ++i) {
    const Json& each = (*wanted)[i];
    const auto is_same = [&](const Json& one) { return json_text(one, "id") == json_text(each, "id"); };
    if (std::ranges::none_of(both, is_same) && json_text(each, "action") != "allow") both.push_back(each);
  }
  return both;
}

/// A call that `before` denies or asks about is still denied or asked about.
PolicyRules narrowed(const PolicyRules& before, PolicyRules after) {
  if (before == after) return after;
  after.allow = common(before.allow, after.allow);
  add_missing(after.deny, before.deny);
  add_missing(after.ask, before.ask);
  std::erase_if(after.calls, [&](const CallRule& rule) {
    return std::ranges::find(before.calls, rule) == before.calls.end();
  });
  const auto was_there = [&](const PolicyRule& rule) { return std::ranges::count(before.rules, rule) > 0; };
  std::erase_if(after.rules,
                [&](const PolicyRule& rule) { return rule.kind == RuleKind::kAllow && !was_there(rule); });
  for (const PolicyRule& rule : before.rules) {
    if (std::ranges::count(after.rules, rule) != 0) continue;
    if (rule.kind == RuleKind::kAllow && !rule.calls) continue;
    after.rules.push_back(rule);  // of a rule that allows, the bound on the number of calls
    if (rule.kind == RuleKind::kAllow) after.rules.back().kind = RuleKind::kDeny;
  }
  after.flow = narrowed(before.flow, after.flow);
  after.filters = both_filters(before.filters, after.filters);
  after.source = before.source;
  return after;
}

/// The rules, and what is redacted: that of `before` if it says so, since a hook may state the rules alone.
Json narrowed_policy(const Json& before, const Json& after) {
  const PolicyRules asked = policy_rules_from_json(after);
  const PolicyRules rules = narrowed(policy_rules_from_json(before), asked);
  Json policy = rules == asked ? after : to_json(rules);
  const Json& redact =
      json_at(before, "redact").is_null() ? json_at(after, "redact") : json_at(before, "redact");
  if (json_at(policy, "redact") == redact) return policy;
  if (!policy.is_object()) policy = JsonObject();
  policy.as_object()["redact"] = redact;
  return policy;
}

/// The stricter of two bounds, where 0 means no bound.
template <class T>
T stricter(T before, T after) {
  if (before == T{}) return after;
  return after == T{} ? before : std::min(before, after);
}

Limits narrowed(const Limits& before, Limits after) {
  after.max_steps = stricter(before.max_steps, after.max_steps);
  after.max_tool_calls = stricter(before.max_tool_calls, after.max_tool_calls);
  after.timeout = stricter(before.timeout, after.timeout);
  after.max_tokens = stricter(before.max_tokens, after.max_tokens);
  after.max_usd = stricter(before.max_usd, after.max_usd);
  after.max_context = stricter(before.max_context, after.max_context);
  after.max_parallel_tools = stricter(before.max_parallel_tools, after.max_parallel_tools);
  after.max_model_attempts = stricter(before.max_model_attempts, after.max_model_attempts);
  after.max_model_retries = std::min(before.max_model_retries, after.max_model_retries);
  after.max_wait = stricter(before.max_wait, after.max_wait);
  after.patience = std::min(before.patience, after.patience);
  return after;
}

}  // namespace

std::string narrow(const AgentSpec& before, AgentSpec& after) {
  std::string kept;
  const auto keep = [&](std::string_view name, bool changed) {
    if (changed) kept += (kept.empty() ? "" : ", ") + std::string(name);
    return changed;
  };
  const AgentSpec wanted = after;
  AgentSpec fixed = after;
  fixed.model = before.model;
  keep("model", wanted.model != fixed.model);
  fixed.plan = before.plan;
  keep("plan", wanted.plan != fixed.plan);
  fixed.in_doubt = before.in_doubt;
  keep("in_doubt", wanted.in_doubt != fixed.in_doubt);
  fixed.tools = before.tools;
  fixed.profile = before.profile;
  AgentSpec others = wanted;
  others.tools = before.tools;
  keep("tools", to_json(others) != to_json(wanted));
  fixed.policy = narrowed_policy(before.policy, wanted.policy);
  keep("policy", wanted.policy != fixed.policy);
  fixed.limits = narrowed(before.limits, wanted.limits);
  keep("limits", fixed.limits != wanted.limits);
  after = std::move(fixed);
  return kept;
}

std::string adopt(RequestPatch& patch, ModelHookResult& result, const std::vector<ToolSpec>& tools,
                  std::string_view models) {
  std::string refused;
  const auto refuse = [&](const std::string& why) { refused += (refused.empty() ? "" : ". ") + why; };
  if (result.patch.instructions) patch.instructions = std::move(result.patch.instructions);
  if (result.patch.options) patch.options = std::move(result.patch.options);
  if (result.patch.tools) {
    std::vector<std::string> offered;
    for (const std::string& name : *result.patch.tools) {
      const bool is_offered = patch.tools ? std::ranges::count(*patch.tools, name) > 0
                                          : std::ranges::any_of(tools, [&](const ToolSpec& tool) {
                                              return tool.definition.name == name;
                                            });
      if (is_offered) offered.push_back(name);
      if (!is_offered) refuse("a hook cannot offer the tool \"" + name + '"');
    }
    patch.tools = std::move(offered);
  }
  if (const std::string& model = result.patch.model; !model.empty()) {
    const bool is_known = std::ranges::any_of(models | std::views::split('|'), [&](const auto& each) {
      return std::string_view(each.begin(), each.end()) == model;
    });
    if (is_known) patch.model = model;
    if (!is_known) refuse("a hook cannot choose the model \"" + model + "\", which is not in the route");
  }
  if (result.messages) {
    Normalised sent = normalise(*result.messages);
    const bool ends = !sent.history.empty() && sent.history.messages().back()->role != Role::kAssistant;
    if (sent.repairs.empty() && ends)
      patch.history = std::move(sent.history);
    else
      refuse("the messages of a hook are not a conversation that a model can answer");
  }
  return refused;
}

}  // namespace praxis
