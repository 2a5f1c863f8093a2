#include "server/a2a_errors.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace praxis::server {
namespace {

constexpr const char* kReason = "a2a";
constexpr std::string_view kAny = "type.googleapis.com/google.rpc.";

struct NamedError {
  std::string_view reason;
  int rpc = 0;
  int http = 400;
  std::string_view status = "FAILED_PRECONDITION";
};

/// Section 5.4 of the specification, and the errors of JSON-RPC itself.
constexpr std::array kNamed{
    NamedError{"TASK_NOT_FOUND", -32001, 404, "NOT_FOUND"},
    NamedError{"TASK_NOT_CANCELABLE", -32002},
    NamedError{"PUSH_NOTIFICATION_NOT_SUPPORTED", -32003},
    NamedError{"UNSUPPORTED_OPERATION", -32004},
    NamedError{"CONTENT_TYPE_NOT_SUPPORTED", -32005, 400, "INVALID_ARGUMENT"},
    NamedError{"VERSION_NOT_SUPPORTED", -32009},
    NamedError{"PARSE_ERROR", -32700, 400, "INVALID_ARGUMENT"},
    NamedError{"INVALID_REQUEST", -32600, 400, "INVALID_ARGUMENT"},
    NamedError{"METHOD_NOT_FOUND", -32601, 404, "UNIMPLEMENTED"},
};

const NamedError* named(const Error& error) {
  const std::string reason = json_string(error.detail(), kReason);
  const auto found = std::ranges::find(kNamed, reason, &NamedError::reason);
  return found == kNamed.end() ? nullptr : &*found;
}

std::string_view status_name(int http) {
  switch (http) {
    case 400:
      return "INVALID_ARGUMENT";
    case 401:
      return "UNAUTHENTICATED";
    case 403:
      return "PERMISSION_DENIED";
    case 404:
      return "NOT_FOUND";
    case 405:
      return "UNIMPLEMENTED";
    case 409:
      return "ABORTED";
    case 429:
      return "RESOURCE_EXHAUSTED";
    case 503:
      return "UNAVAILABLE";
    default:
      return http < 500 ? "FAILED_PRECONDITION" : "INTERNAL";
  }
}

JsonArray details_of(const NamedError* name, const std::string& field, const std::string& message) {
  JsonArray details;
  if (name != nullptr && name->rpc > -32600) {
    details.push_back(JsonObject{{"@type", std::string(kAny) + "ErrorInfo"},
                                 {"reason", name->reason},
                                 {"domain", "a2a-protocol.org"}});
  }
  if (!field.empty()) {
    details.push_back(
        JsonObject{{"@type", std::string(kAny) + "BadRequest"},
                   {"fieldViolations", JsonArray{JsonObject{{"field", field}, {"description", message}}}}});
  }
  return details;
}

HttpAnswer status_answer(int http, std::string_view status, const std::string& message, JsonArray details) {
  HttpAnswer answer = json_answer(JsonObject{{"error", JsonObject{{"code", http},
                                                                  {"status", status},
                                                                  {"message", message},
                                                                  {"details", std::move(details)}}}},
                                  http);
  answer.headers.front().second = "application/a2a+json";
  return answer;
}

}  // namespace

Error a2a_error(std::string_view reason, const std::string& message) {
  return make_error(ErrorCode::kInput, message).set(kReason, std::string(reason));
}

HttpAnswer a2a_problem(const Error& error) {
  const NamedError* const name = named(error);
  const int http = name != nullptr ? name->http : status_of(error);
  HttpAnswer answer = status_answer(http, name != nullptr ? name->status : status_name(http), error.message,
                                    details_of(name, json_string(error.detail(), "field"), error.message));
  if (http == 429 || http == 503)
    answer.headers.emplace_back("Retry-After", std::to_string(json_int(error.detail(), "retry_after", 1)));
  return answer;
}

HttpAnswer a2a_problem(const HttpAnswer& problem) {
  const Json body = parse_json(problem.body).value_or(nullptr);
  HttpAnswer answer =
      status_answer(problem.status, status_name(problem.status), json_string(body, "detail"), {});
  for (const auto& [name, value] : problem.headers) {
    if (name == "WWW-Authenticate" || name == "Retry-After" || name == "Allow")
      answer.headers.emplace_back(name, value);
  }
  answer.ends_connection = problem.ends_connection;
  return answer;
}

HttpAnswer a2a_rpc_problem(const Json& id, const Error& error) {
  const NamedError* const name = named(error);
  const bool is_input = error.code == ErrorCode::kInput && error.kind() == ErrorKind::kNone;
  JsonObject body{{"code", name != nullptr ? name->rpc
                           : is_input      ? -32602
                                           : -32603},
                  {"message", error.message}};
  if (auto details = details_of(name, json_string(error.detail(), "field"), error.message); !details.empty())
    body["data"] = std::move(details);
  return json_answer(JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}});
}

}  // namespace praxis::server
