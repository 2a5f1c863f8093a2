#include "cli/server_client.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "app/hints.hpp"
#include "app/values.hpp"
#include "cli/server_token.hpp"
#include "praxis/base/reach.hpp"

namespace praxis::cli {
namespace {

/// Whether the server may be there again soon: the connection was lost, or it starts or ends.
bool is_passing(const Error& error) {
  return error.kind() == ErrorKind::kNetwork || error.kind() == ErrorKind::kOverloaded;
}

}  // namespace

Result<HttpRequest> server_request(const ServerPlace& place, std::string method, std::string_view path) {
  HttpRequest request;
  request.method = std::move(method);
  request.url = place.url;
  while (request.url.ends_with('/')) request.url.pop_back();
  request.url += path;
  if (const auto parsed = parse_url(request.url); !parsed) return fail(parsed.error());
  auto token = token_for(request.url, place.token_file);
  if (!token) return fail(token.error());
  request.headers = {{"Authorization", "Bearer " + *token}};
  return request;
}

Error refusal(int status) {
  const auto code = status == 401 || status == 403  ? ErrorCode::kPolicy
                    : status == 429                 ? ErrorCode::kLimit
                    : status >= 300 && status < 500 ? ErrorCode::kInput
                                                    : ErrorCode::kModel;
  Error error = make_error(code, fmt::format("the server answered {}", status));
  if (status == 502 || status == 503 || status == 504)
    error = make_error(code, ErrorKind::kOverloaded, std::move(error.message));
  return error;
}

Error refusal(int status, std::string_view body) {
  Error error = refusal(status);
  const auto problem = parse_json(body);
  if (problem && !json_text(*problem, "detail").empty())
    error.message += ": " + json_string(*problem, "detail");
  if (problem && error.code == ErrorCode::kInput && !json_text(*problem, "kind").empty())
    error.set("kind", json_text(*problem, "kind"));
  if (problem && !json_text(*problem, "hint").empty()) error.set("hint", json_text(*problem, "hint"));
  if (status == 401) error.set("hint", "--token-file FILE or PRAXIS_TOKEN gives the token of this server");
  return error;
}

Error exchange_error(const Error& error) {
  // A longer answer than the client takes is no loss of the connection.
  if (error.code != ErrorCode::kModel || error.kind() == ErrorKind::kTooLarge) return error;
  Error lost = make_error(ErrorCode::kModel, ErrorKind::kNetwork, error.message);
  if (const auto reach = reach_of(error)) lost = with_reach(std::move(lost), *reach);
  const bool is_absent = error.kind() == ErrorKind::kConnect;
  return is_absent ? app::with_hint(std::move(lost), "praxis serve starts a server") : lost;
}

std::string path_segment(std::string_view text) {
  std::string segment;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                          std::string_view("-._~").contains(c);
    if (is_plain) {
      segment += c;
    } else {
      segment += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return segment;
}

bool wait_unless_stopped(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

Result<ServerClient> ServerClient::open(const ServerPlace& place, std::stop_token stop) {
  auto blank = server_request(place, "GET", "");
  if (!blank) return fail(blank.error());
  app::Workspace workspace;
  workspace.server_options = " --server " + app::shell_word(place.url);
  if (!place.token_file.empty())
    workspace.server_options += " --token-file " + app::shell_word(place.token_file);
  return ServerClient(*std::move(blank), std::move(workspace), std::move(stop));
}

ServerClient ServerClient::within(std::chrono::milliseconds limit) const {
  ServerClient bounded = *this;
  bounded.blank_.timeouts.total = limit;
  return bounded;
}

ServerClient ServerClient::unstopped() const {
  ServerClient patient = *this;
  patient.stop_ = {};
  return patient;
}

HttpRequest ServerClient::request(std::string method, const std::string& path) const {
  HttpRequest request = blank_;
  request.method = std::move(method);
  request.url += path;
  return request;
}

Result<Json> ServerClient::call(std::string method, const std::string& path, const Json& body,
                                const HttpHeaders& headers) const {
  HttpRequest wanted = request(std::move(method), path);
  wanted.headers.insert(wanted.headers.end(), headers.begin(), headers.end());
  if (!body.is_null()) {
    wanted.body = std::make_shared<const std::string>(to_json_text(body));
    wanted.headers.emplace_back("Content-Type", "application/json");
  }
  const auto answer = http_fetch(*http_, std::move(wanted), stop_);
  if (answer || reach_of(answer.error()) != Reach::kNotSent) *was_reached_ = true;
  if (!answer) return fail(exchange_error(answer.error()));
  if (answer->status / 100 != 2) return fail(refusal(answer->status, answer->body));
  auto json = parse_json(answer->body);
  if (!json || !json->is_object())
    return fail(ErrorCode::kModel, ErrorKind::kProtocol,
                "the answer is not of a Praxis server; does --server name one?");
  return json;
}

Result<Json> ServerClient::call_surely(const std::string& method, const std::string& path, const Json& body,
                                       const HttpHeaders& headers) const {
  const auto until = std::chrono::steady_clock::now() + kServerPatience;
  auto answer = call(method, path, body, headers);
  while (*was_reached_ && !answer && is_passing(answer.error()) && std::chrono::steady_clock::now() < until) {
    if (!wait_unless_stopped(kServerRetry, stop_)) break;
    answer = call(method, path, body, headers);
  }
  return answer;
}

}  // namespace praxis::cli
