// The rules of an agent about its tools: allow, deny, or ask for approval. Pure: the same rules and call
// always give the same permission. Precedence, strongest first: what denies (a list or a rule), call rules,
// rules that ask, rules that allow, the list that asks, the list that allows. A tool that nothing names runs
// only if it is safe by default.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/domain/approval.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/policy/flow_rules.hpp"
#include "praxis/policy/rule.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Pre-approves the calls of one tool that have certain arguments.
struct CallRule {
  std::string tool;         ///< exact name, not a pattern
  Json arguments;           ///< an object; a call must have exactly these, in any order of keys
  bool any_ending = false;  ///< the call's `argv` may continue after the words listed here
  bool operator==(const CallRule&) const = default;
};
/// `{tool, arguments, any_ending?}` and back. Error `kInput`: a key is missing, unknown or of another type,
/// or `any_ending` is set without words in `argv`.
Json to_json(const CallRule& rule);
Result<CallRule> call_rule_from_json(const Json& json);
/// Describes what the rule allows, for the user who is about to add it.
std::string to_text(const CallRule& rule);
/// Whether the rule pre-approves this call.
bool allows(const CallRule& rule, const ToolCallPart& call);

/// Tool names; `*` is a wildcard, alone or at the end. An empty list matches nothing.
struct PolicyRules {
  std::vector<std::string> allow = {}, deny = {}, ask = {};
  std::vector<CallRule> calls = {};    ///< exact calls that are pre-approved
  std::vector<PolicyRule> rules = {};  ///< about arguments
  FlowRules flow = {};                 ///< about where arguments come from
  Json filters = nullptr;              ///< about content: an array in the form of docs/policy.md
  /// The file of the configuration that the rules are from: they only restrict, and leave what they do not
  /// name to the rules of the agent. Empty: these are the agent's.
  std::string source = {};
  bool operator==(const PolicyRules&) const = default;
};
Json to_json(const PolicyRules& rules);
/// Ignores names and call rules that are not valid. A rule that cannot be read denies everything: what it was
/// to forbid is unknown.
PolicyRules policy_rules_from_json(const Json& json);

struct Allow {};
struct Deny {
  std::string reason;  ///< goes to the model
};
/// Park the call until an approver decides.
struct NeedsApproval {
  std::string reason;  ///< goes to the approver
};
/// The verdict of policy rules or a hook on a call. The decision of an approver is an `Approval`.
using Permission = std::variant<Allow, Deny, Edit, NeedsApproval>;

inline Permission allow() { return Allow{}; }
inline Permission deny(std::string reason) { return Deny{std::move(reason)}; }
inline Permission needs_approval(std::string reason) { return NeedsApproval{std::move(reason)}; }

/// A permission, and what decided: `deny`, `ask`, `allow`, `calls`, `rule ID`, or `the tool`.
struct Judgement {
  Permission permission;
  std::string decided_by;
};
/// Applies one agent's rules to a call of `tool`, except for times and numbers of calls; says what decided.
Judgement explain(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call);
/// Applies one agent's rules to a call of `tool`.
Permission judge(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call);
/// Applies several sets of rules, those of the agents above first. The call runs only if all of them allow
/// it, and is denied if any denies it.
Permission judge(const std::vector<PolicyRules>& rules, const ToolDefinition& tool, const ToolCallPart& call);
/// Whether no call of `tool` can run, with any arguments, so that it is not offered to the model.
bool denies(const std::vector<PolicyRules>& rules, std::string_view tool);
/// Whether the rules name `tool` in what allows or asks: some call of it may run.
bool may_allow(const PolicyRules& rules, std::string_view tool);
/// Whether calls of `tool` may need an approval by these rules.
bool asks_about(const PolicyRules& rules, std::string_view tool);
/// Whether `pattern` (exact, or ending in `*`) matches `name`.
bool rule_names(std::string_view pattern, std::string_view name);

}  // namespace praxis
#pragma GCC visibility pop
