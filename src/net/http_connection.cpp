#include "net/http_connection.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "base/exhausted.hpp"
#include "net/http_engine.hpp"
#include "net/http_request.hpp"

namespace praxis {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kReadsPerTurn = 16;      // then other connections are served
constexpr int kMaxInformational = 16;  // 1xx responses before the real one
constexpr std::size_t kKeptBytes = 4 * 1024;

// Recognises non-HTTP bytes at once; the parser would wait for the end of the first line.
bool begins_as_http(std::string_view bytes) {
  const std::string_view start = "HTTP/1.";
  return bytes.substr(0, start.size()) == start.substr(0, bytes.size());
}

}  // namespace

// Connecting to the server.

HttpConnection::HttpConnection(HttpEngine& engine, HttpRoutePtr route)
    : engine_(engine), route_(std::move(route)) {}

void HttpConnection::dial(std::shared_ptr<HttpExchange> exchange) {
  exchange_ = std::move(exchange);
  exchange_->connection = weak_from_this();
  connect_deadline_ = Clock::now() + std::min(exchange_->request.timeouts.connect, kLongestLimit);
  limit(exchange_->request.timeouts.connect);
  const Url& hop = route_->next_hop();
  if (!hop.is_address) return engine_.resolve(hop, weak_from_this());
  on_resolved(Endpoints{SocketAddress::parse(hop.host, hop.port).value()});
}

void HttpConnection::on_resolved(Result<Endpoints> endpoints) {
  if (phase_ != Phase::kResolving) return;  // ended in the meantime
  if (!endpoints) return end(fail(std::move(endpoints.error())));
  candidates_ = std::move(*endpoints);
  const AddressRule& allow = exchange_->request.allow_address;
  if (allow && !route_->proxy) {
    std::erase_if(candidates_, [&](const SocketAddress& at) { return !allow(at.text()); });
    if (candidates_.empty()) return end(http_address_refused(route_->url));
  }
  phase_ = Phase::kConnecting;
  connect_next();
}

void HttpConnection::connect_next() {
  release_socket();
  if (next_candidate_ == candidates_.size()) {
    const std::string proxy = route_->proxy ? "the proxy " : "";
    const std::string origin = route_->proxy ? ", from " + route_->proxy->variable : "";
    return end(http_failure(
        ErrorKind::kConnect,
        "cannot connect to " + proxy + authority(route_->next_hop()) + origin + ": " + last_connect_error_,
        true));
  }
  // Each address gets a share of the time left, so that an unreachable one does not use up all of it.
  const auto left = connect_deadline_ - Clock::now();
  limit(std::chrono::ceil<std::chrono::milliseconds>(left /
                                                     static_cast<int>(candidates_.size() - next_candidate_)));
  if (const int error = connect_to(candidates_[next_candidate_++]); error != 0) on_connected(error);
}

/// Returns an `errno`, or 0: then `on_ready` reports the result.
int HttpConnection::connect_to(const SocketAddress& endpoint) {
  address_ = endpoint.text();
  auto socket = start_connecting(endpoint);
  if (!socket) return socket.error();
  socket_ = std::move(*socket);
  return engine_.loop().watch(socket_.get(), *this) ? 0 : errno;
}

void HttpConnection::on_connected(int error) {
  if (is_exhaustion(error)) {  // ours: other addresses would fail as well
    release_socket();
    return end(fail(with_exhaustion(
        make_error(ErrorCode::kModel, "no connection can be made: " + std::generic_category().message(error),
                   true),
        error)));
  }
  if (error != 0) {
    last_connect_error_ = std::generic_category().message(error);
    return connect_next();
  }
  candidates_ = {};
  stream_ = ByteStream(socket_.get());
  limit(std::chrono::ceil<std::chrono::milliseconds>(connect_deadline_ - Clock::now()));
  if (!route_->secure()) return send();
  route_->proxy ? open_tunnel() : begin_tls();
}

void HttpConnection::open_tunnel() {
  phase_ = Phase::kTunnel;
  append_connect_head(head_, route_->url, *route_->proxy, engine_.options().user_agent);
  parser_.emplace(nullptr, 0);
  parser_->skip(true);
  write_more();
}

void HttpConnection::begin_tls() {
  phase_ = Phase::kHandshake;
  const Url& url = route_->url;
  if (Status ok = stream_.start_tls(engine_.tls(), url.host, url.is_address); !ok) return end(std::move(ok));
  shake_hands();
}

void HttpConnection::shake_hands() {
  switch (stream_.handshake().state) {
    case IoState::kOk:
      send();
      if (!has_read_all()) read_later();
      return;
    case IoState::kWantRead:
    case IoState::kWantWrite:
      return;
    case IoState::kEnd:
    case IoState::kFailed:
      return end(http_failure(ErrorKind::kTls,
                              "TLS with " + authority(route_->url) + " failed: " + stream_.failure(), false));
  }
}

// One exchange.

bool HttpConnection::is_quiet() { return stream_.read(engine_.buffer()).state == IoState::kWantRead; }

