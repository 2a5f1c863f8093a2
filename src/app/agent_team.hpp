// `[team]` of an agent file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"

namespace praxis::app {

/// The agent files that `[team]` names, as it names them.
std::vector<std::string> team_files(const Json& document);
/// Reads the agent of a file that the team names; `place` is the key that names it.
using ReadMember = std::function<Result<Agent>(const std::string& place, const std::string& file)>;
/// The team of a document whose keys have been checked. `own` is the id of its own agent. Errors name place,
/// line and column.
Result<TeamDescription> team_of(const TomlDocument& document, const std::string& own, const ReadMember& read);

}  // namespace praxis::app
