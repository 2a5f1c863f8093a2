// JSON-RPC 2.0 messages as the Model Context Protocol uses them: one object each, no batches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis {

/// JSON-RPC error codes.
inline constexpr int kRpcParseError = -32700;
inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcUnknownMethod = -32601;
inline constexpr int kRpcInvalidParams = -32602;
inline constexpr int kRpcInternal = -32603;
inline constexpr int kRpcDeclined = -1;  ///< by the user, of a request for a model's answer
inline constexpr int kRpcHeaderMismatch = -32020;
inline constexpr int kRpcUnsupportedVersion = -32022;

/// One message that was received.
struct McpMessage {
  enum class Kind : std::uint8_t { kRequest, kNotification, kResult, kError };
  Kind kind = Kind::kNotification;
  Json id;             ///< of a request, a result or an error
  std::string method;  ///< of a request or a notification
  Json body;           ///< the parameters, the result, or the error object
};

/// Error `kInput`: not a JSON-RPC message, or beyond the limits.
Result<McpMessage> read_mcp_message(std::string_view text, const JsonLimits& limits);

/// The texts of messages, in one line without its end.
std::string mcp_request(const Json& id, std::string_view method, Json params);
std::string mcp_notification(std::string_view method, Json params);
std::string mcp_result(const Json& id, Json result);
std::string mcp_error(const Json& id, int code, std::string_view message, Json data = nullptr);

}  // namespace praxis
