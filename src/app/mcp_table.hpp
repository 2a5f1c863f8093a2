// The MCP servers of an agent file: `[tools.mcp.NAME]`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/mcp_tools.hpp"
#include "praxis/tools/file_tool.hpp"

namespace praxis::app {

/// Checks that the agent may have these folders (`paths` as written), and reports them; `place` is for the
/// error.
using CheckGranted = std::function<Status(const std::string& place, const std::vector<std::string>& paths)>;

/// The servers of the checked tables `tools.mcp.NAME`; relative paths start at `folder`, which is absolute.
/// Starts none of them. Error `kInput`: a table with neither a program nor an address, without a rule, with
/// invalid hosts, or with a token that is not set.
Result<std::vector<McpServer>> mcp_servers_of(const TomlDocument& document,
                                              const std::filesystem::path& folder, const FileBounds& bounds,
                                              const AgentFileOptions& options,
                                              const CheckGranted& check_granted);

}  // namespace praxis::app
