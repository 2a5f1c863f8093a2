// Follows a plan that somebody has written down, so that a run needs no model. docs/plans.md describes the
// format. The planner keeps no place of its own: it finds it by walking the plan along the results in the
// state.
#pragma once

#include <memory>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"

namespace praxis {

struct WrittenStep;

/// Immutable and thread-safe; copies share the plan.
class ScriptedPlanner final : public Planner {
 public:
  /// Reads a plan (`AgentSpec::plan`): an array of steps. Error `kInput` naming the step, the key and, for a
  /// mistyped name, the one that was probably meant.
  static Result<ScriptedPlanner> parse(const Json& plan);

  /// The first step that has left no result yet. A step that failed, or that refers to something that is not
  /// there, concludes the turn with `kPlanFailed`.
  PlanStep plan(const State& state) const override;

 private:
  explicit ScriptedPlanner(std::vector<WrittenStep> steps);
  std::shared_ptr<const std::vector<WrittenStep>> steps_;
};

}  // namespace praxis
