// The table `[tools.skills]` of an agent file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/tools/skill_tool.hpp"

namespace praxis::app {

/// The folders that hold the skills of the user: `~/.agents/skills` and `~/.claude/skills`. Empty without
/// HOME.
std::vector<std::string> own_skill_places();

/// The folders that the table names (absolute), or those of the user. The paths start at `folder`; those of
/// an agent that is bounded to a folder start there.
std::vector<std::string> skill_places(const TomlDocument& document, const AgentFileOptions& options,
                                      const std::filesystem::path& folder);

/// The skills in these folders, read as the agent's other files are. What is left out is reported to
/// `options.warn`.
std::vector<Skill> skills_in(const std::vector<std::string>& places, const TomlDocument& document,
                             const AgentFileOptions& options);

}  // namespace praxis::app
