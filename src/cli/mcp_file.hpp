// `praxis mcp add` and `remove`: the servers in the file `.mcp.json` of the working folder, which other MCP
// clients read too, and agents with `from = ".mcp.json"`.
#pragma once

#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/options.hpp"
#include "praxis/base/result.hpp"

namespace praxis::cli {

/// Adds or removes the server that the words name. Error `kInput`: the file is no such file, the name is
/// taken or not one for a server, or there is no such server; the file is then as it was.
Result<ExitStatus> change_mcp_file(const McpCommandOptions& options, Console& console);

}  // namespace praxis::cli
