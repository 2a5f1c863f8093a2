// The HTTP/1.1 client under the model adapters and the `http` tool: TLS verified against the system's roots,
// keep-alive pool, proxies from the environment, separate time limits, streaming bodies, prompt cancellation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the first header with this name, compared without case.
std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name);

struct HttpTimeouts {
  std::chrono::milliseconds connect{10'000};      ///< name look-up, TCP, proxy and TLS handshake together
  std::chrono::milliseconds first_byte{600'000};  ///< from the request sent to the response's status line
  std::chrono::milliseconds idle{300'000};        ///< between two reads of the body
  std::chrono::milliseconds total{0};             ///< the whole exchange; 0 means no limit
};

/// Decides on a resolved address (text form, IPv4 or IPv6) before a connection is made; false refuses it.
using AddressRule = std::function<bool(std::string_view address)>;

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< http or https; userinfo is refused
  /// Not Host, Content-Length, Transfer-Encoding, Connection, Upgrade or Expect: the client sets those
  /// itself.
  HttpHeaders headers;
  /// Shared so that a request body that grows over a session is not copied for each send; null means no body.
  std::shared_ptr<const std::string> body;
  HttpTimeouts timeouts;
  std::size_t max_body_bytes = 64 * 1024 * 1024;  ///< of the response; a larger one is an error
  /// Empty allows every address. Applies to the target only. Behind a proxy, which resolves names itself,
  /// that is only an address written in the URL; turn `use_proxy` off if the rule has to hold for names too.
  AddressRule allow_address;
  /// Honours HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY as they were when the client was created.
  bool use_proxy = true;
};

struct HttpResponseHead {
  int status = 0;
  HttpHeaders headers;
};

/// Receives one response. Calls come one at a time on an I/O thread and must not block; `on_done` is the last
/// and always comes exactly once. Redirects are not followed here.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  virtual void on_head(const HttpResponseHead& head) = 0;
  virtual void on_body(std::string_view bytes) = 0;
  /// Error: `kCancelled`, or `kModel` with `detail.kind` one of `dns`, `connect`, `proxy`, `timeout_connect`,
  /// `timeout_first_byte`, `timeout_idle`, `timeout_total`, `closed` (cut before the body's end), which are
  /// `retriable` (`proxy` only if the proxy answered 5xx or closed the connection); `tls`, `address_refused`,
  /// `protocol`, `too_large`, which are not; `kInput` for a request it cannot send. Every error states its
  /// `Reach`: `kNotSent` as long as no byte of the request was written, `kAnswered` when the response arrived
  /// and cannot be used.
  virtual void on_done(Status status) = 0;
};

/// Thread-safe. Destroying the client, which a sink may do, cancels all exchanges; each sink still gets its
/// `on_done`. The client repeats a request, once, only if a kept connection turned out to be closed before
/// any byte of the response.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// Starts an exchange and returns. A stop request closes the connection and ends in `kCancelled`.
  virtual void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token stop) = 0;
};

struct HttpClientOptions {
  std::size_t max_idle_per_host = 1024;
  std::chrono::milliseconds idle_lifetime{60'000};
  std::string user_agent = "praxis";
};

/// Creates a client on the I/O thread of `executor`, or on its own executor if `executor` is null or
/// not from `make_executor`. OpenSSL is initialised at the first https URL.
std::shared_ptr<HttpClient> make_http_client(HttpClientOptions options = {},
                                             std::shared_ptr<Executor> executor = nullptr);

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;
  std::string body;
};

/// `send` for blocking code: waits for the whole response. Never call it from a sink.
Result<HttpResponse> http_fetch(HttpClient& client, HttpRequest request, std::stop_token stop = {});

/// A parsed absolute http(s) URL. `host` is lower case without brackets or a trailing dot.
struct Url {
  std::string scheme;
  std::string host;
  std::uint16_t port = 0;
  std::string target = "/";  ///< path and query, as sent
  bool ipv6 = false;         ///< host is an IPv6 address
  bool is_address = false;   ///< host is an IPv4 or IPv6 address, not a name
};
/// Strict: refuses userinfo, control bytes, white space, back-slashes, empty hosts. Error: `kInput`.
Result<Url> parse_url(std::string_view text);
/// Whether an address (text form) is outside the public internet: private, loopback, link-local, multicast,
/// documentation, or an IPv6 form that embeds such an IPv4 address. Unparsable text counts as non-public.
bool is_non_public_address(std::string_view address);

}  // namespace praxis
#pragma GCC visibility pop
