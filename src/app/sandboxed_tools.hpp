// The tools of an agent file that run programs in the sandbox: `[tools.shell]` and `[tools.python]`.
#pragma once

#include <filesystem>

#include "app/toml_document.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// The tool that the checked table `tools.shell` describes; relative paths start at `folder`, which is
/// absolute. Error `kInput` for hosts that are none.
Result<Tool> shell_tool_of(const TomlDocument& document, const std::filesystem::path& folder);
/// The same for `tools.python`.
Result<Tool> python_tool_of(const TomlDocument& document, const std::filesystem::path& folder);

}  // namespace praxis
