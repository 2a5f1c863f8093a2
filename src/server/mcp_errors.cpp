#include "server/mcp_errors.hpp"

#include <utility>

#include "mcp/message.hpp"

namespace praxis::server {
namespace {

constexpr const char* kRpc = "rpc";

/// Of JSON-RPC where it has one that fits. Others are those of HTTP, far from what protocols reserve.
int rpc_code_of(int http) {
  if (http == 400) return kRpcInvalidParams;
  return http == 500 ? kRpcInternal : http;
}

/// What a program needs to know of a problem.
Json data_of(const Json& detail) {
  JsonObject data;
  for (const char* key : {"kind", "hint", "field", "right"}) {
    if (const Json& value = json_at(detail, key); value.is_string()) data[key] = value;
  }
  return data.empty() ? Json(nullptr) : Json(std::move(data));
}

HttpAnswer rpc_answer(int http, const std::string& text) {
  return {http, {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}, text + "\n"};
}

}  // namespace

Error mcp_refusal(const Json& id, Error error, std::optional<int> http) {
  JsonObject rpc{{"id", id}};
  if (http) rpc["http"] = *http;
  return std::move(error.set_value(kRpc, rpc));
}

Error mcp_refusal(const Json& id, const McpAnswer& refusal, int http) {
  const JsonObject rpc{{"id", id}, {"http", http}, {"code", refusal.error}, {"data", refusal.data}};
  return make_error(ErrorCode::kInput, refusal.why).set_value(kRpc, rpc);
}

HttpAnswer mcp_problem(const Error& error) {
  const Json& rpc = json_at(error.detail(), kRpc);
  const int http = static_cast<int>(json_int(rpc, "http", status_of(error)));
  const int code = static_cast<int>(json_int(rpc, "code", rpc_code_of(http)));
  const Json& own = json_at(rpc, "data");
  HttpAnswer answer = rpc_answer(http, mcp_error(json_at(rpc, "id"), code, error.message,
                                                 own.is_null() ? data_of(error.detail()) : own));
  if (http == 429 || http == 503)
    answer.headers.emplace_back("Retry-After", std::to_string(json_int(error.detail(), "retry_after", 1)));
  return answer;
}

HttpAnswer mcp_problem(const HttpAnswer& problem) {
  const Json body = parse_json(problem.body).value_or(nullptr);
  HttpAnswer answer = rpc_answer(problem.status, mcp_error(nullptr, rpc_code_of(problem.status),
                                                           json_string(body, "detail"), data_of(body)));
  for (const auto& [name, value] : problem.headers) {
    if (name == "WWW-Authenticate" || name == "Retry-After" || name == "Allow")
      answer.headers.emplace_back(name, value);
  }
  answer.ends_connection = problem.ends_connection;
  return answer;
}

}  // namespace praxis::server
