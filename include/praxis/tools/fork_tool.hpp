// The `fork` tool: lets a model or a plan work on several things in parallel.
#pragma once

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Takes `prompt`, has a clone of the agent (`ToolContext::fork`) work on it, and returns the clone's answer.
/// Calls of one batch run in parallel. Safe by default; idempotent, because a repeated call finds the clone
/// it made before. Clones can fork again, up to three levels deep; a deeper call fails with `kInput`.
Tool fork_tool();

}  // namespace praxis
#pragma GCC visibility pop
