// Clarifies a request before working on it: six steps with a model, questions to the user where only the user
// can answer, and sub-agents for sub-questions that can be researched separately. docs/six-steps.md describes
// the steps. The planner stores no position: it derives it from the results in the state.
#pragma once

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Stateless and thread-safe.
class SixStepPlanner final : public Planner {
 public:
  /// Reads a plan (`AgentSpec::plan`): `{"kind": "six_steps"}`. Error `kInput` names the invalid key.
  static Result<SixStepPlanner> parse(const Json& plan);

  /// Returns the first of the six steps that is not done. A turn without any message concludes with
  /// `kPlanFailed`.
  PlanStep plan(const PlannerState& state) const override;
  /// The open calls of sub-agents on sub-questions, if the request was modified after they were asked; else
  /// empty.
  std::vector<CallId> outdated(const PlannerState& state) const override;

 private:
  SixStepPlanner() = default;
};

}  // namespace praxis
#pragma GCC visibility pop
