#include "mcp/message.hpp"

#include <utility>

namespace praxis {
namespace {

JsonObject envelope() { return {{"jsonrpc", "2.0"}}; }

/// Moves a member out of the message; null if it is absent.
Json taken(JsonObject& object, std::string_view key) {
  Json* member = object.if_contains(key);
  return member == nullptr ? Json(nullptr) : std::move(*member);
}

}  // namespace

Result<McpMessage> read_mcp_message(std::string_view text, const JsonLimits& limits) {
  auto parsed = parse_json(text, limits);
  if (!parsed) return fail(std::move(parsed.error()));
  JsonObject* object = parsed->if_object();
  if (object == nullptr || json_string(*parsed, "jsonrpc") != "2.0")
    return fail(ErrorCode::kInput, "not a JSON-RPC 2.0 message");
  McpMessage message;
  message.method = json_string(*parsed, "method");
  message.id = taken(*object, "id");
  const bool has_id = message.id.is_string() || message.id.is_number();
  if (!message.method.empty()) {
    message.kind = has_id ? McpMessage::Kind::kRequest : McpMessage::Kind::kNotification;
    message.body = taken(*object, "params");
    return message;
  }
  if (object->contains("result") == object->contains("error"))
    return fail(ErrorCode::kInput, "a JSON-RPC message without a method needs a result or an error");
  const bool is_result = object->contains("result");
  message.kind = is_result ? McpMessage::Kind::kResult : McpMessage::Kind::kError;
  message.body = taken(*object, is_result ? "result" : "error");
  return message;
}

std::string mcp_request(const Json& id, std::string_view method, Json params) {
  JsonObject message = envelope();
  message["id"] = id;
  message["method"] = method;
  if (!params.is_null()) message["params"] = std::move(params);
  return to_json_text(message);
}

std::string mcp_notification(std::string_view method, Json params) {
  JsonObject message = envelope();
  message["method"] = method;
  if (!params.is_null()) message["params"] = std::move(params);
  return to_json_text(message);
}

std::string mcp_result(const Json& id, Json result) {
  JsonObject message = envelope();
  message["id"] = id;
  message["result"] = std::move(result);
  return to_json_text(message);
}

std::string mcp_error(const Json& id, int code, std::string_view text, Json data) {
  JsonObject error{{"code", code}, {"message", text}};
  if (!data.is_null()) error["data"] = std::move(data);
  JsonObject message = envelope();
  message["id"] = id;
  message["error"] = std::move(error);
  return to_json_text(message);
}

}  // namespace praxis
