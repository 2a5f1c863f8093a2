// Rules about times of day and numbers of calls. The time is that of the last record of the session, and the
// calls are those that its records say: a resumed or replayed session gets the same answers. Pure.
#pragma once

#include <string>
#include <vector>

#include "praxis/policy/policy.hpp"

namespace praxis {

struct State;  // praxis/core/state.hpp

/// The keys `during`, `at_most`, `after` and `given` of a rule. Error `kInput`.
Status read_conditions(const Json& json, PolicyRule& rule);
void write_conditions(JsonObject& out, const PolicyRule& rule);

bool has_conditions(const PolicyRule& rule);
bool any_conditions(const PolicyRules& rules);
/// Whether the tests of the rule hold for the arguments; `surely`: a test without an answer does not hold.
bool tests_hold(const PolicyRule& rule, const ToolDefinition& tool, const Json& arguments, bool surely);
/// Whether a rule that concerns a call applies after the last record of `at`. Null: a rule with conditions
/// applies if it allows.
bool applies_at(const PolicyRule& rule, const State* at);
/// Whether the rule allows calls like this one, but not so many. False if `at` is null.
bool is_used_up(const PolicyRule& rule, const ToolDefinition& tool, const Json& arguments, const State* at);

/// As `explain` and `judge`, with all conditions if `at` is not null.
Judgement explain_at(const PolicyRules& rules, const ToolDefinition& tool, const ToolCallPart& call,
                     const State* at);
Permission judge_at(const std::vector<PolicyRules>& rules, const ToolDefinition& tool,
                    const ToolCallPart& call, const State* at);
/// 0: allow, 1: ask, 2: deny.
int strictness(const Permission& permission);

/// ` at most 20 times in 1h`, ` after 3 calls`, ` mon-fri 09:00-17:30 (Europe/Berlin)`; empty: no condition.
std::string condition_text(const PolicyRule& rule);
/// How each rule with conditions that names the tool stands: `rule r: 3 of 20 calls in 1h`.
std::vector<std::string> conditions_at(const PolicyRules& rules, const std::string& tool, const State& at);

/// A set of rules in its JSON form as a bound for a sub-agent, with the calls so far. Unchanged if no rule
/// counts calls.
Json counted_below(const Json& policy, const State& state);

}  // namespace praxis
