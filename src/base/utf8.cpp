#include "base/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "praxis/base/utf8.hpp"

namespace praxis {

namespace {

// Skips ASCII bytes at the front, eight at a time; may stop early, within the last eight.
std::size_t skip_ascii(std::string_view bytes, std::size_t at) {
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word & 0x8080808080808080) break;
  }
  return at;
}

// Returns the position of the first ill-formed sequence; the size if all is well-formed.
std::size_t valid_until(std::string_view bytes, std::size_t at) {
  while ((at = skip_ascii(bytes, at)) < bytes.size()) {
    const auto [length, valid] = utf8_step(bytes.substr(at));
    if (!valid) break;
    at += length;
  }
  return at;
}

}  // namespace

Utf8Step utf8_step(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and code points beyond U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {i, false};
    const bool continues = i == 1 ? byte(i) >= low && byte(i) <= high : (byte(i) & 0xC0) == 0x80;
    if (!continues) return {i, false};
  }
  return {length, true};
}

bool is_valid_utf8(std::string_view bytes) { return valid_until(bytes, 0) == bytes.size(); }

std::string repair_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t bad = valid_until(bytes, at);
    out += bytes.substr(at, bad - at);
    if (bad == bytes.size()) break;
    out += kReplacementCharacter;
    at = bad + utf8_step(bytes.substr(bad)).length;
  }
  return out;
}

std::string_view utf8_head(std::string_view text, std::size_t most) {
  std::size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace praxis
