// Agents as tools for the clients of an MCP server: each call is a run.
#pragma once

#include <optional>
#include <string>

#include "mcp/server_answers.hpp"
#include "praxis/core/event.hpp"
#include "praxis/runtime/agent.hpp"

namespace praxis::app {

/// What a server says of its tools.
inline constexpr const char* kMcpInstructions =
    "Each tool runs an agent on the task that is given in `prompt`.";

/// The tool of an agent: its name without what some clients do not accept.
std::string mcp_tool_name(const std::string& agent);
/// The arguments of each such tool.
Json mcp_tool_parameters();
/// The tool of the agent that `praxis run` finds by `name`.
ServedTool mcp_tool_of(const std::string& name, const AgentSpec& spec);
/// The task in a call's arguments.
std::string mcp_prompt_of(const Json& arguments);
/// What a client learns of an event during a call; nothing of most.
std::optional<std::string> mcp_progress_of(const Event& event);
/// The answer once a turn has ended. Not for one that waits.
ServedAnswer mcp_result_of(const AgentResult& report);
/// The answer once the turn waits for people; `how` says how to let it continue.
ServedAnswer mcp_waits(const SessionId& run, const std::string& how);

}  // namespace praxis::app
