// The boundary to a planner that a host wrote.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/planner.hpp"

namespace praxis {

/// Ends the turn with `kPlanFailed` when the planner throws. Thread-safe.
class GuardedPlanner final : public Planner {
 public:
  GuardedPlanner(std::shared_ptr<const Planner> planner, std::string name)
      : planner_(std::move(planner)), name_(std::move(name)) {}

  PlanStep plan(const PlannerState& state) const override;
  std::vector<CallId> outdated(const PlannerState& state) const override;

 private:
  std::shared_ptr<const Planner> planner_;
  std::string name_;
};

}  // namespace praxis
