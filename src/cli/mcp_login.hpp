// `mcp login` and `mcp logout`: the user's logins at the MCP servers of an agent.
#pragma once

#include <stop_token>
#include <vector>

#include "cli/console.hpp"
#include "cli/options.hpp"
#include "praxis/runtime/mcp_tools.hpp"

namespace praxis::cli {

/// Logs in at the servers of an agent that want it, or at the one that the command names.
Result<ExitStatus> log_in_at(const McpCommandOptions& options, const std::vector<McpServer>& servers,
                             const std::stop_token& stop, Console& console);
/// Ends and forgets the logins at the servers of an agent, or at the one that the command names.
Result<ExitStatus> log_out_at(const McpCommandOptions& options, const std::vector<McpServer>& servers,
                              const std::stop_token& stop, Console& console);

}  // namespace praxis::cli
