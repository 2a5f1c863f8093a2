// A model behind an HTTP endpoint. The codec knows the protocol; this knows HTTP, keys and headers.
#pragma once

#include <memory>
#include <string>

#include "models/codec.hpp"

namespace praxis {

struct Endpoint {
  std::string base_url;      ///< what the codec's path follows; checked by `parse_url`
  std::string key = {};      ///< empty: none is sent. Never appears in errors.
  std::string auth = {};     ///< header that carries the key; `authorization`: as a bearer token
  HttpHeaders headers = {};  ///< sent with every request
  HttpTimeouts timeouts = {};
};

/// With an `executor`, the sessions of the model share what it learns of the endpoint's rate limits: a
/// request that would be refused waits for its turn, up to a minute.
std::shared_ptr<Model> vendor_model(CodecTarget target, CodecPtr codec, Endpoint endpoint,
                                    std::shared_ptr<HttpClient> http,
                                    std::shared_ptr<Executor> executor = nullptr);

}  // namespace praxis
