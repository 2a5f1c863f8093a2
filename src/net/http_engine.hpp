// The state behind an HTTP client: the pool of idle connections, and what connections share. Used only on the
// thread of the event loop.
#pragma once

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

/// Requests enter through `begin`; connections call the other methods.
class HttpEngine {
 public:
  /// `executor` must have an event loop.
  HttpEngine(HttpClientOptions options, std::shared_ptr<Executor> executor)
      : options_(std::move(options)), executor_(std::move(executor)), loop_(*event_loop_of(*executor_)) {}

  void begin(const std::shared_ptr<HttpExchange>& exchange);
  /// Runs the exchange on a new connection.
  void dial(const std::shared_ptr<HttpExchange>& exchange, HttpRoutePtr route);
  /// Cancels all exchanges, current and future.
  void shut_down();

  EventLoop& loop() { return loop_; }
  /// Runs `task` on the thread of the event loop.
  void post(Task task) { executor_->post(std::move(task)); }
  Deadlines& deadlines() { return deadlines_; }
  const HttpClientOptions& options() const { return options_; }
  /// Scratch memory for reading and writing, valid until control returns to the event loop.
  std::span<char> buffer() { return buffer_; }
  const TlsContext& tls();

  /// Looks up a name on a worker, then calls `on_resolved` if `waiter` still exists.
  void resolve(const Url& url, std::weak_ptr<HttpConnection> waiter);

  /// Keeps an idle connection for later; false if the pool is full.
  bool keep(const std::shared_ptr<HttpConnection>& connection);
  /// Called when the connection is closed.
  void forget(const HttpConnection& connection);

 private:
  Result<HttpRoutePtr> route_of(const HttpRequest& request);
  std::shared_ptr<HttpConnection> take_idle(const HttpRoute& route, const AddressRule& allow_address);

  const HttpClientOptions options_;
  const ProxySettings proxies_;
  const std::shared_ptr<Executor> executor_;
  EventLoop& loop_;
  Deadlines deadlines_{*executor_};
  std::optional<TlsContext> tls_;
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);  // shared by all connections
  std::unordered_map<const HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  std::unordered_map<std::string, std::vector<std::shared_ptr<HttpConnection>>> idle_;
  /// Of the last request.
  struct {
    std::string url;
    bool use_proxy = false;
    HttpRoutePtr route;
  } last_;
  bool stopping_ = false;
};

}  // namespace praxis
