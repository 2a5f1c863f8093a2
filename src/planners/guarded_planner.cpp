#include "planners/guarded_planner.hpp"

#include <exception>

#include "praxis/base/utf8.hpp"

namespace praxis {

PlanStep GuardedPlanner::plan(const PlannerState& state) const {
  const auto failed = [&](const std::string& what) {
    return Conclude{
        StopReason::kPlanFailed,
        {},
        make_error(ErrorCode::kInternal, "the planner \"" + name_ + "\" threw: " + repair_utf8(what))};
  };
  try {
    return planner_->plan(state);
  } catch (const std::exception& e) {
    return failed(e.what());
  } catch (...) {
    return failed("something that is no std::exception");
  }
}

std::vector<CallId> GuardedPlanner::outdated(const PlannerState& state) const {
  try {
    return planner_->outdated(state);
  } catch (...) {
    return {};  // the calls end by themselves; `plan` reports what is thrown again
  }
}

}  // namespace praxis
