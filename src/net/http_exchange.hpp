// Values that the parts of the HTTP client share: an exchange, its route, and its failures.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "net/deadlines.hpp"
#include "net/http_proxy.hpp"
#include "net/http_request.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

class HttpConnection;

/// Upper bound of every limit, so that sums of time points cannot overflow.
constexpr std::chrono::milliseconds kLongestLimit = std::chrono::years(1);

/// One request and the sink that waits for its response.
struct HttpExchange {
  HttpExchange(HttpRequest r, std::shared_ptr<HttpSink> s, std::stop_token t)
      : request(std::move(r)), sink(std::move(s)), stop(std::move(t)) {}

  void finish(Status status) {
    on_stop.reset();
    connection.reset();
    if (!status) status = fail(with_reach(std::move(status.error()), reach));
    std::exchange(sink, nullptr)->on_done(std::move(status));
  }

  HttpRequest request;
  std::shared_ptr<HttpSink> sink;
  std::stop_token stop;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
  std::weak_ptr<HttpConnection> connection;
  TimePoint total_deadline = TimePoint::max();
  bool resent = false;
  Reach reach = Reach::kNotSent;
};

/// The route of a request; immutable and shared, because requests to the same URL follow each other.
/// Connections with equal keys are interchangeable.
struct HttpRoute {
  HttpRoute(Url to, std::optional<Proxy> through)
      : url(std::move(to)), proxy(std::move(through)), key(url.scheme + "://" + authority(url)) {
    if (proxy) key += " via " + authority(proxy->url) + " " + proxy->authorization;
  }

  const Url& next_hop() const { return proxy ? proxy->url : url; }
  bool secure() const { return url.scheme == "https"; }

  Url url;
  std::optional<Proxy> proxy;
  std::string key;
};
using HttpRoutePtr = std::shared_ptr<const HttpRoute>;

/// Returns the error of an exchange; `kind` is one of those listed at `HttpSink::on_done`.
inline Status http_failure(ErrorKind kind, std::string message, bool retriable) {
  return fail(ErrorCode::kModel, kind, std::move(message), retriable);
}

inline Status http_cancelled() { return fail(ErrorCode::kCancelled, "the HTTP request was cancelled"); }

inline Status http_address_refused(const Url& url) {
  return http_failure(ErrorKind::kAddressRefused, "the address of " + url.host + " is not allowed", false);
}

}  // namespace praxis
