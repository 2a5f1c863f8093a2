// The agents of others that an agent file starts as programs: `[tools.acp.NAME]`.
#pragma once

#include <vector>

#include "app/program_table.hpp"
#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis::app {

/// The tools of the checked tables `tools.acp.NAME`. Starts no program. Error `kInput`: a table without a
/// program or a rule, with the name of an MCP server or of a remote agent, or as of `program_of_table`.
Result<std::vector<Tool>> tools_of_acp(const TomlDocument& document, const ProgramBounds& bounds,
                                       const AgentFileOptions& options);

}  // namespace praxis::app
