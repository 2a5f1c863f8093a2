// The instructions of an agent file: its own text, a file, a prompt, and those of the working folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"

namespace praxis::app {

/// Instructions and what the agent records about where they came from.
struct AgentInstructions {
  std::string text;
  Json metadata;                   ///< that of the file, with what is recorded
  std::vector<std::string> files;  ///< of the working folder; no tool may write them
};

/// Reads them. `home`: the folder of the file; `check_file` checks a path (absolute) that the file names.
/// Error `kInput`.
Result<AgentInstructions> instructions_of(
    const TomlDocument& document, const AgentFileOptions& options, const std::filesystem::path& home,
    const std::function<Status(const std::string& place, const std::string& path)>& check_file);

}  // namespace praxis::app