void HttpConnection::start(std::shared_ptr<HttpExchange> exchange, HttpRoutePtr route) {
  exchange_ = std::move(exchange);
  exchange_->connection = weak_from_this();
  route_ = std::move(route);
  reused_ = true;
  send();
}

void HttpConnection::send() {
  phase_ = Phase::kHead;
  const HttpRequest& request = exchange_->request;
  const Proxy* proxy = route_->proxy && !route_->secure() ? &*route_->proxy : nullptr;
  head_.clear();
  append_request_head(head_, request, route_->url, proxy, engine_.options().user_agent);
  sent_ = 0;
  received_ = false;
  informational_ = 0;
  expect_response();
  write_more();
}

void HttpConnection::expect_response() {
  const HttpRequest& request = exchange_->request;
  parser_.emplace(exchange_->sink.get(), request.max_body_bytes);
  parser_->skip(request.method == "HEAD");
}

void HttpConnection::write_more() {
  const HttpTimeouts& timeouts = exchange_->request.timeouts;
  const std::string_view body = request_body();
  write_blocked_ = false;
  while (!all_sent()) {
    const std::size_t from_head = std::min(sent_, head_.size());
    const IoResult result = stream_.write(std::string_view(head_).substr(from_head),
                                          body.substr(sent_ - from_head), engine_.buffer());
    sent_ += result.bytes;
    if (phase_ == Phase::kHead && result.bytes > 0) exchange_->reach = Reach::kSent;
    if (result.state == IoState::kOk) continue;
    if (phase_ == Phase::kHead) limit(timeouts.idle);
    write_blocked_ = result.state == IoState::kWantWrite || result.state == IoState::kWantRead;
    return;  // otherwise continues reading: the server may have responded before it closed
  }
  if (phase_ == Phase::kHead) limit(timeouts.first_byte);
}

std::string_view HttpConnection::request_body() const {
  const auto& body = exchange_->request.body;
  return body && phase_ != Phase::kTunnel ? std::string_view(*body) : std::string_view();
}

bool HttpConnection::all_sent() const { return sent_ == head_.size() + request_body().size(); }

void HttpConnection::on_ready(Readiness ready) {
  const auto self = shared_from_this();  // outlives its place in the pool
  input_ends_ = input_ends_ || ready.ended;
  if (phase_ == Phase::kConnecting) {
    if (ready.writable) on_connected(connect_error(socket_.get()));
    return;
  }
  if (phase_ == Phase::kHandshake) return shake_hands();
  if (write_blocked_) write_more();
  on_readable();
}

void HttpConnection::on_readable() {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kHandshake) return shake_hands();
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const std::span<char> buffer = engine_.buffer();
    const IoResult result = stream_.read(buffer);
    switch (result.state) {
      case IoState::kOk:
        if (!take({buffer.data(), result.bytes})) return;
        if (has_read_all()) return;
        break;
      case IoState::kWantRead:
      case IoState::kWantWrite:
        return;
      case IoState::kEnd:
      case IoState::kFailed:
        return on_end_of_input(result.state == IoState::kEnd);
    }
  }
  read_later();
}

/// Returns whether the next bytes will cause an event. If not, the connection must read again by itself: the
/// event loop reports each change once, and does not know of bytes that TLS has read from the socket already.
bool HttpConnection::has_read_all() const { return !input_ends_ && stream_.has_drained(); }

void HttpConnection::read_later() {
  if (std::exchange(reads_later_, true)) return;
  engine_.post([self = shared_from_this()] {
    self->reads_later_ = false;
    self->on_readable();
  });
}

// Returns whether to continue reading.
bool HttpConnection::take(std::string_view bytes) {
  if (phase_ == Phase::kIdle) {  // unsolicited bytes
    close();
    return false;
  }
  if (!std::exchange(received_, true) && !begins_as_http(bytes)) {
    end(refusal(http::error::bad_version));
    return false;
  }
  if (phase_ == Phase::kBody) limit(exchange_->request.timeouts.idle);
  std::string joined;
  if (!pending_.empty()) {
    joined = std::exchange(pending_, {}).append(bytes);
    bytes = joined;
  }
  if (!parse(bytes)) return false;
  if (bytes.size() > kMaxHeadBytes) {
    end(refusal(http::error::header_limit));
    return false;
  }
  pending_.assign(bytes);
  return true;
}

// Consumes the complete elements at the front of `bytes`. Returns whether to continue reading.
bool HttpConnection::parse(std::string_view& bytes) {
  while (!bytes.empty()) {
    error_code error;
    const bool had_head = parser_->is_header_done();
    bytes.remove_prefix(parser_->feed(bytes, error));
    if (error == http::error::need_more) return true;
    if (error) {
      end(refusal(error));
      return false;
    }
    if (!had_head && parser_->is_header_done() && !on_head()) return false;
    if (parser_->is_done()) {
      on_complete(bytes.empty() && parser_->keep_alive());
      return false;
    }
  }
  return true;
}

