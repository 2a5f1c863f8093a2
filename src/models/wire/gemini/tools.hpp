// Tools in the Gemini protocol: names, declarations, and the supported schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/wire/gemini/dialect.hpp"
#include "praxis/domain/tool_definition.hpp"

namespace praxis::wire::gemini {

/// A tool name that the server accepts: it must not start with a digit or a hyphen.
std::string wire_name(std::string_view name);
/// The inverse of `wire_name`. Returns a part of its argument.
std::string_view tool_name(std::string_view wire_name);

/// The upper-case form used for the protocol's enumerations.
std::string upper_case(std::string_view text);

/// `schema` without the keywords that the server ignores; a `const` becomes an `enum` with one value.
Json wire_schema(const Json& schema);
/// `schema` approximated in the subset of OpenAPI that older models accept: types in upper case, no
/// references, null as a flag.
Json openapi_schema(const Json& schema);

/// The declarations of all tools.
JsonArray function_declarations(const std::vector<ToolDefinition>& tools, const Dialect& dialect);

}  // namespace praxis::wire::gemini
