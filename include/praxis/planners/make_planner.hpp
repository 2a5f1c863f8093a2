// Which planner an agent's description asks for.
#pragma once

#include <memory>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"
#include "praxis/domain/agent_spec.hpp"

namespace praxis {

/// A `ModelPlanner` when the description has no plan, a `ScriptedPlanner` when it is an array of steps, else
/// the planner of its kind. Error `kInput` for a plan that cannot be read.
Result<std::unique_ptr<Planner>> make_planner(const AgentSpec& spec);

/// Whether such an agent is of no use without a model: all are, but those with a written plan.
bool needs_model(const AgentSpec& spec);

}  // namespace praxis
