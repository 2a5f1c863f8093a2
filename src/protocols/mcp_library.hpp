// The transcripts of runs as the resources of an MCP server, and stored prompts as its prompts.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "app/workspace.hpp"
#include "praxis/journal/journal.hpp"
#include "protocols/mcp_reading.hpp"

namespace praxis::protocols {

/// Offers the runs of the agents with these ids, without what exports leave out, and all prompts of the
/// workspace, which must outlive what is returned.
McpReading serve_library(const app::Workspace& workspace, std::shared_ptr<Journal> journal,
                         std::set<std::string> agents);

}  // namespace praxis::protocols
