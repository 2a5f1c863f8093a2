// Tool declarations of an Anthropic Messages request.
#pragma once

#include <vector>

#include "models/wire/anthropic/dialect.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::messages {

/// The declarations in order. With `strict`, marks tools as strict if their schema qualifies, until the
/// limits of a request are reached.
JsonArray tool_declarations(const std::vector<ToolDefinition>& tools, const Dialect& dialect, bool strict);

}  // namespace praxis::wire::messages
