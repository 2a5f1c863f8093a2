// The files that commands in the configuration and in agent files name: programs, and what they read. A tool
// that could write one of them would have the rights with which the command runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "praxis/app/agent_file.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// The files that the words of a command name, as absolute paths: paths from `folder`, names of programs in
/// PATH, also within a word (`--config=FILE`, a line for the shell). Only files that exist, but for what
/// would run as soon as it exists: a first word with a `/`, and the name of a program in the folders of PATH
/// before the one that holds it.
std::vector<std::string> files_of_command(const std::vector<std::string>& words,
                                          const std::filesystem::path& folder);

/// The files that the commands of `[tools.mcp]` (also those in files that the tables name) and of
/// `[tools.acp]` name, but for those that their tables let them write: their data. Relative folders begin at
/// `start`, files with `mcpServers` at `home`.
std::vector<std::string> server_files(const Json& agent, const AgentFileOptions& options,
                                      const std::filesystem::path& start, const std::filesystem::path& home);

}  // namespace praxis::app
