// Tool declarations of an Anthropic Messages request.
#pragma once

#include <vector>

#include "models/wire/anthropic/dialect.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/json/json.hpp"

namespace praxis::messages {

/// The declarations in order. If `strict`, those are declared strict whose schemas allow it, as far as the
/// limits on a whole request reach.
JsonArray tool_declarations(const std::vector<ToolDefinition>& tools, const Dialect& dialect, bool strict);

}  // namespace praxis::messages
