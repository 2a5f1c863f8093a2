// The rules of an agent about its tools: allow, deny, or ask a person. Pure: the same rules and call always
// give the same verdict. Deny wins over ask, ask over allow; a tool that no rule names runs only if it is
// safe by default.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"

namespace praxis {

/// Tool names, `*` alone or at the end as a wildcard. An empty list names nothing.
struct PolicyRules {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  std::vector<std::string> ask;
  bool operator==(const PolicyRules&) const = default;
};
Json to_json(const PolicyRules& rules);
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
/// Whether `pattern` (exact, or ending in `*`) names `name`.
bool rule_names(std::string_view pattern, std::string_view name);

}  // namespace praxis
