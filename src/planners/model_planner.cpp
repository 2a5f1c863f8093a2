#include "praxis/planners/model_planner.hpp"

namespace praxis {

PlanStep ModelPlanner::plan(const State& /*state*/) const { return AskModel{}; }

}  // namespace praxis
