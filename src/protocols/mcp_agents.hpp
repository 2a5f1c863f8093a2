// Agents as the tools of an MCP server: each call is a run of the journal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/runtime/runtime.hpp"
#include "protocols/mcp_serving.hpp"

namespace praxis::protocols {

/// Offers the agents of these names, or all that `praxis run` finds by name if the list is empty. An agent is
/// read when it is called, so that a changed file counts. `workspace` must outlive the serving. Errors: a
/// name without an agent, or a named agent that cannot be read. Without names, `left_out` gets the name of
/// each agent that cannot be read, and why; if none can be read, that is the error.
Result<McpServing> serve_agents(
    const app::Workspace& workspace, std::shared_ptr<Runtime> runtime, const std::vector<std::string>& names,
    const std::function<void(const std::string& name, const Error& why)>& left_out);

}  // namespace praxis::protocols
