// The `fork` tool: lets a model, or a plan, have several things worked on at the same time.
#pragma once

#include "praxis/tools/tool.hpp"

namespace praxis {

/// Takes `prompt` and gives back the answer of a clone of the agent (`ToolContext::fork`) that worked on it.
/// Calls in one batch run side by side. Safe by default; idempotent, since a call that runs once more finds
/// the clone it made. Clones may fork in turn, three levels deep; below that a call is an error of code
/// `kInput`.
Tool fork_tool();

}  // namespace praxis
