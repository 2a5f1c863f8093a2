#include "praxis/planners/make_planner.hpp"

#include <utility>

#include "praxis/planners/model_planner.hpp"
#include "praxis/planners/scripted_planner.hpp"

namespace praxis {

Result<std::unique_ptr<Planner>> make_planner(const AgentSpec& spec) {
  if (spec.plan.is_null()) return std::make_unique<ModelPlanner>();
  auto planner = ScriptedPlanner::parse(spec.plan);
  if (!planner) return fail(planner.error());
  return std::make_unique<ScriptedPlanner>(*std::move(planner));
}

}  // namespace praxis
