#include "praxis/net/http_client.hpp"

#include <netdb.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <utility>

#include "net/http_connection.hpp"
#include "net/http_engine.hpp"
#include "net/http_request.hpp"

namespace praxis {

using Clock = std::chrono::steady_clock;

namespace {

/// Blocks.
Result<Endpoints> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return fail(http_failure(ErrorKind::kDns,
                             "cannot find the address of " + host + ": " + ::gai_strerror(error), true)
                    .error());
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Endpoints endpoints;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (const auto address = SocketAddress::of(*each->ai_addr, port)) endpoints.push_back(*address);
  }
  return endpoints;
}

}  // namespace

void HttpEngine::begin(const std::shared_ptr<HttpExchange>& exchange) {
  const HttpRequest& request = exchange->request;
  if (stopping_ || exchange->stop.stop_requested()) return exchange->finish(http_cancelled());
  if (Status ok = check_request(request); !ok) return exchange->finish(std::move(ok));
  Result<HttpRoutePtr> found = route_of(request);
  if (!found) return exchange->finish(fail(std::move(found.error())));
  const HttpRoute& route = **found;
  if (route.proxy && request.allow_address && route.url.is_address &&
      !request.allow_address(route.url.host)) {
    return exchange->finish(http_address_refused(route.url));
  }
  if (request.timeouts.total.count() > 0) {
    exchange->total_deadline = Clock::now() + std::min(request.timeouts.total, kLongestLimit);
  }
  if (auto idle = take_idle(route, request.allow_address)) return idle->start(exchange, *std::move(found));
  dial(exchange, *std::move(found));
}

/// Finds the route of a request, but not the same one twice in a row: a model call sends to the URL of the
/// last one.
Result<HttpRoutePtr> HttpEngine::route_of(const HttpRequest& request) {
  if (last_.route && request.url == last_.url && request.use_proxy == last_.use_proxy) return last_.route;
  Result<Url> url = parse_url(request.url);
  if (!url) return fail(std::move(url.error()));
  Result<std::optional<Proxy>> proxy;
  if (request.use_proxy) proxy = proxies_.choose(*url);
  if (!proxy) return fail(std::move(proxy.error()));
  last_ = {request.url, request.use_proxy,
           std::make_shared<const HttpRoute>(*std::move(url), *std::move(proxy))};
  return last_.route;
}

void HttpEngine::dial(const std::shared_ptr<HttpExchange>& exchange, HttpRoutePtr route) {
  auto connection = std::make_shared<HttpConnection>(*this, std::move(route));
  connections_.emplace(connection.get(), connection);
  connection->dial(exchange);
}

void HttpEngine::shut_down() {
  stopping_ = true;
  for (const auto& [_, connection] : std::exchange(connections_, {})) connection->end(http_cancelled());
  deadlines_.stop();
}

const TlsContext& HttpEngine::tls() {
  if (!tls_) tls_.emplace();
  return *tls_;
}

void HttpEngine::resolve(const Url& url, std::weak_ptr<HttpConnection> waiter) {
  executor_->post_blocking(
      [&executor = *executor_, host = url.host, port = url.port, waiter = std::move(waiter)]() mutable {
        executor.post([waiter = std::move(waiter), addresses = look_up(host, port)]() mutable {
          if (const auto connection = waiter.lock()) connection->on_resolved(std::move(addresses));
        });
      });
}

std::shared_ptr<HttpConnection> HttpEngine::take_idle(const HttpRoute& route,
                                                      const AddressRule& allow_address) {
  for (auto found = idle_.find(route.key); found != idle_.end() && !found->second.empty();
       found = idle_.find(route.key)) {
    std::shared_ptr<HttpConnection> connection = found->second.back();
    // The request that opened the connection may have had a different rule.
    if (allow_address && !route.proxy && !allow_address(connection->address())) break;
    found->second.pop_back();
    if (connection->is_quiet()) return connection;
    connection->end({});
  }
  return nullptr;
}

bool HttpEngine::keep(const std::shared_ptr<HttpConnection>& connection) {
  if (stopping_) return false;
  auto& kept = idle_[connection->key()];
  if (kept.size() >= options_.max_idle_per_host) return false;
  kept.push_back(connection);
  return true;
}

void HttpEngine::forget(const HttpConnection& connection) {
  if (const auto found = idle_.find(connection.key()); found != idle_.end()) {
    std::erase_if(found->second, [&](const auto& kept) { return kept.get() == &connection; });
    if (found->second.empty()) idle_.erase(found);
  }
  connections_.erase(&connection);
}

namespace {

constexpr std::size_t kLookUps = 16;  // names looked up at once

class Client final : public HttpClient {
 public:
  Client(HttpClientOptions options, std::shared_ptr<Executor> executor)
      : options_(std::move(options)), executor_(std::move(executor)) {}

  // Only running out of memory can throw here; the program cannot continue then.
  ~Client() override {  // NOLINT(bugprone-exception-escape)
    if (!engine_) return;
    std::promise<void> done;
    auto ended = done.get_future();
    engine_->post([engine = engine_, done = std::move(done)]() mutable {
      engine->shut_down();
      // The last reference to the engine, and with it to the executor, is dropped on the waiting thread.
      engine.reset();
      done.set_value();
    });
    if (!engine_->loop().runs_here()) ended.wait();  // one of the client's own sinks may destroy it
  }

  void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token stop) override {
    std::call_once(started_, [this] { start(); });
    auto exchange = std::make_shared<HttpExchange>(std::move(request), std::move(sink), std::move(stop));
    if (exchange->stop.stop_possible()) {
      exchange->on_stop.emplace(exchange->stop, [engine = engine_, weak = std::weak_ptr(exchange)] {
        engine->post([weak] {
          const auto stopped = weak.lock();
          const auto connection = stopped ? stopped->connection.lock() : nullptr;
          if (connection) connection->end(http_cancelled());
        });
      });
    }
    engine_->post([engine = engine_, exchange] { engine->begin(exchange); });
  }

 private:
  void start() {
    if (!executor_ || event_loop_of(*executor_) == nullptr) executor_ = make_executor(kLookUps);
    engine_ = std::make_shared<HttpEngine>(std::move(options_), std::move(executor_));
  }

  // Arguments of the engine, which is created at the first request.
  HttpClientOptions options_;
  std::shared_ptr<Executor> executor_;
  std::once_flag started_;
  std::shared_ptr<HttpEngine> engine_;
};

}  // namespace

std::shared_ptr<HttpClient> make_http_client(HttpClientOptions options, std::shared_ptr<Executor> executor) {
  return std::make_shared<Client>(std::move(options), std::move(executor));
}

}  // namespace praxis
