// An HTTP/1.1 server on the event loop of an executor, for clients that are not trusted: every size, time and
// number that a client decides is bounded. It knows nothing of what it serves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_request_parser.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/base/result.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Bytes that several connections may send.
using SharedBytes = std::shared_ptr<const std::string>;

/// A whole answer. The server adds Date, Content-Length and Connection.
struct HttpAnswer {
  int status = 200;
  HttpHeaders headers;
  std::string body;
  bool ends_connection = false;  ///< the client must not send another request after it
};

class ReplyQueue;
class ServerTls;

/// The way back to the client of one request. Thread-safe and cheap to copy. When the last copy is dropped
/// without an answer, the client gets 500.
class HttpReply {
 public:
  explicit HttpReply(std::shared_ptr<ReplyQueue> queue) : queue_(std::move(queue)) {}

  /// Adds headers to those of the answer that comes later.
  void add_headers(HttpHeaders headers) const;
  /// Answers; only the first call of `send` or `begin` counts.
  void send(HttpAnswer answer) const;
  /// Begins an answer of unknown length, which ends with the connection.
  void begin(int status, HttpHeaders headers) const;
  /// Begins an answer of WebSocket frames (101), which ends with the connection. `key` is the
  /// `Sec-WebSocket-Key` of the request, a valid one. What is written then is whole frames, and ends with a
  /// close frame. The connection answers pings and closes of the client itself and ignores its messages, of
  /// at most `HttpServerOptions::message_bytes`; a client that breaks the protocol, or answers no ping within
  /// `idle_time`, is dropped.
  void begin_socket(const std::string& key, HttpHeaders headers) const;
  /// Adds to an answer that has begun. Returns false, and sends nothing, once the client has gone or `finish`
  /// was called.
  bool write(SharedBytes bytes) const;
  /// Ends an answer that has begun, after what is still to be sent and `last`.
  void finish(SharedBytes last = nullptr) const;
  /// Whether `write` would send nothing any more.
  bool ended() const;
  /// Bytes that were written and not yet taken by the operating system.
  std::size_t waiting() const;
  /// Sends `bytes`, once, if the client ends its half of the connection during an answer of unknown length:
  /// one that still reads ignores them, and one that is gone is noticed. Call before `begin`.
  void probe_with(SharedBytes bytes) const;
  /// Calls `task` once on the I/O thread when the connection has ended before the answer, or at once if it
  /// has.
  void on_gone(Task task) const;
  /// The way back, which this does not keep open; to make a reply of it again while it lives.
  std::weak_ptr<ReplyQueue> weak() const { return queue_; }

 private:
  std::shared_ptr<ReplyQueue> queue_;
};

/// Called on the I/O thread, so it must return soon; the answer may come later, from any thread.
using HttpHandler = std::function<void(ReceivedRequest request, HttpReply reply)>;

/// How a server listens, and what clients may take.
struct HttpServerOptions {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6
  std::uint16_t port = 0;             ///< 0: any free one
  std::string socket_path;            ///< a Unix socket instead of an address; mode 0600
  int inherited_socket = -1;          ///< listens on this descriptor instead; the server takes it over
  std::shared_ptr<const ServerTls> tls = nullptr;  ///< null: plain HTTP
  /// The PEM files that `tls` was read from: when they change, later connections get the new ones. Empty:
  /// `tls` stays.
  std::string tls_certificate = {}, tls_key = {};
  std::chrono::milliseconds tls_look{10'000};  ///< how often these are looked at
  /// Gets, on any thread, why changed files are not used. Null: nothing.
  std::function<void(const std::string&)> warn = nullptr;

  RequestBounds bounds;
  std::size_t max_connections = 20'000;
  std::size_t message_bytes = 64 * 1024;           ///< of a WebSocket message of a client
  std::chrono::milliseconds request_time{30'000};  ///< from the first byte of a request to its last
  std::chrono::milliseconds idle_time{60'000};     ///< between requests, and of silence on a WebSocket
  std::chrono::milliseconds write_time{30'000};    ///< without the client taking a byte
  /// The answer to what never becomes a request: `status` and a sentence. Null: plain text.
  std::function<HttpAnswer(int status, const std::string& reason)> refuse;
};

/// Serves from `start` until destruction, which closes all connections. Thread-safe.
class HttpServer {
 public:
  /// `executor` is one of `make_executor`. Error `kInput`: the address or path cannot be used, with the
  /// reason.
  static Result<std::unique_ptr<HttpServer>> start(const std::shared_ptr<Executor>& executor,
                                                   HttpServerOptions options, HttpHandler handler);
  virtual ~HttpServer() = default;
  /// The port; 0 for a Unix socket.
  virtual std::uint16_t port() const = 0;
  /// Stops listening and closes each connection after the answer that it is waiting for.
  virtual void drain() = 0;
  virtual std::size_t connections() const = 0;
};

/// The standard phrase of a status, such as `Not Found`; empty for others.
std::string_view status_phrase(int status);

}  // namespace praxis
