#include "praxis/planners/make_planner.hpp"

#include <utility>

#include "praxis/planners/model_planner.hpp"
#include "praxis/planners/scripted_planner.hpp"
#include "praxis/planners/six_step_planner.hpp"

namespace praxis {
namespace {

template <class Wanted>
Result<std::unique_ptr<Planner>> parsed(const Json& plan) {
  auto planner = Wanted::parse(plan);
  if (!planner) return fail(planner.error());
  return std::make_unique<Wanted>(*std::move(planner));
}

}  // namespace

Result<std::unique_ptr<Planner>> make_planner(const AgentSpec& spec) {
  if (spec.plan.is_null()) return std::make_unique<ModelPlanner>();
  if (spec.plan.is_object()) return parsed<SixStepPlanner>(spec.plan);
  return parsed<ScriptedPlanner>(spec.plan);
}

bool needs_model(const AgentSpec& spec) { return !spec.plan.is_array(); }

}  // namespace praxis
