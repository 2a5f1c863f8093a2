// The headers of a request to an MCP server over HTTP: what they repeat of the message must be what it says.
#pragma once

#include <optional>

#include "mcp/message.hpp"
#include "mcp/served_reading.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// The refusal of a request whose headers are missing, differ from it, or name a version that no server here
/// speaks; nothing if they are right.
std::optional<McpAnswer> refuse_mcp_headers(const HttpHeaders& headers, const McpMessage& request);

}  // namespace praxis
