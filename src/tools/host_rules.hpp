// Which hosts and addresses the `http` tool may talk to.
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
  /// Entries as `HttpToolOptions::allow_hosts` documents them. Error `kInput` names the bad one.
  static Result<HostRules> parse(const std::vector<std::string>& entries);

  bool allows(const Url& url) const;
  /// Whether an address that `url`'s host resolved to may be dialled: it is public, or listed itself, or
  /// local and `localhost` is listed.
  bool allows_address(const Url& url, std::string_view address) const;

 private:
  struct Entry {
    std::string host;
    bool subdomains = false;  ///< names below `host`, not `host` itself
    std::uint16_t port = 0;   ///< 0: any
  };
  bool lists(std::string_view host, std::uint16_t port) const;

  std::vector<Entry> entries_;
};

}  // namespace praxis
