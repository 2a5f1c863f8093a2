// Embedders turn texts into vectors, so that a memory finds notes by their meaning and not only by their
// words.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class HttpClient;  // praxis/net/http_client.hpp

/// Implementations are thread-safe; a call may block for the time of a request.
class Embedder {
 public:
  virtual ~Embedder() = default;
  /// Identifies the model. Vectors of different models are never compared.
  virtual const std::string& name() const = 0;
  /// One vector for each text, in their order, all of the same length.
  virtual Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                        std::stop_token stop = {}) = 0;
};

/// Counts words and their parts in `dimensions` places that their digests name. Finds what shares words, not
/// what shares meaning: deterministic and without a network, for tests. `dimensions` is at least 1.
std::shared_ptr<Embedder> hashing_embedder(std::size_t dimensions = 384);

struct HttpEmbedderOptions {
  std::string base_url;                                           ///< such as `https://api.openai.com/v1`
  std::string model;                                              ///< such as `text-embedding-3-small`
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< further ones
  std::string key = {};        ///< sent as a bearer token; empty: none. No error contains it
  std::size_t dimensions = 0;  ///< asks the model for vectors of this length; 0: its own
  std::size_t batch = 64;      ///< texts of one request, at least 1
  int attempts = 4;            ///< at one request, as long as a failure may pass
  /// Waits before a further attempt, for the time that the server asks for, else for half a second, doubled
  /// each time. Returns false to give up. Null: waits, until a stop is requested.
  std::function<bool(std::size_t milliseconds, const std::stop_token& stop)> wait = nullptr;
};

/// `POST BASE_URL/embeddings` as OpenAI defines it. Error `kModel`: what the server answered, or why it did
/// not; `kCancelled` after a stop.
std::shared_ptr<Embedder> http_embedder(std::shared_ptr<HttpClient> client, HttpEmbedderOptions options);

}  // namespace praxis
#pragma GCC visibility pop
