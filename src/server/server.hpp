// The runs of a journal over HTTP. The server is a projection: each answer comes from the journal and the
// runtime, and each request of a client becomes a command, an approval or a turn there.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "net/http_server.hpp"
#include "praxis/base/result.hpp"
#include "server/access.hpp"
#include "server/load.hpp"
#include "server/oidc_provider.hpp"
#include "server/push_rules.hpp"
#include "server/restate_endpoint.hpp"

namespace praxis::server {

struct ServerOptions {
  HttpServerOptions http;  ///< `refuse` is set by the server
  Access::Rules access;
  LoadBounds load;
  /// A code that a page exchanges once for `login_token`, within a minute; empty: none.
  std::string login_code = {}, login_token = {};
  /// Runs turns at Restate; nothing: in this process alone.
  std::optional<RestateOptions> restate = std::nullopt;
  /// Continue, at the start, the runs that a process left in the middle of a turn.
  bool take_up = true;
  /// How long a request that begins a turn waits until the journal has its message.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  /// Gets a line of JSON for each answer, on any thread; null: no log.
  std::function<void(const std::string& line)> log = nullptr;
  /// Gets what a user should know, such as a run that cannot continue; any thread; null: nothing.
  std::function<void(const std::string&)> warn = nullptr;
  PushRules push = {};
  OidcOptions oidc = {};
};

/// Serves from `start` until destruction. Thread-safe.
class Server {
 public:
  /// Errors: of `open_runtime`, of `A2aPush::open`, of `HttpServer::start`.
  static Result<std::unique_ptr<Server>> start(app::Workspace workspace, ServerOptions options);
  virtual ~Server() = default;

  /// Answers a request that came in another way than over the socket of the server. Any thread.
  virtual void take(ReceivedRequest request, HttpReply reply) = 0;
  /// The port; 0 on a Unix socket.
  virtual std::uint16_t port() const = 0;
  /// Takes no new requests, ends event streams with an event that says so, and waits until no turn works any
  /// more, at most `grace`. Turns that still work or wait stay in the journal, to be continued.
  virtual void drain(std::chrono::milliseconds grace) = 0;
};

}  // namespace praxis::server
