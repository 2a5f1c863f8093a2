#include "server/problem.hpp"

#include <utility>

namespace praxis::server {

HttpAnswer json_answer(const Json& body, int status) {
  return {status,
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          to_json_text(body) + "\n"};
}

HttpAnswer problem(int status, const Error& error) {
  const Json& detail = error.detail();
  JsonObject body{{"type", "about:blank"},
                  {"title", status_phrase(status)},
                  {"status", status},
                  {"detail", error.message},
                  {"code", to_string(error.code)}};
  for (const char* key : {"kind", "hint", "field", "right"}) {
    if (const Json& value = json_at(detail, key); value.is_string()) body[key] = value;
  }
  HttpAnswer answer = json_answer(body, status);
  answer.headers.front().second = "application/problem+json";
  if (status == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 429 || status == 503)
    answer.headers.emplace_back("Retry-After", std::to_string(json_int(detail, "retry_after", 1)));
  return answer;
}

HttpAnswer problem(const Error& error) { return problem(status_of(error), error); }

int status_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kNotFound:
      return 404;
    case ErrorKind::kExists:
    case ErrorKind::kLeaseHeld:
    case ErrorKind::kLeaseLost:
    case ErrorKind::kConflict:
      return 409;
    case ErrorKind::kTooLarge:
      return 413;
    case ErrorKind::kOverloaded:
      return 503;
    default:
      break;
  }
  switch (error.code) {
    case ErrorCode::kInput:
      return 400;
    case ErrorCode::kPolicy:
      return 403;
    case ErrorCode::kLimit:
      return 429;
    case ErrorCode::kCancelled:
      return 503;
    default:
      return error.retriable ? 503 : 500;
  }
}

Error field_error(const std::string& field, const std::string& reason) {
  return make_error(ErrorCode::kInput, "\"" + field + "\" " + reason).set("field", field);
}

Error not_found(const std::string& what, const std::string& name) {
  return make_error(ErrorCode::kInput, ErrorKind::kNotFound, "there is no " + what + " \"" + name + "\"");
}

Error conflict(const std::string& reason) {
  return make_error(ErrorCode::kInput, ErrorKind::kConflict, reason);
}

}  // namespace praxis::server
