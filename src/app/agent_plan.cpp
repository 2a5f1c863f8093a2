#include "app/agent_plan.hpp"

#include <cstddef>
#include <utility>

#include "praxis/planners/make_planner.hpp"
#include "praxis/planners/scripted_planner.hpp"
#include "praxis/planners/six_step_planner.hpp"

namespace praxis::app {
namespace {

std::string step_place(std::size_t index) { return "plan[" + std::to_string(index) + ']'; }

/// The path of the invalid step of a plan: found by parsing longer and longer prefixes, because steps refer
/// only to earlier ones.
std::string faulty_step(const JsonArray& plan) {
  JsonArray begun;
  for (const Json& step : plan) {
    begun.push_back(step);
    if (!ScriptedPlanner::parse(begun)) return step_place(begun.size() - 1);
  }
  return "plan";
}

/// The plan of a kind, with the settings in the table of its name.
Result<Json> plan_of_kind(const TomlDocument& document, AgentSpec spec, const std::string& kind) {
  JsonObject plan = kind == "six_steps" ? six_steps_plan().get_object() : JsonObject{{"kind", kind}};
  if (const auto* settings = document.at(kind).if_object()) {
    for (const auto& [key, value] : *settings) plan[key] = value;
  }
  spec.plan = std::move(plan);
  auto parsed = make_planner(spec);
  if (!parsed) return document.mistake(kind, parsed.error().message);
  return std::move(spec.plan);
}

}  // namespace

Result<Json> plan_of(
    const TomlDocument& document, const AgentSpec& spec,
    const std::function<Status(const std::string& place, const std::string& tool)>& check_tool) {
  const Json& plan = document.at("plan");
  if (const std::string kind = json_string(document.json(), "planner"); !kind.empty()) {
    if (plan.is_null()) return plan_of_kind(document, spec, kind);
    return document.mistake("planner", "give either \"planner\" or [[plan]], not both");
  }
  if (plan.is_null()) return plan;
  const JsonArray& steps = plan.get_array();
  if (auto parsed = ScriptedPlanner::parse(plan); !parsed)
    return document.mistake(faulty_step(steps), parsed.error().message);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string place = step_place(i);
    if (const std::string tool = json_string(steps[i], "tool"); !tool.empty()) {
      if (auto known = check_tool(place + ".tool", tool); !known) return fail(std::move(known.error()));
    }
    const auto* calls = json_at(steps[i], "tools").if_array();
    for (std::size_t j = 0; calls != nullptr && j < calls->size(); ++j) {
      const std::string call = place + ".tools[" + std::to_string(j) + "].tool";
      if (auto known = check_tool(call, json_string((*calls)[j], "tool")); !known)
        return fail(std::move(known.error()));
    }
  }
  return plan;
}

}  // namespace praxis::app
