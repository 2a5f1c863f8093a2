// One connection of the HTTP client over its whole life: look-up, TCP, proxy tunnel, TLS, then one exchange
// after another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.hpp"
#include "base/file_descriptor.hpp"
#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "net/http_exchange.hpp"
#include "net/http_response_parser.hpp"
#include "net/socket_address.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

class HttpEngine;
using Endpoints = std::vector<SocketAddress>;

/// One TCP connection and its current exchange. All its code runs on the engine's thread.
class HttpConnection final : public Timed,
                             public EventLoop::Watcher,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpEngine& engine, HttpRoutePtr route);
  ~HttpConnection() override { release_socket(); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void dial(std::shared_ptr<HttpExchange> exchange);
  /// Whether an idle connection is still open and the server has sent nothing unsolicited.
  bool is_quiet();
  /// Sends a request on an idle connection.
  void start(std::shared_ptr<HttpExchange> exchange, HttpRoutePtr route);
  void on_resolved(Result<Endpoints> endpoints);
  /// Closes the connection and reports `status` to the exchange, if there is one.
  void end(Status status);

  const std::string& key() const { return route_->key; }
  const std::string& address() const { return address_; }

 private:
  enum class Phase : std::uint8_t {
    kResolving,
    kConnecting,
    kTunnel,
    kHandshake,
    kHead,
    kBody,
    kIdle,
    kClosed
  };

  void on_deadline() override;
  void on_ready(Readiness ready) override;
  void limit(std::chrono::milliseconds from_now);
  void close();
  void release_socket();

  void connect_next();
  int connect_to(const SocketAddress& endpoint);
  void on_connected(int error);
  void open_tunnel();
  void begin_tls();
  void shake_hands();

  void send();
  void expect_response();
  void write_more();
  std::string_view request_body() const;
  bool all_sent() const;
  void on_readable();
  bool has_read_all() const;
  void read_later();
  bool take(std::string_view bytes);
  bool parse(std::string_view& bytes);
  Status refusal(const boost::system::error_code& error) const;
  bool on_head();
  void on_complete(bool reusable);
  void on_end_of_input(bool orderly);

  HttpEngine& engine_;
  HttpRoutePtr route_;
  std::string address_;  ///< of the peer, as text
  FileDescriptor socket_;
  ByteStream stream_;
  Endpoints candidates_;
  std::size_t next_candidate_ = 0;
  std::string last_connect_error_;
  TimePoint connect_deadline_ = TimePoint::max();

  std::shared_ptr<HttpExchange> exchange_;
  std::string head_;  ///< of the request
  std::size_t sent_ = 0;
  std::optional<ResponseParser> parser_;
  std::string pending_;  ///< received, but incomplete without the bytes that follow
  int informational_ = 0;
  Phase phase_ = Phase::kResolving;
  bool reused_ = false;
  bool received_ = false;
  bool write_blocked_ = false;  ///< the rest is written when the socket becomes writable
  bool input_ends_ = false;     ///< the event loop has reported the end of the input
  bool reads_later_ = false;    ///< `on_readable` is posted
};

}  // namespace praxis
