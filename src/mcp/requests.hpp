// What the requests of the client have in common.
#pragma once

#include <string>
#include <string_view>

#include "mcp/connection.hpp"
#include "praxis/mcp/mcp_client.hpp"

namespace praxis {

/// The version without a handshake.
inline constexpr const char* kMcpModernVersion = "2026-07-28";
/// How the names in `_meta` begin.
inline constexpr const char* kMcpMeta = "io.modelcontextprotocol/";

/// The parameters of a handshake. Only there does the client offer roots, which version 2026-07-28 gives up.
JsonObject mcp_handshake_params(std::string_view version, const McpBounds& bounds);
/// The members of `_meta` that each request of version 2026-07-28 carries.
JsonObject mcp_modern_params(JsonObject params, const McpBounds& bounds);
/// Whether a server that refuses the version of a request says that it speaks this one.
bool names_mcp_version(const Error& error, std::string_view version);
/// The request of a call with these options, which must live as long.
McpRequest mcp_request_of(const std::string& method, JsonObject params, const std::string& name,
                          const McpCallOptions& options);

}  // namespace praxis
