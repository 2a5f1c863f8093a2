// The rules of an agent about its tools: allow, deny, or ask a person. Pure: the same rules and call always
// give the same verdict. Deny wins over leave for one particular call, that over ask, and ask over allow; a
// tool that no rule names runs only if it is safe by default.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"

namespace praxis {

/// Leave for the calls of one tool that have certain arguments.
struct CallRule {
  std::string tool;         ///< its name, no pattern
  Json arguments;           ///< an object: exactly these, whatever the order of keys
  bool any_ending = false;  ///< the list `argv` among them may go on after the words that are given
  bool operator==(const CallRule&) const = default;
};
/// `{tool, arguments, any_ending?}` and back. Error `kInput`: a key that is missing, unknown or of another
/// type, or `any_ending` without words in `argv`.
Json to_json(const CallRule& rule);
Result<CallRule> call_rule_from_json(const Json& json);
/// What the rule allows, in words for the person who is about to make it.
std::string to_text(const CallRule& rule);
/// Whether the rule gives leave for this very call.
bool allows(const CallRule& rule, const ToolCallPart& call);

/// Tool names, `*` alone or at the end as a wildcard. An empty list names nothing.
struct PolicyRules {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  std::vector<std::string> ask;
  std::vector<CallRule> calls = {};  ///< leave for single calls, which then need nobody's word
  bool operator==(const PolicyRules&) const = default;
};
Json to_json(const PolicyRules& rules);
/// What is no rule is left out.
PolicyRules policy_rules_from_json(const Json& json);

/// The verdicts on a call. Reasons are told to the model or the person.
struct Allow {};
struct Deny {
  std::string reason;
};
/// Run it with other arguments.
struct Edit {
  std::string arguments;  ///< JSON text
};
/// Park the call until a person decides.
struct Ask {
  std::string reason;
};
using Verdict = std::variant<Allow, Deny, Edit, Ask>;

inline Verdict allow() { return Allow{}; }
inline Verdict deny(std::string reason) { return Deny{std::move(reason)}; }
inline Verdict edit(std::string arguments) { return Edit{std::move(arguments)}; }
inline Verdict ask(std::string reason) { return Ask{std::move(reason)}; }

/// What the rules say of a call to `tool`.
Verdict judge(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call);
/// What several sets of rules say together, those of the agents above first: a call runs only if all allow
/// it, and is denied if any denies it.
Verdict judge(const std::vector<PolicyRules>& rules, const ToolDefinition& tool, const ToolCallPart& call);
/// Whether `pattern` (exact, or ending in `*`) names `name`.
bool rule_names(std::string_view pattern, std::string_view name);

}  // namespace praxis
