// Requests of version 2026-07-28 of MCP, which say all by themselves.
#pragma once

#include <string>

#include "mcp/message.hpp"
#include "praxis/json/json.hpp"

namespace praxis::server::testing {

/// The body of a request of a client with these capabilities.
inline std::string stateless_body(const std::string& method, JsonObject params = {},
                                  const std::string& version = "2026-07-28",
                                  const JsonObject& capabilities = {}) {
  const std::string prefix = "io.modelcontextprotocol/";
  JsonObject meta;
  if (const Json* given = params.if_contains("_meta"); given != nullptr) meta = given->get_object();
  meta[prefix + "protocolVersion"] = version;
  meta[prefix + "clientCapabilities"] = capabilities;
  params["_meta"] = std::move(meta);
  return mcp_request(1, method, params);
}

/// The headers that repeat it; `name` is what the request is about.
inline std::string stateless_headers(const std::string& method, const std::string& name = {}) {
  return "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n" +
         (name.empty() ? "" : "Mcp-Name: " + name + "\r\n");
}

}  // namespace praxis::server::testing
