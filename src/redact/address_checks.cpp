#include "redact/address_checks.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "redact/checks.hpp"
#include "redact/letters.hpp"

namespace praxis::redact {
namespace {

/// The groups of digits in `text`.
std::vector<std::string> number_groups(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (const char c : text) {
    if (!is_digit(c)) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    out.back() += c;
  }
  return out;
}

int value_of(const std::string& digits) { return digits.size() > 6 ? 1000000 : std::atoi(digits.c_str()); }

bool is_month_and_day(int a, int b) {
  return (a >= 1 && a <= 12 && b >= 1 && b <= 31) || (b >= 1 && b <= 12 && a >= 1 && a <= 31);
}

/// The IBAN's length in each country of the registry.
std::size_t iban_length(std::string_view country) {
  static constexpr std::string_view kLengths =
      "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO"
      "18"
      "FR27GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD"
      "24"
      "ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO"
      "23"
      "ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30";
  for (std::size_t i = 0; i < kLengths.size(); i += 4) {
    if (kLengths.substr(i, 2) == country)
      return static_cast<std::size_t>(kLengths[i + 2] - '0') * 10 +
             static_cast<std::size_t>(kLengths[i + 3] - '0');
  }
  return 0;
}

}  // namespace

bool is_card(std::string_view d) {
  if (d.size() < 12 || d.size() > 19 || !has_luhn_digit(d)) return false;
  const auto first = [&](std::size_t count) { return std::atoi(std::string(d.substr(0, count)).c_str()); };
  const auto in = [](int value, int low, int high) { return value >= low && value <= high; };
  if (d[0] == '4') return d.size() == 13 || d.size() == 16 || d.size() == 19;
  if (in(first(2), 51, 55) || in(first(4), 2221, 2720)) return d.size() == 16;
  if (first(2) == 34 || first(2) == 37) return d.size() == 15;
  if (in(first(3), 300, 305) || in(first(2), 38, 39) || first(2) == 36) return d.size() >= 14;
  if (first(2) == 35 || first(4) == 2131 || first(4) == 1800) return d.size() >= 15;
  if (first(4) == 6011 || first(2) == 65 || in(first(3), 644, 649) || first(2) == 62) return d.size() >= 16;
  return first(2) == 50 || in(first(2), 56, 69);
}

bool is_iban(std::string_view text) {
  std::string iban;
  for (const char c : text) {
    if (is_alnum(c)) iban += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  if (iban.size() < 15 || iban.size() != iban_length(std::string_view(iban).substr(0, 2))) return false;
  std::ranges::rotate(iban, iban.begin() + 4);
  unsigned rest = 0;
  for (const char c : iban) {
    if (is_digit(c)) {
      rest = (rest * 10 + static_cast<unsigned>(c - '0')) % 97;
    } else {
      rest = (rest * 100 + static_cast<unsigned>(c - 'A' + 10)) % 97;
    }
  }
  return rest == 1;
}

bool is_public_ipv4(std::string_view text) {
  std::array<unsigned char, 4> a{};
  if (inet_pton(AF_INET, std::string(text).c_str(), a.data()) != 1) return false;
  if (a[0] == 0 || a[0] == 127 || a[0] >= 224) return false;
  const bool documentation = (a[0] == 192 && a[1] == 0 && a[2] == 2) ||
                             (a[0] == 198 && a[1] == 51 && a[2] == 100) ||
                             (a[0] == 203 && a[1] == 0 && a[2] == 113);
  const bool network = a[1] == 0 && a[2] == 0 && a[3] == 0;
  return !documentation && !network && !(a[0] <= 9 && a[1] <= 9 && a[2] <= 9);  // the last are versions
}

bool is_public_ipv6(std::string_view text) {
  std::array<unsigned char, 16> a{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), a.data()) != 1) return false;
  std::size_t groups = 0;
  for (std::size_t i = 0; i < 16; i += 2) groups += a[i] != 0 || a[i + 1] != 0 ? 1 : 0;
  const bool documentation = a[0] == 0x20 && a[1] == 0x01 && a[2] == 0x0d && a[3] == 0xb8;
  return groups >= 3 && !documentation;
}

bool is_mac(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (is_hex(c)) digits += lower_case(c);
  }
  return digits.size() == 12 && digits.find_first_not_of(digits[0]) != std::string::npos &&
         !digits.starts_with("000000");
}

bool is_email(std::string_view text) {
  const std::string low = lower_case(text);
  std::size_t at = low.find('@');
  std::size_t host_begin = at + 1;
  if (at == std::string::npos) {
    at = low.find("%40");
    host_begin = at + 3;
  }
  if (at == std::string::npos || at == 0) return false;
  const std::string_view host = std::string_view(low).substr(host_begin);
  for (const std::string_view example : {"example.com", "example.org", "example.net", "example.test",
                                         "example", "localhost", "invalid", "test"}) {
    if (host == example || (host.ends_with(example) && host[host.size() - example.size() - 1] == '.'))
      return false;
  }
  for (const std::string_view image :
       {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".js", ".css", ".so", ".service"}) {
    if (host.ends_with(image)) return false;
  }
  const std::string_view user = std::string_view(low).substr(0, at);
  return user != "git" && user != "noreply" && user != "no-reply";
}

bool is_date(std::string_view text) {
  const auto groups = number_groups(text);
  if (groups.size() != 3) return false;
  if (groups[0].size() == 4) return is_month_and_day(value_of(groups[1]), value_of(groups[2]));
  return (groups[2].size() == 4 || groups[2].size() == 2) &&
         is_month_and_day(value_of(groups[0]), value_of(groups[1]));
}

bool is_phone(std::string_view text) {
  const auto groups = number_groups(text.substr(0, text.find('x')));
  std::size_t digits = 0;
  for (const std::string& group : groups) digits += group.size();
  if (digits < 7 || digits > 15 || is_date(text)) return false;
  if (groups.size() >= 4 && groups[0].size() == 4 &&
      is_month_and_day(value_of(groups[1]), value_of(groups[2])) && value_of(groups[0]) > 1900 &&
      value_of(groups[0]) < 2100)
    return false;  // a date and a time
  return true;
}

bool is_coordinates(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return false;
  const double latitude = std::abs(std::atof(std::string(text.substr(0, comma)).c_str()));
  const double longitude = std::abs(std::atof(std::string(text.substr(comma + 1)).c_str()));
  return latitude <= 90 && longitude <= 180 && latitude > 0 && longitude > 0;
}

}  // namespace praxis::redact