Status HttpConnection::refusal(const error_code& error) const {
  if (phase_ != Phase::kTunnel) exchange_->reach = Reach::kAnswered;
  const std::string response = "the response of " + authority(route_->url);
  if (error == http::error::header_limit) {
    return http_failure(ErrorKind::kTooLarge, response + " has too large a head", false);
  }
  if (error == http::error::body_limit) {
    const std::string most = std::to_string(exchange_->request.max_body_bytes);
    return http_failure(ErrorKind::kTooLarge, response + " is larger than " + most + " bytes", false);
  }
  return http_failure(ErrorKind::kProtocol, response + " is not valid HTTP: " + error.message(), false);
}

// Returns whether to continue with the body.
bool HttpConnection::on_head() {
  const HttpResponseHead& head = parser_->head();
  if (phase_ == Phase::kTunnel) {
    if (head.status / 100 == 2) {
      begin_tls();
    } else {
      end(http_failure(ErrorKind::kProxy,
                       "proxy " + authority(route_->proxy->url) + " refused the tunnel to " +
                           authority(route_->url) + " with status " + std::to_string(head.status),
                       head.status >= 500));
    }
    return false;
  }
  if (head.status / 100 != 1) {
    phase_ = Phase::kBody;
    limit(exchange_->request.timeouts.idle);
    exchange_->sink->on_head(head);
    return true;
  }
  if (head.status == 101 || ++informational_ > kMaxInformational) {
    end(refusal(http::error::bad_status));
    return false;
  }
  expect_response();
  return true;
}

void HttpConnection::on_complete(bool reusable) {
  reusable = reusable && all_sent();
  const std::shared_ptr<HttpExchange> exchange = std::exchange(exchange_, nullptr);
  parser_.reset();
  if (head_.capacity() > kKeptBytes) head_ = {};
  if (reusable && engine_.keep(shared_from_this())) {
    phase_ = Phase::kIdle;
    limit(engine_.options().idle_lifetime);
    if (!has_read_all()) read_later();
  } else {
    close();
  }
  exchange->finish({});
}

void HttpConnection::on_end_of_input(bool orderly) {
  if (phase_ == Phase::kIdle) return close();
  if (phase_ == Phase::kBody && orderly) {
    error_code cut;
    parser_->put_eof(cut);
    if (!cut) return on_complete(false);
  }
  if (phase_ == Phase::kHead && reused_ && !received_ && !exchange_->resent) {
    // The server closed the idle connection while the request was on its way and never read it.
    const std::shared_ptr<HttpExchange> exchange = std::exchange(exchange_, nullptr);
    exchange->resent = true;
    close();
    return engine_.dial(exchange, route_);
  }
  const bool in_tunnel = phase_ == Phase::kTunnel;
  std::string message = authority(in_tunnel ? route_->proxy->url : route_->url) + " closed the connection " +
                        (received_ ? "before the end of its response" : "without a response");
  if (!stream_.failure().empty()) message += ": " + stream_.failure();
  end(http_failure(in_tunnel ? ErrorKind::kProxy : ErrorKind::kClosed, std::move(message), true));
}

// Limits and ends.

void HttpConnection::limit(std::chrono::milliseconds from_now) {
  const TimePoint deadline = Clock::now() + std::min(from_now, kLongestLimit);
  engine_.deadlines().set(*this, exchange_ ? std::min(deadline, exchange_->total_deadline) : deadline);
}

void HttpConnection::on_deadline() {
  const auto self = shared_from_this();  // keeps the connection alive after its removal from the pool
  if (phase_ == Phase::kIdle) return close();
  const TimePoint now = Clock::now();
  const auto timed_out = [&](ErrorKind kind, std::string_view what) {
    end(http_failure(kind, authority(route_->url) + ": " + std::string(what), true));
  };
  if (exchange_->total_deadline <= now)
    return timed_out(ErrorKind::kTimeoutTotal, "the exchange took too long");
  if (phase_ == Phase::kBody) return timed_out(ErrorKind::kTimeoutIdle, "the response stalled");
  if (phase_ == Phase::kHead) {
    if (!all_sent()) return timed_out(ErrorKind::kTimeoutIdle, "the request could not be sent in time");
    return timed_out(ErrorKind::kTimeoutFirstByte, "no response in time");
  }
  if (phase_ != Phase::kConnecting || now >= connect_deadline_) {
    return timed_out(ErrorKind::kTimeoutConnect, "no connection in time");
  }
  last_connect_error_ = "no answer in time";
  connect_next();
}

void HttpConnection::end(Status status) {
  const std::shared_ptr<HttpExchange> exchange = std::exchange(exchange_, nullptr);
  close();
  if (exchange) exchange->finish(std::move(status));
}

void HttpConnection::close() {
  phase_ = Phase::kClosed;
  engine_.deadlines().drop(*this);
  release_socket();
  engine_.forget(*this);
}

void HttpConnection::release_socket() {
  if (socket_.get() < 0) return;
  engine_.loop().unwatch(socket_.get(), *this);
  socket_.reset();
  input_ends_ = false;
}

}  // namespace praxis
