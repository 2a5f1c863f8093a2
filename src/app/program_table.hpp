// Programs that an agent file names and that stay while they are used: those of MCP servers and of agents of
// others. They run in the sandbox, with the folders, variables and hosts that their table lists.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/secret_uses.hpp"
#include "praxis/mcp/mcp_client.hpp"
#include "praxis/tools/file_tool.hpp"

namespace praxis::app {

/// Checks that the agent may have these folders (`paths` as written), and reports them; `place` is for the
/// error.
using CheckGranted = std::function<Status(const std::string& place, const std::vector<std::string>& paths)>;

/// What bounds the folders of a program. Must not outlive what it refers to.
struct ProgramBounds {
  std::filesystem::path start;  ///< where relative folders begin; absolute
  const FileBounds& files;
  const CheckGranted& check_granted;
};

/// The program of the checked table: it may read its working folder (`folder` as written; empty: a folder of
/// the sandbox), `TABLE.read` and `TABLE.write`, gets the variables `given` and `TABLE.environment`, and
/// reaches the hosts of `TABLE.allow`. Starts nothing. Error `kInput`: a folder that the agent may not have,
/// invalid hosts, or a secret that the program must not get.
Result<McpProgram> program_of_table(const SecretTable& table, const std::string& folder,
                                    std::vector<std::string> argv, std::map<std::string, std::string> given,
                                    const ProgramBounds& bounds);

}  // namespace praxis::app
