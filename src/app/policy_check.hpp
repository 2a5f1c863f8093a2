// What the rules of an agent say about a call, layer by layer: for `praxis policy`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis::app {

/// One set of rules and what it says.
struct PolicyLayer {
  std::string name;  ///< a file of the configuration, an agent above, or the agent itself
  Judgement judgement;
};

struct PolicyAnswer {
  Permission permission;            ///< as for a call of a run, before hooks
  std::vector<PolicyLayer> layers;  ///< the agent's own rules last
  /// What `[policy.flow]` says: of a call in a log, where its arguments come from; else what the tool is for
  /// these rules. Empty: no layer looks at that.
  std::vector<std::string> origins = {};
  /// How the rules about times and numbers of calls stand for this tool.
  std::vector<std::string> conditions = {};
  /// The filters that redact the arguments of the call before it runs.
  std::vector<std::string> redacted_by = {};
};

/// The point of a session at which a call is tried.
struct PolicyMoment {
  UnixMillis time;
  std::uint32_t calls = 0;  ///< that have begun before, all like this one and at the same time
};

/// `allow`, `ask` or `deny`.
std::string_view permission_name(const Permission& permission);
/// Why it asks or denies; empty: it does not.
std::string reason_of(const Permission& permission);

/// The sets of rules that hold for an agent, those of the configuration first, its own last.
std::vector<PolicyRules> rules_of(const AgentSpec& agent);
/// What they say about a call. A tool that the agent does not have may come from a server of its: nothing but
/// its name is known. Error `kInput`: the agent has neither the tool nor a server that it could be from.
Result<PolicyAnswer> check_policy(const Agent& agent, const ToolCallPart& call, const PolicyMoment& moment);
/// The same for a call in the log of a session, by the rules, the time and the calls that its log holds.
/// `call`: its id, or its number among the calls of the session, from 1. Error `kInput`: there is no such
/// call.
struct ExplainedCall {
  ToolCallPart call;
  PolicyAnswer answer;
};
Result<ExplainedCall> explain_call(const StoredSession& session, const std::string& call);

/// Reads the agent that a word identifies as `praxis run` would, without starting anything. Error `kInput`.
Result<Agent> agent_named(const Workspace& workspace, const std::string& word);

/// A call with the decision that is expected of an agent's rules.
struct PolicyCase {
  std::string agent;
  ToolCallPart call;
  std::string expect;  ///< as `permission_name`
  std::string by;      ///< the id of the rule that must decide; empty: any
  PolicyMoment moment = {};
};
/// Reads the text of a TOML file: `agent`, and `[[cases]]` with `tool`, `arguments`, `expect`, and if wanted
/// `agent`, `by`, `at` (a time; else `now`) and `calls` (that have begun before). Error `kInput`.
Result<std::vector<PolicyCase>> read_policy_cases(std::string_view text, const std::string& file,
                                                  UnixMillis now);

}  // namespace praxis::app
