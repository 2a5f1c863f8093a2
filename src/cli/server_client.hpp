// Calls a server for the commands that act on its runs (`--server`) and for `api`. Finds the token, and turns
// refusals and lost connections into errors with the exit statuses that docs/server.md lists.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "app/workspace.hpp"
#include "cli/options.hpp"
#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::cli {

/// A request with the token. Error `kInput`: there is no token for this server.
Result<HttpRequest> server_request(const ServerPlace& place, std::string method, std::string_view path);

/// The error that has the exit status for a status of HTTP.
Error refusal(int status);
/// The same with what the body, a problem document, says.
Error refusal(int status, std::string_view body);
/// The error of an exchange with a server that did not end well.
Error exchange_error(const Error& error);

/// A text as one segment of a path.
std::string path_segment(std::string_view text);

/// Makes requests and waits for their answers. One thread at a time.
class ServerClient {
 public:
  /// Requests end once `stop` is requested. Error `kInput`: the address is no URL, or there is no token.
  static Result<ServerClient> open(const ServerPlace& place, std::stop_token stop);

  /// The JSON object of an answer. `body`: null for none. Errors: those of `refusal` and `exchange_error`.
  Result<Json> call(std::string method, const std::string& path, const Json& body = nullptr,
                    const HttpHeaders& headers = {}) const;
  /// As `call`, and again while the connection is lost or the server starts: for requests that may arrive
  /// twice. Not again if the server was never reached.
  Result<Json> call_surely(const std::string& method, const std::string& path, const Json& body = nullptr,
                           const HttpHeaders& headers = {}) const;

  /// The same client, whose requests end after `limit`.
  ServerClient within(std::chrono::milliseconds limit) const;
  /// The same client, whose requests no stop ends: for those after which something is to be said.
  ServerClient unstopped() const;

  /// A request for `http()`, which may last as long as it needs.
  HttpRequest request(std::string method, const std::string& path) const;
  HttpClient& http() const { return *http_; }
  const std::stop_token& stop() const { return stop_; }
  /// What printed commands name: the server in place of a journal.
  const app::Workspace& workspace() const { return workspace_; }

 private:
  ServerClient(HttpRequest blank, app::Workspace workspace, std::stop_token stop)
      : blank_(std::move(blank)), workspace_(std::move(workspace)), stop_(std::move(stop)) {}

  HttpRequest blank_;  ///< without method and path
  app::Workspace workspace_;
  std::stop_token stop_;
  std::shared_ptr<HttpClient> http_ = make_http_client();
  std::shared_ptr<std::atomic<bool>> was_reached_ = std::make_shared<std::atomic<bool>>(false);
};

/// How long a client tries to reach a server again.
inline constexpr std::chrono::seconds kServerPatience{120};
/// Between two attempts.
inline constexpr std::chrono::milliseconds kServerRetry{200};
/// Waits; false if a stop was requested.
bool wait_unless_stopped(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace praxis::cli
