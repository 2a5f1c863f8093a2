// Clarifies a request before it works on it: six steps with a model, a person where only a person can answer,
// and sub-agents for what can be looked into separately. docs/six-steps.md describes them. The planner keeps
// no place of its own: it finds it in the results that the steps have left in the state.
#pragma once

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"

namespace praxis {

/// Stateless and thread-safe.
class SixStepPlanner final : public Planner {
 public:
  /// Reads a plan (`AgentSpec::plan`): `{"kind": "six_steps"}`. Error `kInput` naming the key that is wrong.
  static Result<SixStepPlanner> parse(const Json& plan);

  /// The first of the six steps that is not done. A turn without any message concludes with `kPlanFailed`.
  PlanStep plan(const State& state) const override;
  /// The sub-questions that sub-agents work on.
  std::vector<CallId> outdated(const State& state) const override;

 private:
  SixStepPlanner() = default;
};

}  // namespace praxis
