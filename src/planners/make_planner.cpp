#include "praxis/planners/make_planner.hpp"

#include <utility>

#include "praxis/planners/model_planner.hpp"
#include "praxis/planners/reflect_planner.hpp"
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
  const std::string kind = json_string(spec.plan, "kind");
  if (kind == kHostPlan)
    return fail(ErrorCode::kInput, "agent \"" + spec.id +
                                       "\" follows a strategy of the program that made it (\"" +
                                       host_plan_name(spec) + "\"); only that program can run it");
  if (kind == "reflect") return parsed<ReflectPlanner>(spec.plan);
  if (spec.plan.is_object()) return parsed<SixStepPlanner>(spec.plan);
  return parsed<ScriptedPlanner>(spec.plan);
}

std::string host_plan_name(const AgentSpec& spec) {
  if (json_text(spec.plan, "kind") != kHostPlan) return {};
  return json_string(spec.plan, "name", json_text(spec.plan, "reflector"));
}

bool needs_model(const AgentSpec& spec) {
  return !spec.plan.is_array() && json_string(spec.plan, "kind") != kHostPlan;
}

}  // namespace praxis
