// The way of an event stream to its client: server-sent events, or WebSocket if the request asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_server.hpp"
#include "praxis/json/json.hpp"
#include "server/call.hpp"
#include "server/event_feed.hpp"

namespace praxis::server {

/// The only protocol of ours over WebSocket, in `Sec-WebSocket-Protocol`.
inline constexpr std::string_view kSocketProtocol = "praxis.v1";
/// Beside it a client that cannot set headers sends its token in base64url after this.
inline constexpr std::string_view kSocketToken = "praxis.token.";

/// Whether a request asks for a WebSocket.
bool asks_for_socket(const Call& call);
/// The answer to a request for a WebSocket that is not valid; nothing if it is.
std::optional<HttpAnswer> refuse_socket(const Call& call);
/// The token among the protocols of a request for a WebSocket; nothing if it has none.
std::optional<std::string> socket_token(const HttpHeaders& headers);

/// Thread-safe and cheap to copy.
class EventChannel {
 public:
  /// Why a stream ends before its client wants it.
  enum class End : std::uint8_t {
    kDone,       ///< it has sent everything
    kReconnect,  ///< the client reads too slowly
    kShutdown,   ///< the server ends
  };

  /// Begins the answer to a call that `refuse_socket` does not refuse.
  static EventChannel begin(const Call& call, const HttpReply& reply);
  /// A stream of server-sent events that has begun.
  EventChannel(HttpReply reply) : reply_(std::move(reply)) {}  // NOLINT(google-explicit-constructor)

  /// Sends an event unchanged. False once the client has gone.
  bool write(const Frame& frame) const;
  /// Sends a JSON object without the name of an event.
  bool write(const std::optional<Position>& position, JsonObject object) const;
  /// Sends bytes, so that a connection that is dead is noticed: what a WebSocket does by itself.
  bool write_alive() const;
  void end(End why) const;
  /// Bytes that the client has not taken.
  std::size_t waiting() const { return reply_.waiting(); }
  const HttpReply& reply() const { return reply_; }

 private:
  HttpReply reply_;
  bool is_socket_ = false;
};

}  // namespace praxis::server
