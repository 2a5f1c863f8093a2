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

}  // namespace praxis::redact
