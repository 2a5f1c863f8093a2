// The simplest planners, for tests of the core, which may not depend on `planners/`.
#pragma once

#include <utility>

#include "praxis/core/planner.hpp"

namespace praxis {

struct AlwaysAskModel final : Planner {
  PlanStep plan(const PlannerState&) const override { return AskModel{}; }
};
inline const AlwaysAskModel kAskModel;

/// Returns the n-th step when there are n plan results, then finishes.
struct FixedPlan final : Planner {
  explicit FixedPlan(std::vector<PlanStep> todo) : steps(std::move(todo)) {}
  PlanStep plan(const PlannerState& state) const override {
    const std::size_t done = state.results().size();
    return done < steps.size() ? steps[done] : Conclude{};
  }
  std::vector<PlanStep> steps;
};

}  // namespace praxis
