// A model behind a Chat Completions endpoint. The codec (chat_request.hpp, chat_response.hpp) knows the
// protocol; this knows HTTP.
#pragma once

#include <memory>
#include <string>

#include "models/chat_dialect.hpp"
#include "praxis/models/model.hpp"

namespace praxis::chat {

struct Endpoint {
  std::string model;
  std::string base_url;  ///< up to `/chat/completions`; checked by `parse_url`
  std::string key;       ///< empty: none is sent. Never appears in errors.
  Dialect dialect = kOpenAi;
  HttpTimeouts timeouts = {};
};

std::shared_ptr<Model> make_model(Endpoint endpoint, std::shared_ptr<HttpClient> http);

}  // namespace praxis::chat
