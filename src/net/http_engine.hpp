// The state behind an HTTP client: the pool of idle connections, and what connections share. Everything here
// belongs to the thread of the event loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/event_loop.hpp"
#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "net/http_exchange.hpp"
#include "net/http_proxy.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// `begin` is where a request enters; connections call the rest.
class HttpEngine {
 public:
  /// `executor` has an event loop.
  HttpEngine(HttpClientOptions options, std::shared_ptr<Executor> executor)
      : options_(std::move(options)), executor_(std::move(executor)), loop_(*event_loop_of(*executor_)) {}

  void begin(const std::shared_ptr<HttpExchange>& exchange);
  /// Runs the exchange on a connection of its own.
  void dial(const std::shared_ptr<HttpExchange>& exchange, HttpRoute route);
  /// Cancels everything, now and from now on.
  void shut_down();

  EventLoop& loop() { return loop_; }
  boost::asio::io_context& io() { return loop_.io(); }
  Deadlines& deadlines() { return deadlines_; }
  const HttpClientOptions& options() const { return options_; }
  /// Scratch for reading and writing, valid until control returns to the event loop.
  std::span<char> buffer() { return buffer_; }
  const TlsContext& tls();

  /// Looks a name up on a worker, then calls `on_resolved` if `waiter` still lives.
  void resolve(const Url& url, std::weak_ptr<HttpConnection> waiter);

  /// Keeps an idle connection for later; false when there are enough.
  bool keep(const std::shared_ptr<HttpConnection>& connection);
  /// The connection is closed.
  void forget(const HttpConnection& connection);

 private:
  std::shared_ptr<HttpConnection> take_idle(const HttpRoute& route, const AddressRule& allow_address);

  const HttpClientOptions options_;
  const ProxySettings proxies_;
  const std::shared_ptr<Executor> executor_;
  EventLoop& loop_;
  Deadlines deadlines_{io()};
  std::optional<TlsContext> tls_;
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);  // for all connections
  std::unordered_map<const HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  std::unordered_map<std::string, std::vector<std::shared_ptr<HttpConnection>>> idle_;
  bool stopping_ = false;
};

}  // namespace praxis
