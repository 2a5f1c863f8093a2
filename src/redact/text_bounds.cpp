#include "redact/text_bounds.hpp"

#include <algorithm>

namespace praxis::redact {
namespace {

constexpr std::size_t kLongestKey = std::size_t{16} * 1024;

/// How many bytes of the escape sequence that ends before `at` look like letters; 0 without such a sequence.
std::size_t escape_before(std::string_view text, std::size_t at) {
  if (at >= 2 && text[at - 2] == '\\' && std::string_view("nrtbf").contains(text[at - 1])) return 1;
  if (at >= 3 && text[at - 3] == '%' && is_hex(text[at - 2]) && is_hex(text[at - 1])) return 2;
  if (at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u' &&
      std::ranges::all_of(text.substr(at - 4, 4), is_hex))
    return 5;
  return 0;
}

bool is_separator(char c) { return std::string_view(" .-/():,+").contains(c); }

}  // namespace

bool begins_token(std::string_view text, std::size_t at) {
  return at == 0 || !is_alnum(text[at - 1]) || escape_before(text, at) > 0;
}

std::size_t token_begin(std::string_view text, std::size_t at, std::size_t most, char extra) {
  const std::size_t least = at > most ? at - most : 0;
  while (at > least) {
    const char c = text[at - 1];
    if (!is_alnum(c) && !std::string_view("._+-").contains(c) && (c != extra || extra == 0)) break;
    if (escape_before(text, at) > 0) break;
    --at;
  }
  return at;
}

std::size_t key_block_end(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at, kLongestKey);
  if (const std::size_t end = rest.find("-----END"); end != std::string_view::npos) {
    const std::size_t line = rest.find_first_of("\r\n\\\"'", end);
    return at + std::min(line, rest.size());
  }
  std::size_t length = 0;
  while (length < rest.size() && is_base64_text(rest[length])) ++length;
  return at + length;
}

Unescaped percent_decoded(std::string_view text) {
  Unescaped out;
  const auto value_of = [](char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; };
  for (std::size_t at = 0; at < text.size();) {
    const bool is_escape =
        text[at] == '%' && at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
    out.from.push_back(at);
    out.text +=
        is_escape ? static_cast<char>(value_of(text[at + 1]) * 16 + value_of(text[at + 2])) : text[at];
    at += is_escape ? 3 : 1;
  }
  out.from.push_back(text.size());
  return out;
}

bool has_value_near(std::string_view text) {
  constexpr std::size_t kReach = 96;
  std::size_t length = 0;
  bool has_digit = false;
  const std::size_t most = std::min(text.size(), kReach);
  for (std::size_t i = 0; i < text.size() && (i < most || length > 0); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\n' || c == '"' || c == '\'' || c == '\t' || c == '(') {
      length = 0;
      has_digit = false;
      continue;
    }
    has_digit = has_digit || is_digit(c);
    if (++length >= 20 || (length >= 6 && has_digit)) return true;
  }
  return false;
}

NumberShape shape_at(std::string_view text, std::size_t begin) {
  NumberShape shape;
  std::size_t digits = 0;
  std::size_t dots = 0;
  std::size_t colons = 0;
  std::size_t alnums = 0;
  const std::size_t most = std::min(text.size(), begin + kNumberSpan);
  std::size_t at = begin;
  for (; at < most; ++at) {
    const char c = text[at];
    alnums += is_alnum(c) ? 1 : 0;
    if (is_digit(c)) {
      ++digits;
      continue;
    }
    if (is_letter(c)) {
      const bool continues = at == begin || is_alnum(text[at - 1]) || text[at - 1] == ':' ||
                             (text[at - 1] == '-' && is_hex(c)) || (c >= 'A' && c <= 'Z') || c == 'x';
      if (!continues) break;
      continue;
    }
    if (!is_separator(c)) break;
    if (c == ' ' && shape.first_end == 0) shape.first_end = at;
    dots += c == '.' ? 1 : 0;
    colons += c == ':' ? 1 : 0;
    if (at >= 2 && at - begin >= 2 && is_separator(text[at - 1]) && is_separator(text[at - 2])) break;
  }
  if (shape.first_end == 0) shape.first_end = at;
  shape.promising = digits >= 7 || (dots >= 3 && digits >= 4) || colons >= 2 || (alnums >= 9 && digits >= 2);
  return shape;
}

}  // namespace praxis::redact
