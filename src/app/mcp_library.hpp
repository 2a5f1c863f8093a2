// The transcripts of runs as the resources of an MCP server, and stored prompts as its prompts.
#pragma once

#include <functional>
#include <memory>

#include "app/workspace.hpp"
#include "mcp/served_reading.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::app {

/// The resources: the runs whose rows `is_offered` accepts, without what exports leave out. `workspace` must
/// outlive what is returned.
void offer_runs(McpReading& reading, const Workspace& workspace, std::shared_ptr<Journal> journal,
                std::function<bool(const SessionRow& row)> is_offered);
/// The prompts of a workspace, which must outlive what is returned.
void offer_prompts(McpReading& reading, const Workspace& workspace);

}  // namespace praxis::app
