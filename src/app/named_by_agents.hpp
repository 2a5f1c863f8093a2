// The files that agent files name, for all agents that are read together.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "praxis/app/agent_file.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// What a document, and the documents of its sub-agents and of its team, name: agent files, instructions, and
/// the files of servers. All as absolute paths. A tool of any of these agents that could write one would have
/// the rights of another. Documents that cannot be read, or that lie out of `options.within`, are named and
/// not read: at most 64. `start` is the base of the tools' paths, `home` the folder of the document.
std::vector<std::string> named_by_agents(const Json& agent, const AgentFileOptions& options,
                                         const std::filesystem::path& start,
                                         const std::filesystem::path& home);

}  // namespace praxis::app
