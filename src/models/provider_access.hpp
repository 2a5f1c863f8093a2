// Where a provider is reached and with which key, as its facts and the environment say.
#pragma once

#include <functional>
#include <string>

#include "praxis/models/catalog.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Looks up an environment variable; empty when unset.
using Environ = std::function<std::string(const std::string&)>;

/// Something looked up, and the variable or file it was found in; both empty when there is none.
struct Found {
  std::string value;
  std::string origin;
};

/// The key: the first variable that is set, else the key file. Error `kInput`: the file is missing, empty or
/// longer than a key, not a regular file of the user's own, or open to others. The key is in no error.
Result<Found> find_key(const ProviderFacts& provider, const Environ& env);
/// The base URL; `origin` is empty for the provider's own. Error `kInput`: unusable, or a variable is
/// missing.
Result<Found> find_base_url(const ProviderFacts& provider, const Environ& env);
/// Where the key is looked for, for people, such as `GEMINI_API_KEY or GOOGLE_API_KEY`; empty: nowhere.
std::string key_places(const ProviderFacts& provider);

struct ProviderAccess {
  std::string base_url;
  std::string key;  ///< empty: none is needed. A secret.
  HttpHeaders headers;
};
/// Error `kInput` also for a missing key. A server at another base URL of the environment may do without one.
Result<ProviderAccess> access_to(const ProviderFacts& provider, const Environ& env);

}  // namespace praxis
