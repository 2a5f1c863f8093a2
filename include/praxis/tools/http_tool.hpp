// The `http` tool: requests to hosts the operator has named, and to no others, wherever a redirect or a
// name's address may point.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "praxis/net/http_client.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

struct HttpToolOptions {
  /// `example.com` or `10.1.2.3` (any port), `localhost:8080`, `[::1]:8080`, or `*.example.com` for all names
  /// below, but not `example.com` itself. Empty means no host at all. A private or local address is dialled
  /// only when the address itself is listed, or `localhost`: what a name resolves to is not trusted.
  std::vector<std::string> allow_hosts;
  std::size_t max_body_bytes = 4 * 1024 * 1024;  ///< of a response; more is an error
  /// Go through the proxy of the environment, which then resolves names: addresses are judged by it alone.
  bool use_proxy = false;
};

/// Sends one request and gives back status, headers and body. Follows up to five redirects, each judged as
/// the first URL was, never from https to http, without credentials to another origin. Failures that may pass
/// are retried for GET, HEAD, PUT and DELETE. Neither safe by default nor idempotent. Error `kInput`: an
/// unusable allow_hosts entry.
Result<Tool> http_tool(std::shared_ptr<HttpClient> client, HttpToolOptions options);

}  // namespace praxis
