// The standard loop: the model decides, tools run, the model sees their results and decides again.
#pragma once

#include "praxis/core/planner.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Calls the model until it has answered without a tool call, then finishes. Stateless and thread-safe.
class ModelPlanner final : public Planner {
 public:
  PlanStep plan(const PlannerState& state) const override;
};

}  // namespace praxis
#pragma GCC visibility pop
