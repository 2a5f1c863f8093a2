// Resolves base URL and API key of a provider from its facts and the environment.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "praxis/models/catalog.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Looks up an environment variable; empty if unset.
using Environ = std::function<std::string(const std::string&)>;

/// A value, and the variable or file it came from; both empty if nothing was found.
struct Found {
  std::string value;
  std::string origin;
};

/// The key: from the first variable that is set, else from the key file. Error `kInput`: the file is missing,
/// empty, longer than a key, not a regular file owned by the user, or accessible to others. No error contains
/// the key.
Result<Found> find_key(const ProviderFacts& provider, const Environ& env);
/// The base URL; `origin` is empty for the provider's default. Error `kInput`: invalid, or a variable is
/// missing.
Result<Found> find_base_url(const ProviderFacts& provider, const Environ& env);
/// Where the key can be set, for messages, such as `GEMINI_API_KEY or GOOGLE_API_KEY`; empty: nowhere.
std::string key_places(const ProviderFacts& provider);

struct ProviderAccess {
  std::string base_url;
  std::string key;  ///< secret; empty: no key is needed
  HttpHeaders headers;
  std::vector<std::string> secrets;  ///< the key, and the values of headers that hold a variable
  std::string url_origin = {};       ///< the variable that holds the base URL; empty: the provider's facts do
  std::string key_origin = {};       ///< the variable or file that holds the key; empty: there is no key
};
/// Resolves all of it. Error `kInput` also for a missing key; the key is optional if the environment sets the
/// base URL.
Result<ProviderAccess> access_to(const ProviderFacts& provider, const Environ& env);

}  // namespace praxis
