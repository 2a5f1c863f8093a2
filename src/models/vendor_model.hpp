// A model behind an HTTP endpoint. The codec handles the protocol; this class handles HTTP, keys and headers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/codec.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

struct Endpoint {
  std::string base_url;      ///< prefix of the codec's path; validated by `parse_url`
  std::string key = {};      ///< empty: no key is sent. Never appears in errors.
  std::string auth = {};     ///< header that carries the key; `authorization`: as a bearer token
  HttpHeaders headers = {};  ///< sent with every request
  /// Further secrets that requests carry. Like the key, they never appear in errors or answers.
  std::vector<std::string> secrets = {};
  HttpTimeouts timeouts = {};
  /// Where base URL and key come from, for errors, such as a variable's name. Empty: errors name neither.
  std::string url_origin = {}, key_origin = {};
};

/// With an `executor`, the sessions of the model share a rate limiter: a request that the endpoint would
/// refuse waits, for up to a minute.
std::shared_ptr<Model> vendor_model(CodecTarget target, CodecPtr codec, Endpoint endpoint,
                                    std::shared_ptr<HttpClient> http,
                                    std::shared_ptr<Executor> executor = nullptr);

}  // namespace praxis
