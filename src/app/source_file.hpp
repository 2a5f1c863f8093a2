// Reads the files that an agent file names.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "praxis/app/agent_file.hpp"
#include "praxis/base/result.hpp"

namespace praxis::app {

/// The path without `.` and `..`, from the root folder on; follows no links.
std::string absolute_path(const std::filesystem::path& path);
/// The content of a file, as `AgentFileOptions::read_file` gives it if that is set. Error `kInput`:
/// unreadable, no regular file, or longer than `max_bytes`.
Result<std::string> read_source(const AgentFileOptions& options, const std::string& path,
                                std::size_t max_bytes);

}  // namespace praxis::app
