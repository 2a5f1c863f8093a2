// Selects the planner that an agent's description asks for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"
#include "praxis/domain/agent_spec.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The kind of a plan that stands for a planner of the host; `name` tells such planners apart in a log.
inline constexpr std::string_view kHostPlan = "host";

/// A `ModelPlanner` if the description has no plan, a `ScriptedPlanner` if the plan is an array of steps,
/// else the planner of the plan's kind. Error `kInput`: the plan is invalid, or of the kind `kHostPlan`.
Result<std::unique_ptr<Planner>> make_planner(const AgentSpec& spec);

/// The name of the host's planner that the agent follows, or of its reflector; empty if it follows none.
std::string host_plan_name(const AgentSpec& spec);

/// Whether the agent cannot run without a model: true unless it has a written plan or a planner of the host.
bool needs_model(const AgentSpec& spec);

}  // namespace praxis
#pragma GCC visibility pop
