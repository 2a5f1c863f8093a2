// The table `[tools.sql]` of an agent file.
#pragma once

#include <filesystem>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis::app {

/// The database file that the table names, below `folder` unless it is absolute; empty if the agent file has
/// no such table, or it names no file or a server.
std::string database_of(const TomlDocument& document, const std::filesystem::path& folder);

/// The tools that the table gives; none if the file has no such table. Error `kInput`.
Result<std::vector<Tool>> tools_of_sql(const TomlDocument& document, const AgentFileOptions& options,
                                       const std::filesystem::path& folder);

}  // namespace praxis::app
