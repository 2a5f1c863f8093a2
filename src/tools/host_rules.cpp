#include "tools/host_rules.hpp"

#include <algorithm>

#include "net/own_addresses.hpp"

namespace praxis {

Result<HostRules> HostRules::parse(const std::vector<std::string>& entries) {
  HostRules rules;
  for (const std::string& text : entries) {
    const bool subdomains = text.starts_with("*.");
    const std::string authority = subdomains ? text.substr(2) : text;
    // The port was written out if it is not the default of both schemes.
    auto as_http = parse_url("http://" + authority);
    auto as_https = parse_url("https://" + authority);
    if (!as_http || !as_https || authority.find_first_of("/?#") != std::string::npos) {
      return fail(ErrorCode::kInput,
                  "allow_hosts: \"" + text +
                      "\" is not a valid host; write example.com, example.com:8080 or *.example.com");
    }
    const bool any_port = as_http->port != as_https->port;
    rules.entries_.push_back({as_http->host, subdomains, any_port ? std::uint16_t{0} : as_http->port});
  }
  return rules;
}

bool HostRules::lists(std::string_view host, std::uint16_t port) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    return !entry.subdomains && entry.host == host && (entry.port == 0 || entry.port == port);
  });
}

bool HostRules::allows(const Url& url) const {
  if (lists(url.host, url.port)) return true;
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    return entry.subdomains && url.host.ends_with("." + entry.host) &&
           (entry.port == 0 || entry.port == url.port);
  });
}

bool HostRules::Entry::covers(const Entry& other) const {
  if (port != 0 && port != other.port) return false;
  if (!subdomains) return !other.subdomains && host == other.host;
  return other.host.ends_with("." + host) || (other.subdomains && host == other.host);
}

bool HostRules::cover(const HostRules& others) const {
  return std::ranges::all_of(others.entries_, [&](const Entry& other) {
    return std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.covers(other); });
  });
}

bool HostRules::meet(const HostRules& others) const {
  const auto names = [](Entry entry) {
    entry.port = 0;
    return entry;
  };
  return std::ranges::any_of(others.entries_, [&](const Entry& other) {
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
      const bool same_port = entry.port == 0 || other.port == 0 || entry.port == other.port;
      return same_port && (names(entry).covers(names(other)) || names(other).covers(names(entry)));
    });
  });
}

bool HostRules::allows_address(const Url& url, std::string_view address) const {
  if (lists(address, url.port)) return true;
  if (!is_non_public_address(address)) return !is_own_address(address);
  const bool is_loopback = address.starts_with("127.") || address == "::1";
  return url.host == "localhost" && is_loopback && lists(url.host, url.port);
}

}  // namespace praxis
