// Parses absolute http(s) URLs, and classifies addresses as public or not.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/ascii.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxUrlBytes = 16 * 1024;

std::unexpected<Error> bad_url(std::string_view problem) {
  return fail(ErrorCode::kInput, "not a usable URL: " + std::string(problem));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_';
}

bool is_ipv4(const std::string& text) {
  in_addr address;
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}
bool is_ipv6(const std::string& text) {
  in6_addr address;
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

// Resolvers read `0x7f.1` or `2130706433` as IPv4, so a host that ends in a number must be a dotted quad.
bool ends_in_number(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return last.starts_with("0x") || std::ranges::all_of(last, is_digit);
}

Status check_host(const std::string& host) {
  if (host.empty()) return bad_url("the host is empty");
  if (host.size() > 253) return bad_url("the host is longer than 253 characters");
  if (!std::ranges::all_of(host, is_host_char)) {
    return bad_url(
        "the host may hold only letters, digits, '-', '_' and '.' (write other names in punycode)");
  }
  for (std::size_t start = 0; start <= host.size();) {
    const std::size_t end = std::min(host.find('.', start), host.size());
    if (end == start || end - start > 63) return bad_url("a part of the host is empty or too long");
    start = end + 1;
  }
  if (ends_in_number(host) && !is_ipv4(host)) return bad_url("the host is not a valid IPv4 address");
  return {};
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
    return bad_url("the port must be a number from 1 to 65535");
  }
  return port;
}

// Parses `host`, `host:port` or `[v6]:port`.
Status parse_authority(std::string_view authority, Url& url) {
  if (authority.find('@') != authority.npos)
    return bad_url("user names and passwords are not accepted in it");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == authority.npos) return bad_url("the ']' of the IPv6 address is missing");
    url.host = lower_case(authority.substr(1, close - 1));
    url.ipv6 = url.is_address = true;
    if (!is_ipv6(url.host)) return bad_url("the host is not a valid IPv6 address");
    port = authority.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) return bad_url("unexpected text after ']'");
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = lower_case(authority.substr(0, colon));
    if (url.host.ends_with('.')) url.host.pop_back();
    if (Status ok = check_host(url.host); !ok) return ok;
    url.is_address = is_ipv4(url.host);
    port = authority.substr(colon);
  }
  if (port.size() <= 1) return {};
  Result<std::uint16_t> number = parse_port(port.substr(1));
  if (!number) return fail(number.error());
  url.port = *number;
  return {};
}

struct Ipv4Block {
  std::uint32_t prefix;
  int bits;
};

constexpr std::uint32_t quad(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return a << 24 | b << 16 | c << 8;
}

// From the IANA special-purpose registry.
constexpr std::array kNonPublicIpv4 = {
    Ipv4Block{quad(0, 0, 0), 8},      Ipv4Block{quad(10, 0, 0), 8},     Ipv4Block{quad(100, 64, 0), 10},
    Ipv4Block{quad(127, 0, 0), 8},    Ipv4Block{quad(169, 254, 0), 16}, Ipv4Block{quad(172, 16, 0), 12},
    Ipv4Block{quad(192, 0, 0), 24},   Ipv4Block{quad(192, 0, 2), 24},   Ipv4Block{quad(192, 88, 99), 24},
    Ipv4Block{quad(192, 168, 0), 16}, Ipv4Block{quad(198, 18, 0), 15},  Ipv4Block{quad(198, 51, 100), 24},
    Ipv4Block{quad(203, 0, 113), 24}, Ipv4Block{quad(224, 0, 0), 3},
};

bool is_non_public_ipv4(std::uint32_t address) {
  return std::ranges::any_of(kNonPublicIpv4, [&](const Ipv4Block& block) {
    return (address ^ block.prefix) >> (32 - block.bits) == 0;
  });
}

using Ipv6Bytes = std::array<std::uint8_t, 16>;

bool has_prefix(const Ipv6Bytes& address, std::initializer_list<std::uint8_t> prefix) {
  return std::ranges::equal(prefix, std::span(address).first(prefix.size()));
}

std::uint32_t ipv4_at(const Ipv6Bytes& address, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | address[offset + i];
  return value;
}

bool is_non_public_ipv6(const Ipv6Bytes& a) {
  const bool mapped = has_prefix(a, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff});
  const bool nat64 = has_prefix(a, {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0});
  if (mapped || nat64) return is_non_public_ipv4(ipv4_at(a, 12));
  if ((a[0] & 0xe0) != 0x20) return true;                                     // only 2000::/3 is allocated
  if (has_prefix(a, {0x20, 0x02})) return is_non_public_ipv4(ipv4_at(a, 2));  // 6to4
  if (has_prefix(a, {0x20, 0x01, 0x00, 0x00})) {  // Teredo: server, inverted client
    return is_non_public_ipv4(ipv4_at(a, 4)) || is_non_public_ipv4(~ipv4_at(a, 12));
  }
  return has_prefix(a, {0x20, 0x01, 0x0d, 0xb8}) ||                             // documentation
         has_prefix(a, {0x20, 0x01, 0x00, 0x02, 0x00, 0x00}) ||                 // benchmarking
         (has_prefix(a, {0x20, 0x01, 0x00}) && a[3] >= 0x10 && a[3] < 0x40) ||  // ORCHID, both versions
         (has_prefix(a, {0x3f, 0xff}) && a[2] < 0x10);                          // documentation
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  if (text.size() > kMaxUrlBytes) return bad_url("it is longer than 16 KiB");
  const auto unprintable = [](char c) { return c <= ' ' || c >= 0x7f || c == '\\'; };
  if (std::ranges::any_of(text, unprintable)) {
    return bad_url(
        "it holds white space, a control or non-ASCII character, or a '\\' (percent-encode them; a host with "
        "other letters is written in punycode, as xn--bcher-kva.example)");
  }
  Url url;
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == text.npos) return bad_url("it must begin with http:// or https://");
  url.scheme = lower_case(text.substr(0, scheme_end));
  if (url.scheme != "http" && url.scheme != "https") return bad_url("it must begin with http:// or https://");
  url.port = url.scheme == "https" ? 443 : 80;

  text = text.substr(scheme_end + 3);
  text = text.substr(0, text.find('#'));
  const std::size_t authority_end = std::min(text.find_first_of("/?"), text.size());
  if (Status ok = parse_authority(text.substr(0, authority_end), url); !ok) return fail(ok.error());
  const std::string_view target = text.substr(authority_end);
  url.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  return url;
}

bool is_non_public_address(std::string_view address) {
  const std::string text(address);
  if (text.contains('\0')) return true;  // `inet_pton` would read the part before it
  in_addr v4;
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return is_non_public_ipv4(ntohl(v4.s_addr));
  Ipv6Bytes v6;
  if (inet_pton(AF_INET6, text.c_str(), v6.data()) == 1) return is_non_public_ipv6(v6);
  return true;
}

}  // namespace praxis
