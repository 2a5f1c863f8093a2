// Agents as the tools of an MCP server: each call is a run of the journal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/runtime/runtime.hpp"
#include "protocols/mcp_serving.hpp"

namespace praxis::protocols {

/// Offers the agents of these names, or all that `praxis run` finds by name if the list is empty. An agent is
/// read when it is called, so that a changed file counts. `workspace` must outlive the serving. Errors: a
/// name without an agent, or an agent that cannot be read.
Result<McpServing> serve_agents(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime,
                                const std::vector<std::string>& names);

}  // namespace praxis::protocols
