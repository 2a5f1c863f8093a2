// What rules and hooks said of the tool calls of one step. A value: it judges by rules, and keeps what hooks
// answered until the calls are run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis::driver {

/// The rules of an agent and of those above it, root first.
using Rules = std::vector<PolicyRules>;

/// What rules and hooks say of one call.
struct Review {
  Permission permission = allow();            ///< no `Edit`
  std::optional<std::string> arguments = {};  ///< to run with instead
  std::optional<ToolOutcome> result = {};     ///< given in the tool's place
  Author author = by_policy();                ///< the policy or a hook
};

/// What the rules alone say; `tool` is null for a tool that the agent does not have, which is allowed: the
/// call fails by itself.
Review judge_call(const Rules& rules, const ToolDefinition* tool, const ToolCallPart& call);

class CallReview {
 public:
  /// The rules of `agent`. Reviews made under others are dropped.
  const std::shared_ptr<const Rules>& rules(const AgentSpecPtr& agent);
  /// Grows whenever the rules change.
  std::uint64_t version() const { return version_; }
  /// Reviews of other steps are dropped: models may use a call id again.
  void begin_step(std::uint32_t step);

  /// Null when the call was not reviewed.
  Review* find(const CallId& call);
  void add(const CallId& call, Review review) { reviews_.insert_or_assign(call, std::move(review)); }
  /// Keeps what was reviewed under the rules of this version; drops it when they have changed.
  void add(std::uint64_t version, std::map<CallId, Review> reviews);
  void forget(const CallId& call) { reviews_.erase(call); }
  void forget_all() { reviews_.clear(); }
  /// The description was dropped from memory: the next one is another copy of the same rules.
  void suspend();

 private:
  AgentSpecPtr rules_of_;
  std::shared_ptr<const Rules> rules_;
  std::uint64_t version_ = 0;
  std::map<CallId, Review> reviews_;  ///< of step `step_` alone
  std::uint32_t step_ = 0;
};

}  // namespace praxis::driver
