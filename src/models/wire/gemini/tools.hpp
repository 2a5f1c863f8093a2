// Tools as the Gemini protocol has them: names, declarations, and the schemas it understands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/wire/gemini/dialect.hpp"
#include "praxis/domain/tool_definition.hpp"

namespace praxis::gemini {

/// A tool's name as the wire takes it: it may not begin with a digit or a hyphen.
std::string wire_name(std::string_view name);
/// The tool that a model calls by a wire name: the inverse of `wire_name`. A part of its argument.
std::string_view tool_name(std::string_view wire_name);

/// A word as the wire spells the values of its enumerations.
std::string upper_case(std::string_view text);

/// `schema` without what the server passes over: a `const` becomes an `enum` of one value.
Json wire_schema(const Json& schema);
/// `schema` in the subset of OpenAPI that older models take, as near as it goes: types in upper case, no
/// references, null as a flag.
Json openapi_schema(const Json& schema);

/// What a model is told of its tools.
JsonArray function_declarations(const std::vector<ToolDefinition>& tools, const Dialect& dialect);

}  // namespace praxis::gemini
