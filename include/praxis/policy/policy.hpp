// The rules of an agent about its tools: allow, deny, or ask for approval. Pure: the same rules and call
// always give the same permission. Precedence, strongest first: deny, call rule, ask, allow. A tool that no
// rule names runs only if it is safe by default.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/domain/approval.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"

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
  std::vector<std::string> allow = {};
  std::vector<std::string> deny = {};
  std::vector<std::string> ask = {};
  std::vector<CallRule> calls = {};  ///< exact calls that are pre-approved
  bool operator==(const PolicyRules&) const = default;
};
Json to_json(const PolicyRules& rules);
/// Ignores entries that are not valid rules.
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

/// Applies one agent's rules to a call of `tool`.
Permission judge(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call);
/// Applies several sets of rules, those of the agents above first. The call runs only if all of them allow
/// it, and is denied if any denies it.
Permission judge(const std::vector<PolicyRules>& rules, const ToolDefinition& tool, const ToolCallPart& call);
/// Whether a deny rule names `tool`: no call of it can run, so it is not offered to the model.
bool denies(const std::vector<PolicyRules>& rules, std::string_view tool);
/// Whether `pattern` (exact, or ending in `*`) matches `name`.
bool rule_names(std::string_view pattern, std::string_view name);

}  // namespace praxis
#pragma GCC visibility pop
