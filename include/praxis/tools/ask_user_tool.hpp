// The `ask_user` tool: lets a model ask the user a question.
#pragma once

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Arguments: `question`, and optionally `choices` to restrict the answer. The call waits until a human
/// answers, even across a restart of the process; the answer is its result. If the human declines, the result
/// says so and the turn continues. Other calls of the batch run meanwhile. Safe by default.
Tool ask_user_tool();

}  // namespace praxis
#pragma GCC visibility pop
