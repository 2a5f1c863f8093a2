// Facts about providers and models: prices, windows, capabilities, addresses. The table is compiled in; users
// can correct it.
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

#pragma GCC visibility push(default)
namespace praxis {

/// Prices per million tokens, each at most 1,000 dollars. A tier applies to a whole request whose input
/// exceeds `above` tokens. A cache price of 0 means that cache reads or writes cost as much as other input.
struct Prices {
  std::int64_t above = 0;
  MicroUsd input = {}, output = {}, cache_read = {}, cache_write = {};
};

/// One model at one provider. An unknown model has `known == false` and conservative defaults.
struct ModelFacts {
  std::string provider = {};
  std::string id = {};    ///< the id that the provider's API expects
  std::string name = {};  ///< display name
  bool known = false;
  std::int64_t context_window = 0;  ///< tokens; 0 when unknown
  std::int64_t max_output = 0;      ///< tokens; 0 when unknown
  TokenCounting counting = {};
  std::vector<Prices> prices = {};  ///< the base first, then the tiers by `above`; empty when unknown
  bool tools = true;
  bool images = false;  ///< takes images in its input
  bool files = false;   ///< takes PDF files in its input
  bool reasoning = false;
  bool temperature = true;         ///< false: the provider rejects the parameter
  bool structured_output = false;  ///< known to support answers that follow a JSON Schema
  /// Maps our level (`ModelOptions::reasoning_effort`) to the provider's. An empty value: the level is not
  /// offered. A level that is not listed is sent unchanged.
  std::map<std::string, std::string> reasoning_levels = {};
  Json dialect = {};  ///< flags of this model that differ from its provider's; null: no flags
};

/// `{provider, id, known, name, context_window, ...}` with the fields of docs/providers.md. Omits unknown
/// values.
Json to_json(const ModelFacts& facts);

/// The cost of one call, rounded once; zero if the prices are unknown. Cached input and reasoning are parts
/// of `usage.input` and `usage.output`. A cache write that is kept for an hour costs twice the input price if
/// cache writes have their own price.
MicroUsd price_of(const ModelFacts& facts, const Usage& usage);

/// One endpoint that serves models.
struct ProviderFacts {
  std::string id = {};
  std::string name = {};
  std::string api = {};  ///< `chat`, `responses`, `messages`, `gemini`, `ollama`
  /// May hold `{NAME}`, which is replaced from the environment. Empty: the user must configure it.
  std::string base_url = {};
  std::string base_url_env = {};  ///< environment variable that overrides `base_url`
  std::vector<std::string> key_env =
      {};  ///< environment variables that may hold the API key, in search order
  /// Set by users: a file that holds the key, read if no variable has it. Only its owner may have access.
  std::string key_file = {};
  bool needs_key = true;  ///< false: the key is optional
  /// Header that carries the key; empty: `authorization`, as a bearer token.
  std::string auth = {};
  /// Sent with every request; `{NAME}` as in `base_url`.
  std::map<std::string, std::string> headers = {};
  std::string catalog = {};              ///< provider id in the public catalogue, if it differs from `id`
  std::vector<std::string> models = {};  ///< set by users: the models to list instead of the catalogue's
  Json dialect = {};                     ///< flags (docs/providers.md); null: no flags
};

/// Immutable; thread-safe.
class Catalog {
 public:
  virtual ~Catalog() = default;
  /// Null if the provider is unknown.
  virtual const ProviderFacts* provider(std::string_view id) const = 0;
  /// All provider ids, sorted.
  virtual std::vector<std::string> providers() const = 0;
  /// Always returns facts; `known` says whether the model was found. If a dated name (`-2025-08-07`,
  /// `-20250807`, `@20250807`, `-latest`) is unknown, the facts of the undated name apply.
  virtual ModelFacts model(std::string_view provider, std::string_view id) const = 0;
  /// Sorted by id.
  virtual std::vector<ModelFacts> models(std::string_view provider) const = 0;
};

/// The facts that are compiled in.
std::shared_ptr<const Catalog> built_in_catalog();
/// The built-in facts with a user's corrections, `{"providers": {ID: {...}}, "models": {"PROVIDER:MODEL":
/// {...}}}` with the fields of docs/providers.md. Error `kInput` names the invalid field, or the flag that
/// the protocol does not know.
Result<std::shared_ptr<const Catalog>> catalog_with(const Json& corrections);

}  // namespace praxis
#pragma GCC visibility pop
