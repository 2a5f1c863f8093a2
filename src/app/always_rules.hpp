// Saves the rule of an approver who allows a call from now on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis::app {

/// A call that is allowed from now on, for the agents of these files.
struct AlwaysRule {
  CallRule rule;
  std::vector<std::string> files;
  bool operator==(const AlwaysRule&) const = default;
};

/// The narrowest rule that would have made this approval unnecessary, for the files of those agents (of
/// `session` and above) whose rules ask about the tool. Error `kInput`: no rule can be saved.
Result<AlwaysRule> always_rule_for(Journal& journal, const SessionId& session, const ParkedStep& step);
/// The rule as JSON, for the user's editor: `{tool, arguments, any_ending}`.
std::string rule_to_edit(const AlwaysRule& always);
/// The rule that the user made of `narrow`, which allows exactly the call that awaits approval. Error
/// `kInput`: the text is no rule, or a rule that would not allow that call.
Result<AlwaysRule> edited_rule(const AlwaysRule& narrow, std::string_view text);
/// Whether one of the saved rules allows the call of `narrow`.
bool is_allowed(const std::vector<AlwaysRule>& saved, const AlwaysRule& narrow);
/// States exactly what the rule allows, in lines of at most `columns`.
std::string rule_text(const AlwaysRule& always, std::size_t columns);
/// Saves the rule among the user's. Error `kInput`.
Status save_rule(const AlwaysRule& always);

}  // namespace praxis::app
