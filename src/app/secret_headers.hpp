// An HTTP client that adds headers, with secrets in them, to the requests for the hosts that they are for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/secret_broker.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::app {

/// One header.
struct SecretHeader {
  std::string name;
  std::string before;                ///< the value, or what is written before the secret
  const SecretRule* rule = nullptr;  ///< of the broker; null: a plain value, for every host
};

/// Adds the headers to each request, in place of those with the same names, and sends it by `http`. A secret
/// goes only to its hosts: each hop of a redirect is a request of its own. It goes by https alone, or to this
/// machine: another request to one of its hosts ends in `kPolicy` and is not sent, and so does one whose
/// secret cannot be read, in `kInput`. `send` blocks while the source of a secret is read.
std::shared_ptr<HttpClient> http_with_headers(std::shared_ptr<HttpClient> http,
                                              std::shared_ptr<SecretBroker> secrets,
                                              std::vector<SecretHeader> headers);

}  // namespace praxis::app
