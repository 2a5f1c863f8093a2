// The table `[tools.http]` of an agent file.
#pragma once

#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis::app {

/// The tool that the table gives; none if the file has no such table. Error `kInput`.
Result<std::vector<Tool>> tools_of_http(const TomlDocument& document, const AgentFileOptions& options);

}  // namespace praxis::app
