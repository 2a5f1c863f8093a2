// Selects the planner that an agent's description asks for.
#pragma once

#include <memory>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"
#include "praxis/domain/agent_spec.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A `ModelPlanner` if the description has no plan, a `ScriptedPlanner` if the plan is an array of steps,
/// else the planner of the plan's kind. Error `kInput`: the plan is invalid.
Result<std::unique_ptr<Planner>> make_planner(const AgentSpec& spec);

/// Whether the agent cannot run without a model: true unless it has a written plan.
bool needs_model(const AgentSpec& spec);

}  // namespace praxis
#pragma GCC visibility pop
