// The `ask_user` tool: how a model asks the person it works for.
#pragma once

#include "praxis/tools/tool.hpp"

namespace praxis {

/// `question`, with `choices` if only certain answers will do. A call waits, across the end of the process if
/// need be, until a person answers; the answer is its result. A person may decline: then the result says so
/// and the turn goes on. Other calls of the batch run meanwhile. Safe by default.
Tool ask_user_tool();

}  // namespace praxis
