// A connection to one server of the Model Context Protocol over either transport. The handshake and the
// meaning of the methods are those of the client above.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "mcp/message.hpp"
#include "praxis/mcp/mcp_client.hpp"

namespace praxis {

class McpWaiting;
struct McpStreamEnd;

/// A question that a server asks in the middle of a request (versions with a
/// handshake).
struct McpAsked {
  Json id;  ///< of the server's request
  std::string method;
  Json params;
};
/// What a server may ask of others than the client: something of the user, and an answer of a model.
inline constexpr std::string_view kMcpQuestion = "elicitation/create";
inline constexpr std::string_view kMcpSampling = "sampling/createMessage";
/// The answer to a request of the server, unless it is such a question and becomes that of `open`, the only
/// request in progress (null: not exactly one is). A ping and a question for the folders that the server is
/// to work in are answered by the client itself; what it does not offer is an error.
std::optional<std::string> mcp_reply_at_once(const McpMessage& request, const McpBounds& bounds,
                                             McpWaiting* open);
/// The answer to such a question of the server; null, and to one that cannot be put to anyone: declined.
std::string mcp_reply(const McpAsked& asked, Json answer);
/// Version 2026-07-28 has no answer that declines: error `kTool` with `kAnswered` if one of them is null.
Status check_not_declined(const JsonObject& answers);

/// A request that the server has not answered yet, because it waits for an
/// answer itself.
struct McpOpenRequest {
  std::int64_t id = 0;
  McpAsked asked;
  std::shared_ptr<McpWaiting> waiting;         ///< null: the server has asked nothing
  std::shared_ptr<std::stop_source> stream{};  ///< over HTTP: ends the stream of the answer
  std::shared_ptr<McpStreamEnd> end{};         ///< over HTTP: whether the stream broke off
};

/// A request and how long it may take.
struct McpRequest {
  std::string method;
  JsonObject params;
  std::string name;  ///< what it is about (the tool), for the headers of HTTP; may be empty
  std::stop_token stop;
  std::chrono::steady_clock::time_point deadline;
  /// Gets the parameters of progress notifications, on the calling thread; null: none is asked for.
  std::function<void(const Json& params)> on_progress = nullptr;
  /// If the server asks something first, gets the open request; `request`
  /// returns null then. Null: the server gets no answers.
  McpOpenRequest* open = nullptr;
  HttpHeaders headers{};  ///< further ones, over HTTP only
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
  /// Sends the answer to the question of an open request (`mcp_reply`) and waits further, as `request`.
  virtual Result<Json> go_on(const McpOpenRequest& open, Json answer, const McpRequest& request) = 0;
  /// Cancels an open request.
  virtual void abandon(const McpOpenRequest& open) = 0;
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
  explicit McpWaiting(bool takes_questions = false) : takes_questions_(takes_questions) {}
  /// The first answer counts. Thread-safe.
  void settle(Result<Json> result);
  /// Only the last progress that the caller has not taken yet is kept. Thread-safe.
  void progress(Json params);
  /// Gives the request a question of the server. False: it takes none, or has
  /// one. Thread-safe.
  bool ask(McpAsked asked);
  /// Waits for the answer and passes progress to the request. `std::nullopt`: stopped, the deadline passed,
  /// or the server has asked something (`asked`).
  std::optional<Result<Json>> wait(const McpRequest& request);
  /// Takes the question of the server.
  std::optional<McpAsked> asked();

 private:
  const bool takes_questions_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Result<Json>> result_;
  std::optional<Json> progress_;
  std::optional<McpAsked> asked_;
};

/// The error for what a request gets instead of an answer: stopped, or out of time.
Error mcp_unanswered(const McpRequest& request);
/// The error for a JSON-RPC error object of a server.
Error mcp_reported(const Json& error, const McpBounds& bounds);
/// Foreign text, safe to display, at most `bytes` long.
std::string mcp_shown(std::string_view text, std::size_t bytes);

}  // namespace praxis
