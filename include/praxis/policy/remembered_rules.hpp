// What a person allows always: rules for single calls, kept in a file of that person's own. Whoever makes an
// agent loads them and adds them to its rules. They answer only what the agent's own rules ask: neither a
// tool that these deny nor one that they do not name runs because of what was remembered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis {

/// A file with one JSON object a line: `{agent, tool, arguments, any_ending?}`. Safe for several threads and
/// processes at once. It is made for its owner alone, and refused when others could have written it.
class RememberedRules {
 public:
  static constexpr std::size_t kMaxFileBytes = 4 * 1024 * 1024;
  static constexpr std::size_t kMaxRuleBytes = 64 * 1024;

  explicit RememberedRules(std::string path) : path_(std::move(path)) {}

  /// The rules of one agent, named by its file or else by its id. None when there is no file. Error `kInput`:
  /// the file is not safe, too long, or a line of it is no rule.
  Result<std::vector<CallRule>> of(std::string_view agent) const;
  /// Adds a rule unless it is there. Durable when it returns; a crash leaves the file as it was or with the
  /// rule in it. Errors: as `of`; the rule or the file would be too long; the file cannot be written.
  Status add(std::string_view agent, const CallRule& rule) const;

 private:
  std::string path_;
};

/// The narrowest rule under which the call that waits would not have had to: its tool with exactly its
/// arguments. Error `kInput`: the step is not about leave for a call, or its arguments are no JSON object.
Result<CallRule> narrow_rule_for(const ParkedStep& step);
/// Adds the rules that `rules` ask about: the others are not theirs to allow.
void add_remembered(PolicyRules& rules, const std::vector<CallRule>& remembered);

}  // namespace praxis
