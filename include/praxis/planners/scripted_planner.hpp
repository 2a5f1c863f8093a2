// Follows a written plan, so that a run needs no model. docs/plans.md describes the format. The planner
// stores no position: it derives it by walking the plan along the results in the state.
#pragma once

#include <memory>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct WrittenStep;

/// Immutable and thread-safe; copies share the plan.
class ScriptedPlanner final : public Planner {
 public:
  /// Reads a plan (`AgentSpec::plan`): an array of steps. Error `kInput` names the step, the key and, for a
  /// mistyped name, the nearest known one.
  static Result<ScriptedPlanner> parse(const Json& plan);

  /// Returns the first step that has no result yet. If a step failed, or refers to something that does not
  /// exist, concludes the turn with `kPlanFailed`.
  PlanStep plan(const PlannerState& state) const override;

 private:
  explicit ScriptedPlanner(std::vector<WrittenStep> steps);
  std::shared_ptr<const std::vector<WrittenStep>> steps_;
};

}  // namespace praxis
#pragma GCC visibility pop
