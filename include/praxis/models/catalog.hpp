// What is known of providers and models: facts as data, compiled in and open to the user's corrections.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// Prices of a million tokens, each at most a thousand dollars. Those of a tier hold for a whole request
/// whose input exceeds `above` tokens. Where reading from or writing to a cache has no price of its own (0),
/// it costs as much as other input.
struct Prices {
  std::int64_t above = 0;
  MicroUsd input = {}, output = {}, cache_read = {}, cache_write = {};
};

/// One model at one provider. An unknown one has `known == false` and the defaults, which promise little.
struct ModelFacts {
  std::string provider = {};
  std::string id = {};    ///< as the provider's wire wants it
  std::string name = {};  ///< for people
  bool known = false;
  std::int64_t context_window = 0;  ///< tokens; 0 when unknown
  std::int64_t max_output = 0;      ///< tokens; 0 when unknown
  TokenCounting counting = {};
  std::vector<Prices> prices = {};  ///< the base first, then the tiers by `above`; empty when unknown
  bool tools = true;
  bool images = false;  ///< takes images in its input
  bool files = false;   ///< takes PDF files in its input
  bool reasoning = false;
  bool temperature = true;         ///< false: the parameter is refused
  bool structured_output = false;  ///< known to hold an answer to a schema
  /// Our level (`ModelOptions::reasoning_effort`) to the wire's; an empty value: not offered. A level that is
  /// not named here goes out as it is.
  std::map<std::string, std::string> reasoning_levels = {};
  Json dialect = {};  ///< flags of this model that differ from its provider's; null when there are none
};

/// `{provider, id, known, name, context_window, ...}` with the fields of docs/providers.md; what is unknown
/// is left out.
Json to_json(const ModelFacts& facts);

/// What one call cost by these facts, rounded once; zero without prices. Cached input and reasoning are parts
/// of `usage.input` and `usage.output`. What is written to a cache for an hour costs twice the input's price,
/// where writing has a price of its own.
MicroUsd price_of(const ModelFacts& facts, const Usage& usage);

/// One place where models are served.
struct ProviderFacts {
  std::string id = {};
  std::string name = {};
  std::string api = {};       ///< `chat`, `responses`, `messages`, `gemini`, `ollama`
  std::string base_url = {};  ///< may hold `{NAME}`, filled in from the environment; empty: only users know
  std::string base_url_env = {};          ///< variable that names another base URL
  std::vector<std::string> key_env = {};  ///< variables in which its key is looked for, in this order
  std::string key_file =
      {};                 ///< set by users: looked into when no variable has the key; only they may read it
  bool needs_key = true;  ///< false: it may also do without
  std::string auth = {};  ///< header that carries the key, `authorization` (as a bearer token) unless given
  std::map<std::string, std::string> headers = {};  ///< sent with every request; `{NAME}` as in the base URL
  std::string catalog = {};                         ///< provider id of the catalogue, when it differs
  std::vector<std::string> models = {};  ///< set by users: those to list instead of the catalogue's
  Json dialect = {};                     ///< flags (docs/providers.md); null when there are none
};

/// Immutable; thread-safe.
class Catalog {
 public:
  virtual ~Catalog() = default;
  /// Null when there is no such provider.
  virtual const ProviderFacts* provider(std::string_view id) const = 0;
  /// Their ids, sorted.
  virtual std::vector<std::string> providers() const = 0;
  /// Known or not, there is always an answer. A dated name (`-2025-08-07`, `-20250807`, `@20250807`,
  /// `-latest`) of which nothing is known has the facts of the one without.
  virtual ModelFacts model(std::string_view provider, std::string_view id) const = 0;
  /// Sorted by id.
  virtual std::vector<ModelFacts> models(std::string_view provider) const = 0;
};

/// The facts compiled in.
std::shared_ptr<const Catalog> built_in_catalog();
/// The same with a user's corrections, `{"providers": {ID: {...}}, "models": {"PROVIDER:MODEL": {...}}}` with
/// the fields of docs/providers.md. Error `kInput` naming the field, or the flag that the protocol does not
/// know.
Result<std::shared_ptr<const Catalog>> catalog_with(const Json& corrections);

}  // namespace praxis
