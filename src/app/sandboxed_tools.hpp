// The tools of an agent file that run programs in the sandbox: `[tools.shell]` and `[tools.python]`.
#pragma once

#include <filesystem>

#include "app/toml_document.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// Builds the tool described by the checked table `tools.shell`; relative paths start at `folder`, which is
/// absolute. Error `kInput`: invalid hosts.
Result<Tool> shell_tool_of(const TomlDocument& document, const std::filesystem::path& folder);
/// The same for `tools.python`.
Result<Tool> python_tool_of(const TomlDocument& document, const std::filesystem::path& folder);

}  // namespace praxis
