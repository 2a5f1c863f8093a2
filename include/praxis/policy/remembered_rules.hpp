// Calls that a user always allows: call rules in a file owned by that user. The program that creates an agent
// loads them and adds them to the agent's rules. They apply only to tools for which the agent's rules ask for
// approval: they never allow a tool that the rules deny or do not name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/policy/policy.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A file with one JSON object per line: `{agent, tool, arguments, any_ending?}`. Safe for concurrent use by
/// threads and processes. The file is created for its owner only; a file that others could have written is
/// refused.
class RememberedRules {
 public:
  static constexpr std::size_t kMaxFileBytes = 4 * 1024 * 1024;
  static constexpr std::size_t kMaxRuleBytes = 64 * 1024;

  explicit RememberedRules(std::string path) : path_(std::move(path)) {}

  /// The rules of one agent, identified by its file or else by its id. Empty if the file does not exist.
  /// Error `kInput`: the file's permissions are unsafe, it is too long, or a line is not a valid rule.
  Result<std::vector<CallRule>> of(std::string_view agent) const;
  /// Adds a rule unless it exists. Durable on return; a crash leaves the file either unchanged or with the
  /// rule. Errors: as `of`; the rule or the file would be too long; the file cannot be written.
  Status add(std::string_view agent, const CallRule& rule) const;

 private:
  std::string path_;
};

/// The narrowest rule that would have made this approval unnecessary: the tool with exactly these arguments.
/// Error `kInput`: the step is not a call that awaits approval, or its arguments are not a JSON object.
Result<CallRule> narrow_rule_for(const ParkedStep& step);
/// Adds those rules of `remembered` whose tools `rules` asks about; ignores the others.
void add_remembered(PolicyRules& rules, const std::vector<CallRule>& remembered);

}  // namespace praxis
#pragma GCC visibility pop
