// Chooses the proxy of a request, by the customary environment variables.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "praxis/net/http_client.hpp"

namespace praxis {

struct Proxy {
  Url url;                    ///< where the proxy listens; always plain http
  std::string authorization;  ///< value of Proxy-Authorization; empty for none
  std::string variable;       ///< of the environment, which names the proxy, such as `https_proxy`
};

/// Immutable. Reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, the lower-case spelling first. In a CGI
/// program (REQUEST_METHOD is set) HTTP_PROXY may come from the request and is ignored.
class ProxySettings {
 public:
  using Lookup = std::function<const char*(const char* name)>;

  /// Reads the variables through `lookup`, by default getenv.
  explicit ProxySettings(const Lookup& lookup = {});

  /// The proxy for `url`, or `std::nullopt` for a direct connection. Error: `kInput` if the variable's value
  /// is unusable.
  Result<std::optional<Proxy>> choose(const Url& url) const;

 private:
  struct Setting {
    std::string value, variable;
  };

  static Setting first_of(const Lookup& lookup, std::initializer_list<const char*> names);
  static Result<Proxy> parse(const Setting& setting);
  bool bypasses(const Url& url) const;

  Setting http_;
  Setting https_;
  std::string no_proxy_;
};

}  // namespace praxis
