// The MCP servers of an agent file: `[tools.mcp.NAME]`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/program_table.hpp"
#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/mcp_tools.hpp"
#include "praxis/tools/file_tool.hpp"

namespace praxis::app {

/// Where relative paths begin, which are absolute, and which files may be read.
struct McpPlaces {
  std::filesystem::path start;  ///< those of folders
  std::filesystem::path home;   ///< those of files that the agent file names: its own folder
  std::function<Status(const std::string& place, const std::string& path)> check_file;
};

/// The servers of the checked tables `tools.mcp.NAME`.
/// Starts none of them. Error `kInput`: a table with neither a program nor an address, or whose file has
/// none, without a rule, with invalid hosts, or with a token that is not set.
Result<std::vector<McpServer>> mcp_servers_of(const TomlDocument& document, const McpPlaces& places,
                                              const FileBounds& bounds, const AgentFileOptions& options,
                                              const CheckGranted& check_granted);

}  // namespace praxis::app
