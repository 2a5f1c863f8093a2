// Tools that a client brings with its request and runs itself: a call of one is parked, and what the client
// says it gave is its result, as the answer to a question is.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "praxis/runtime/agent.hpp"

namespace praxis::app {

/// Gives an agent tools that a client runs. Error `kInput`: not a valid definition, or the agent has a tool
/// of this name.
Status add_external_tools(Agent& agent, std::vector<ToolDefinition> tools);
/// Gives an agent that is made again those that a run records.
Status keep_external_tools(Agent& agent, const AgentSpec& recorded);
/// The names of the tools of an agent that a client runs.
std::set<std::string> external_tools_of(const AgentSpec& agent);

}  // namespace praxis::app
