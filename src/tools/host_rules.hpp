// The hosts and addresses that the `http` tool may contact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// Immutable; thread-safe.
class HostRules {
 public:
  /// Parses entries in the format of `HttpToolOptions::allow_hosts`. Error `kInput` names the invalid entry.
  static Result<HostRules> parse(const std::vector<std::string>& entries);

  bool allows(const Url& url) const;
  /// Whether `address`, which the host of `url` resolved to, may be contacted: it is public and not
  /// of this machine, or is listed itself, or is local and `localhost` is listed.
  bool allows_address(const Url& url, std::string_view address) const;
  /// Whether these allow all that `others` allow.
  bool cover(const HostRules& others) const;
  /// Whether there can be a host that both allow.
  bool meet(const HostRules& others) const;

 private:
  struct Entry {
    std::string host;
    bool subdomains = false;  ///< matches names below `host`, not `host` itself
    std::uint16_t port = 0;   ///< 0: any

    bool covers(const Entry& other) const;
  };
  bool lists(std::string_view host, std::uint16_t port) const;

  std::vector<Entry> entries_;
};

}  // namespace praxis
