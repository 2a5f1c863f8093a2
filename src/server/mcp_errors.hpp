// Refusals to MCP clients: JSON-RPC errors with a fitting status of HTTP.
#pragma once

#include <optional>

#include "mcp/served_reading.hpp"
#include "server/problem.hpp"

namespace praxis::server {

/// An error that is answered as the refusal of the request `id`. `http`: the status; nothing: the one that
/// fits the error.
Error mcp_refusal(const Json& id, Error error, std::optional<int> http = std::nullopt);
/// The same, of what the protocol itself refuses.
Error mcp_refusal(const Json& id, const McpAnswer& refusal, int http);
/// The answer with an error, of `mcp_refusal` or any other.
HttpAnswer mcp_problem(const Error& error);
/// The same of a problem document, which keeps its status and what its headers ask of the client.
HttpAnswer mcp_problem(const HttpAnswer& problem);

}  // namespace praxis::server
