// Calls in which a server waits for an answer: servers of versions with a
// handshake ask in the middle of a call. The call stays open on its connection
// while a person thinks, and ends with that connection.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "mcp/connection.hpp"

namespace praxis {

/// Thread-safe.
class HeldCalls {
 public:
  /// Cancels the calls that were not answered.
  ~HeldCalls();

  /// Keeps an open call. Returns its question, whose state identifies the call.
  /// The oldest one beyond the bound is cancelled.
  McpResult hold(std::shared_ptr<McpConnection> connection, McpOpenRequest open);
  /// Whether a call with these options is a new one: the first, or one that was
  /// refused until the person had opened addresses, which they have.
  static bool calls_again(const McpCallOptions& options);
  /// Whether the call with this state waits here for an answer.
  bool holds(const std::string& state);
  /// Answers the question of the call with this state, and waits for its result
  /// as `McpConnection::request`. Error `kTool` with `kSent`: the call has
  /// ended with its connection, for example with the process.
  Result<Json> answer(const std::string& state, const JsonObject& answers, const McpRequest& request);

  /// Whether the question of a call that was held elsewhere, and had this state, is asked again.
  static bool asks_the_same(const std::string& state, const McpInput& input);
  /// Whether a server has refused a call until the person has opened addresses.
  static bool wants_addresses(const Error& error);
  /// The question for the person.
  static Result<McpResult> addresses_of(const Error& error, const McpBounds& bounds);

 private:
  struct Held {
    std::string state;
    std::shared_ptr<McpConnection> connection;
    McpOpenRequest open;
  };

  std::mutex mutex_;
  std::deque<Held> held_;
};

}  // namespace praxis
