// A connection to one server of the Model Context Protocol over either transport. The handshake and the
// meaning of the methods are those of the client above.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "mcp/message.hpp"
#include "praxis/mcp/mcp_client.hpp"

namespace praxis {

/// A request and how long it may take.
struct McpRequest {
  std::string method;
  JsonObject params;
  std::string name;  ///< what it is about (the tool), for the headers of HTTP; may be empty
  std::stop_token stop;
  std::chrono::steady_clock::time_point deadline;
  /// Gets the parameters of progress notifications, on the calling thread; null: none is asked for.
  std::function<void(const Json& params)> on_progress = nullptr;
};

/// Thread-safe.
class McpConnection {
 public:
  McpConnection() = default;
  virtual ~McpConnection() = default;
  McpConnection(const McpConnection&) = delete;
  McpConnection& operator=(const McpConnection&) = delete;

  /// Waits for the result. Errors state their `Reach`. An error that the server reports has code `kTool` and
  /// its JSON-RPC code as `rpc_code` in the detail, with the data as `rpc_data`.
  virtual Result<Json> request(const McpRequest& request) = 0;
  /// Sends a notification, without waiting for an effect.
  virtual void notify(std::string_view method, Json params) = 0;
  /// Sends a request and ignores its answer.
  virtual void request_quietly(std::string_view method, Json params) = 0;
  /// Whether further requests can be sent.
  virtual bool is_open() const = 0;
  /// Fixes the version that requests name from now on.
  virtual void use_version(const std::string& version, bool modern) = 0;
};

/// Called on a thread of the connection, which may still be being made; must not block.
using McpNotified = std::function<void(const std::string& method)>;

/// Starts the program. Errors: as `start_process`.
Result<std::unique_ptr<McpConnection>> connect_to_program(const McpProgram& program, const McpBounds& bounds,
                                                          McpNotified notified);
/// No request is sent before the first one.
std::unique_ptr<McpConnection> connect_to_endpoint(const McpEndpoint& endpoint, const McpBounds& bounds,
                                                   McpNotified notified);

/// A request that waits for its answer: filled by a thread of the connection, emptied by the caller.
class McpWaiting {
 public:
  /// The first answer counts. Thread-safe.
  void settle(Result<Json> result);
  /// Only the last progress that the caller has not taken yet is kept. Thread-safe.
  void progress(Json params);
  /// Waits for the answer and passes progress to the request. `std::nullopt`: stopped, or the deadline
  /// passed.
  std::optional<Result<Json>> wait(const McpRequest& request);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Result<Json>> result_;
  std::optional<Json> progress_;
};

/// The error for what a request gets instead of an answer: stopped, or out of time.
Error mcp_unanswered(const McpRequest& request);
/// The error for a JSON-RPC error object of a server.
Error mcp_reported(const Json& error, const McpBounds& bounds);
/// Foreign text, safe to display, at most `bytes` long.
std::string mcp_shown(std::string_view text, std::size_t bytes);

}  // namespace praxis
