// Which planner an agent's description asks for.
#pragma once

#include <memory>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"
#include "praxis/domain/agent_spec.hpp"

namespace praxis {

/// A `ScriptedPlanner` when the description has a plan, else a `ModelPlanner`. Error `kInput` for a plan that
/// cannot be read.
Result<std::unique_ptr<Planner>> make_planner(const AgentSpec& spec);

}  // namespace praxis
