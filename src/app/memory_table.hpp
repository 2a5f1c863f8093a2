// The table `[tools.memory]` of an agent file.
#pragma once

#include <functional>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis::app {

/// The tools that the table gives; none if the file has no such table. An agent that is bounded to a folder
/// sees only what the agents of this folder keep, and documents that were stored for it. Error `kInput`.
Result<std::vector<Tool>> tools_of_memory(const TomlDocument& document, const AgentFileOptions& options);

/// Makes the agent recall by itself if the table says `automatic = true`. `tools_of_memory` has accepted it.
void add_automatic_recall(Agent& agent, const TomlDocument& document, const AgentFileOptions& options);

}  // namespace praxis::app
