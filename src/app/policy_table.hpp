// `[policy]` of an agent file and of the configuration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis::app {

/// The rules of a checked document's `[policy]`, without those that the user remembered. Error `kInput`: a
/// rule or a call cannot be read, or two rules have the same id.
Result<PolicyRules> policy_of(const TomlDocument& document);
/// The rules that a file of the configuration adds to those of every agent; nothing is named: empty lists.
/// Error `kInput`: as above, or a rule allows, which a layer cannot.
Result<PolicyRules> policy_layer_of(const TomlDocument& document);

/// The tools that rules and filters name, each after its place in the file.
std::vector<std::pair<std::string, std::string>> named_tools(const PolicyRules& rules);

/// `[policy.redact]` of an agent: `own` with results redacted at least as much as `configured` says. Both are
/// checked tables or null; null if neither says anything.
Json redact_table(const Json& own, const Json& configured);

/// The layers in the form of `AgentSpec::bounds`; null if there is no layer.
Json bounds_of(const std::vector<PolicyRules>& layers);

}  // namespace praxis::app
