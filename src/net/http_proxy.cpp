#include "net/http_proxy.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "json/uri_reference.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

std::pair<std::string_view, std::string_view> split_port(std::string_view entry) {
  if (entry.starts_with('[')) {
    const std::size_t close = std::min(entry.find(']'), entry.size() - 1);
    const std::string_view rest = entry.substr(close + 1);
    return {entry.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : std::string_view()};
  }
  const std::size_t colon = entry.find(':');
  if (colon == entry.npos || entry.find(':', colon + 1) != entry.npos)
    return {entry, {}};  // no port, or bare IPv6
  return {entry.substr(0, colon), entry.substr(colon + 1)};
}

bool matches(const Url& url, std::string_view entry) {
  if (entry == "*") return true;
  auto [name, port] = split_port(entry);
  if (!port.empty() && port != std::to_string(url.port)) return false;
  if (name.starts_with('*')) name.remove_prefix(1);
  if (name.starts_with('.')) name.remove_prefix(1);
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > url.host.size()) return false;
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b | 0x20 : b); };
  const std::size_t start = url.host.size() - name.size();
  return std::ranges::equal(std::string_view(url.host).substr(start), name, same) &&
         (start == 0 || url.host[start - 1] == '.');
}

}  // namespace

ProxySettings::Setting ProxySettings::first_of(const Lookup& lookup,
                                               std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = lookup ? lookup(name) : std::getenv(name);
    if (value != nullptr && *value != '\0') return {value, name};
  }
  return {};
}

Result<Proxy> ProxySettings::parse(const Setting& setting) {
  std::string_view text = setting.value, scheme = "http";
  if (const std::size_t end = text.find("://"); end != text.npos) {
    scheme = text.substr(0, end);
    text.remove_prefix(end + 3);
  }
  if (scheme != "http") {
    return fail(ErrorCode::kInput, "the proxy in " + setting.variable +
                                       " must begin with http://: proxies with the scheme " +
                                       std::string(scheme) + " are not supported");
  }
  Proxy proxy;
  proxy.variable = setting.variable;
  if (const std::size_t at = text.rfind('@'); at != text.npos) {
    proxy.authorization = "Basic " + base64_encode(percent_decode(text.substr(0, at)));
    text.remove_prefix(at + 1);
  }
  Result<Url> url = parse_url("http://" + std::string(text));
  if (!url) return fail(ErrorCode::kInput, "the proxy in " + setting.variable + " is " + url.error().message);
  proxy.url = std::move(*url);
  return proxy;
}

ProxySettings::ProxySettings(const Lookup& lookup) {
  const bool is_cgi = !first_of(lookup, {"REQUEST_METHOD"}).value.empty();
  const Setting all = first_of(lookup, {"all_proxy", "ALL_PROXY"});
  http_ = is_cgi ? first_of(lookup, {"http_proxy"}) : first_of(lookup, {"http_proxy", "HTTP_PROXY"});
  https_ = first_of(lookup, {"https_proxy", "HTTPS_PROXY"});
  if (http_.value.empty()) http_ = all;
  if (https_.value.empty()) https_ = all;
  no_proxy_ = first_of(lookup, {"no_proxy", "NO_PROXY"}).value;
}

bool ProxySettings::bypasses(const Url& url) const {
  std::string_view rest = no_proxy_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(", \t"), rest.size());
    if (end > 0 && matches(url, rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

Result<std::optional<Proxy>> ProxySettings::choose(const Url& url) const {
  const Setting& setting = url.scheme == "https" ? https_ : http_;
  if (setting.value.empty() || bypasses(url)) return std::nullopt;
  Result<Proxy> proxy = parse(setting);
  if (!proxy) return fail(proxy.error());
  return std::optional(std::move(*proxy));
}

}  // namespace praxis
