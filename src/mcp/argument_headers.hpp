// Arguments that a tool wants in headers of HTTP too (version 2026-07-28): a property of its input schema
// names the header in `x-mcp-header`, so that what lies between client and server can route without reading
// bodies.
#pragma once

#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// An argument that is repeated in a header.
struct McpHeaderArgument {
  std::string header;             ///< complete, such as `Mcp-Param-Region`
  std::vector<std::string> path;  ///< to the argument, by names of properties
};

/// What an input schema wants in headers. Error `kTool`: a declaration that is invalid, and why; a tool with
/// one must not be offered.
Result<std::vector<McpHeaderArgument>> mcp_header_arguments(const Json& schema);
/// The headers for these arguments. An argument that is missing or null has none.
HttpHeaders mcp_argument_headers(const std::vector<McpHeaderArgument>& wanted, const Json& arguments);
/// A header value as version 2026-07-28 wants it: what is not plain ASCII in Base64, marked as such.
std::string mcp_header_value(const std::string& text);

}  // namespace praxis
