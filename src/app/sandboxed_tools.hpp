// The tools of an agent file that run programs in the sandbox: `[tools.shell]` and `[tools.python]`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/tools/file_tool.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// `folder` and the folders that the document lets tools write, where programs may have put links: none is
/// followed below them on the way to a granted folder or file. `folder` is absolute.
std::vector<std::string> linkless_folders(const TomlDocument& document, const std::filesystem::path& folder);

/// The way of a sandbox to the hosts that `TABLE.allow` lists. Copies share it.
struct SandboxWayOut {
  std::string socket;            ///< as `Sandbox::proxy_socket`; empty: the table lists no hosts
  std::function<Status()> open;  ///< must have succeeded before a program uses it; null without hosts
};
/// Error `kInput`: invalid hosts.
Result<SandboxWayOut> sandbox_way_out(const TomlDocument& document, const std::string& table);

/// Builds the tool described by the checked table `tools.shell`; relative paths start at `folder`, which is
/// absolute. Programs may also read `readable`. Error `kInput`: invalid hosts, or a secret that they must not
/// get.
Result<Tool> shell_tool_of(const TomlDocument& document, const AgentFileOptions& options,
                           const std::filesystem::path& folder, const FileBounds& bounds,
                           const std::vector<std::string>& readable);
/// The same for `tools.python`, whose code gets no secrets.
Result<Tool> python_tool_of(const TomlDocument& document, const AgentFileOptions& options,
                            const std::filesystem::path& folder, const FileBounds& bounds,
                            const std::vector<std::string>& readable);

}  // namespace praxis
