// The reviews of the tool calls of one step. A value: it judges calls by rules, and keeps the answers of
// hooks until the calls run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/filters.hpp"
#include "praxis/core/records.hpp"
#include "praxis/core/state.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis::driver {

/// The rules of an agent and of the agents above it, root first.
using Rules = std::vector<PolicyRules>;

/// The verdict of rules and hooks on one call.
struct Review {
  Permission permission = allow();            ///< never `Edit`
  std::optional<std::string> arguments = {};  ///< replace those of the call
  std::optional<ToolOutcome> result = {};     ///< instead of running the tool
  Author author = by_policy();                ///< the policy or a hook
  /// The result that a hook gave first, if another changed it.
  std::shared_ptr<const records::ToolOriginal> original = nullptr;
};

/// Judges a call by the rules alone. `tool` is null for a tool that the agent does not have: the result is
/// `allow`, and the call itself then fails.
Review judge_call(const Rules& rules, const ToolDefinition* tool, const ToolCallPart& call);

/// Narrows a review by where the arguments come from that the call would run with. No-op unless some rules
/// look at that (`FlowRules::mode`).
void judge_origins(Review& review, const Rules& rules, const State& state, const CallState& call);

/// Narrows a review by the rules about times and numbers of calls, as of the last record of the session.
/// No-op unless there are such rules.
void judge_conditions(Review& review, const Rules& rules, const State& state, const CallState& call);

/// Narrows a review by what the arguments say that the call would run with. A filter of memory writes may
/// redact them; the rules then judge the redacted ones. No-op for null.
void judge_content(Review& review, const filters::FilterSetPtr& filters, const Rules& rules,
                   const State& state, const CallState& call);

class CallReview {
 public:
  /// Returns the rules of `agent`. When they have changed, drops the reviews made under the previous rules.
  const std::shared_ptr<const Rules>& rules(const AgentSpecPtr& agent);
  /// The filters of `agent`; null: it has none.
  const filters::FilterSetPtr& filters(const AgentSpecPtr& agent);
  /// Increases whenever the rules change.
  std::uint64_t version() const { return version_; }
  /// Drops the reviews of other steps, because models may reuse a call id.
  void begin_step(std::uint32_t step);

  /// Null when the call was not reviewed.
  Review* find(const CallId& call);
  void add(const CallId& call, Review review) { reviews_.insert_or_assign(call, std::move(review)); }
  /// Adds reviews that were made under the rules of `version`; ignores them when the rules have changed.
  void add(std::uint64_t version, std::map<CallId, Review> reviews);
  void forget(const CallId& call) { reviews_.erase(call); }
  void forget_all() { reviews_.clear(); }
  /// The description leaves memory, and so do its rules unless a review refers to them; the next description
  /// that arrives is another copy of the same rules.
  void suspend();

 private:
  AgentSpecPtr rules_of_;
  std::shared_ptr<const Rules> rules_;
  filters::FilterSetPtr filters_;  ///< of `rules_`
  std::uint64_t version_ = 0;
  std::map<CallId, Review> reviews_;  ///< reviews of step `step_` only
  std::uint32_t step_ = 0;
};

}  // namespace praxis::driver
