// The address under which Restate asks this process for the records of running turns, and the calls to
// Restate (docs/scale-out.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engines/restate/engine_log.hpp"
#include "engines/restate/identity.hpp"
#include "net/http_server.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::server {

class Runs;

/// Where Restate is, and how it reaches this process.
struct RestateOptions {
  std::string ingress, admin;  ///< base URLs of Restate, without a `/` at the end
  std::string reached_at;      ///< base URL of this process for Restate, likewise; empty: where it listens
  std::string token;           ///< Restate sends it with each request
  HttpServerOptions http;      ///< where this process listens for Restate
  std::vector<restate::IdentityKey> keys = {};  ///< one of them signs each request; empty: unsigned ones pass
};

/// Serves Restate from `start` until destruction. Thread-safe.
class RestateEndpoint {
 public:
  virtual ~RestateEndpoint() = default;
  /// Asks Restate for the runs that a process left, now and, because a process that just ended may count as
  /// alive, a few seconds later. They then continue here.
  virtual void take_up() = 0;

  using Warn = std::function<void(const std::string&)>;
  /// Listens, connects the log and registers this process with Restate; blocks. Errors: of
  /// `HttpServer::start`; `kInput`: Restate does not answer, or refuses.
  static Result<std::unique_ptr<RestateEndpoint>> start(const std::shared_ptr<Executor>& executor,
                                                        std::shared_ptr<restate::EngineLog> log,
                                                        std::shared_ptr<Runs> runs,
                                                        std::shared_ptr<Runtime> runtime,
                                                        RestateOptions options, Warn warn);
};

}  // namespace praxis::server
