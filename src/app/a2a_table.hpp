// The remote agents of an agent file: `[tools.a2a.NAME]`.
#pragma once

#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis::app {

/// The tools of the checked tables `tools.a2a.NAME`. Contacts no agent. Error `kInput`: a table without an
/// address or a rule, with the name of an MCP server, or with a variable that is not set.
Result<std::vector<Tool>> tools_of_a2a(const TomlDocument& document, const AgentFileOptions& options);

}  // namespace praxis::app
