#include "app/host_letters.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "app/plain_text.hpp"
#include "base/ascii.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kPrefix = "xn--";
constexpr std::size_t kMostHosts = 8;
constexpr std::size_t kLongestLabel = 63;

// The parameters of punycode.
constexpr std::uint32_t kBase = 36, kLeast = 1, kMost = 26, kSkew = 38, kDamp = 700;
constexpr std::uint32_t kFirstBias = 72, kFirstNumber = 0x80, kLastNumber = 0x10FFFF;

std::uint32_t adapted(std::uint32_t delta, std::uint32_t count, bool is_first) {
  delta = is_first ? delta / kDamp : delta / 2;
  delta += delta / count;
  std::uint32_t k = 0;
  for (; delta > (kBase - kLeast) * kMost / 2; k += kBase) delta /= kBase - kLeast;
  return k + (kBase - kLeast + 1) * delta / (delta + kSkew);
}

std::optional<std::uint32_t> digit_of(char c) {
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a');
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0') + 26;
  return std::nullopt;
}

/// Takes a number of variable length off the front; `std::nullopt` if it is cut off or too large.
std::optional<std::uint32_t> take_number(std::string_view& digits, std::uint32_t bias) {
  std::uint64_t number = 0, weight = 1;
  for (std::uint32_t k = kBase;; k += kBase) {
    const auto digit = digits.empty() ? std::nullopt : digit_of(digits.front());
    if (!digit) return std::nullopt;
    digits.remove_prefix(1);
    number += *digit * weight;
    if (number > std::numeric_limits<std::uint32_t>::max() / 2) return std::nullopt;
    const std::uint32_t threshold = std::clamp(k <= bias ? kLeast : k - bias, kLeast, kMost);
    if (*digit < threshold) return static_cast<std::uint32_t>(number);
    weight *= kBase - threshold;
  }
}

void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | ((c >> shift) & 0x3FU)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out.append({static_cast<char>(0xC0U | c >> 6U), tail(0)});
  } else if (c < 0x10000) {
    out.append({static_cast<char>(0xE0U | c >> 12U), tail(6), tail(0)});
  } else {
    out.append({static_cast<char>(0xF0U | c >> 18U), tail(12), tail(6), tail(0)});
  }
}

bool belongs_to_host(char c) { return digit_of(c).has_value() || c == '-' || c == '.' || c == '_'; }

bool is_punycode(std::string_view label) {
  return label.size() > kPrefix.size() && lower_case(label.substr(0, kPrefix.size())) == kPrefix;
}

/// What the line about a host says; `std::nullopt` if no label of it is in punycode.
std::optional<std::string> in_letters(std::string_view host) {
  std::string letters;
  bool any = false, is_valid = true;
  while (!host.empty()) {
    const std::string_view label = host.substr(0, host.find('.'));
    const bool is_last = label.size() == host.size();
    const auto decoded = is_punycode(label) ? decode_punycode(label.substr(kPrefix.size())) : std::nullopt;
    any = any || is_punycode(label);
    is_valid = is_valid && (decoded || !is_punycode(label));
    letters.append(decoded ? *decoded : std::string(label)).append(is_last ? "" : ".");
    host.remove_prefix(std::min(label.size() + 1, host.size()));
  }
  if (!any) return std::nullopt;
  return is_valid ? " in letters: " + exact(letters) : " is no valid name: its punycode has no letters";
}

}  // namespace

std::optional<std::string> decode_punycode(std::string_view label) {
  if (label.empty() || label.size() > kLongestLabel) return std::nullopt;
  std::u32string decoded;
  if (const auto dash = label.rfind('-'); dash != std::string_view::npos) {
    for (const char c : label.substr(0, dash)) decoded += static_cast<char32_t>(c);
    label.remove_prefix(dash + 1);
  }
  std::uint32_t number = kFirstNumber, bias = kFirstBias, at = 0;
  for (bool is_first = true; !label.empty(); is_first = false) {
    const auto step = take_number(label, bias);
    if (!step) return std::nullopt;
    const auto count = static_cast<std::uint32_t>(decoded.size()) + 1;
    bias = adapted(*step, count, is_first);
    at += *step;
    number += at / count;
    at %= count;
    if (number > kLastNumber || (number >= 0xD800 && number <= 0xDFFF)) return std::nullopt;
    decoded.insert(decoded.begin() + at, number);
    ++at;
  }
  std::string out;
  for (const char32_t c : decoded) append_utf8(out, c);
  return out;
}

std::vector<std::string> hosts_in_letters(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto start = std::ranges::find_if(text, belongs_to_host);
    text.remove_prefix(static_cast<std::size_t>(start - text.begin()));
    const auto end = std::ranges::find_if_not(text, belongs_to_host);
    const std::string_view host = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(host.size());
    const auto letters = in_letters(host);
    if (!letters) continue;
    std::string line = exact(host) + *letters;
    if (std::ranges::find(lines, line) != lines.end()) continue;
    if (lines.size() + 1 == kMostHosts) {
      lines.emplace_back("and more hosts in punycode");
      return lines;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace praxis::app
