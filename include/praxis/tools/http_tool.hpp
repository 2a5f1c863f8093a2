// The `http` tool: sends requests to hosts that the operator has listed, and to no others, even if a redirect
// or the resolved address points elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class HttpClient;  // praxis/net/http_client.hpp

struct HttpToolOptions {
  /// `example.com` or `10.1.2.3` (any port), `localhost:8080`, `[::1]:8080`, or `*.example.com` for all names
  /// below, but not `example.com` itself. Empty: no host is allowed. A private or local address is reached
  /// only if the list names that address, or `localhost`; a name that resolves to one is refused.
  std::vector<std::string> allow_hosts;
  std::size_t max_body_bytes =
      4 * 1024 * 1024;  ///< maximum size of a response body; a larger one is an error
  /// Use the proxy from the environment. The proxy then resolves names, and is the only one to check
  /// addresses.
  bool use_proxy = false;
  /// Add the header `traceparent` of the call's span to requests without one, for hosts that belong to the
  /// same operator. Others could recognise by it which requests belong together.
  bool send_trace = false;
};

/// Sends one request and returns status, headers and body. Follows up to five redirects. Each must pass the
/// same checks as the first URL; https never redirects to http, and another origin receives no credentials.
/// Retries transient failures of GET, HEAD, PUT and DELETE. Neither safe by default nor idempotent. Error
/// `kInput`: an invalid `allow_hosts` entry.
Result<Tool> http_tool(std::shared_ptr<HttpClient> client, HttpToolOptions options);

}  // namespace praxis
#pragma GCC visibility pop
