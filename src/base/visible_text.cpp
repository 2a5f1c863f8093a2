#include "base/visible_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/utf8.hpp"

namespace praxis {

namespace {

struct Range {
  char32_t first, last;
};

constexpr std::array<Range, 21> kInvisible{
    {{0x80, 0x9F},      {0xAD, 0xAD},     {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},
     {0x17B4, 0x17B5},  {0x180B, 0x180F}, {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
     {0x2800, 0x2800},  {0x3164, 0x3164}, {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
     {0xFFA0, 0xFFA0},  {0xFFF0, 0xFFFB}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
     {0xE0000, 0xE0FFF}}};
constexpr char32_t kZeroWidthNonJoiner = 0x200C, kZeroWidthJoiner = 0x200D;
constexpr char32_t kTextStyle = 0xFE0E, kEmojiStyle = 0xFE0F;

bool is_control(char32_t c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F; }

/// The symbol of a C0 control character (U+2400 and above) or of DEL.
std::string picture(char32_t control) {
  const auto low = static_cast<char>(0x80 + (control == 0x7F ? 0x21 : control));
  return std::string("\xE2\x90") + low;
}

/// Symbols that have an emoji form.
bool is_symbol(char32_t c) {
  constexpr std::u32string_view kSingle = U"\u00A9\u00AE\u3030\u303D\u3297\u3299";
  return kSingle.find(c) != std::u32string_view::npos || (c >= 0x203C && c <= 0x2BFF) ||
         (c >= 0x1F000 && c <= 0x1FAFF);
}

/// Whether the invisible character `c` only shapes the character before it.
bool shapes(char32_t previous, char32_t c) {
  const bool joins = c == kZeroWidthNonJoiner || c == kZeroWidthJoiner;
  if (joins && previous >= 0x600 && previous <= 0xDFF) return true;  // Arabic and Indic scripts
  if (c == kZeroWidthJoiner && previous == kEmojiStyle) return true;
  return (c == kZeroWidthJoiner || c == kTextStyle || c == kEmojiStyle) && is_symbol(previous);
}

/// The last `digits` digits of a number, in base 16.
std::string hex(std::uint32_t number, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4) out[i] = kDigits[number & 0xF];
  return out;
}

/// Whether the rest of a piece may be continued by the next piece.
bool is_unfinished(std::string_view rest, Utf8Step step) {
  if (rest == "\r") return true;
  const auto first = static_cast<unsigned char>(rest[0]);
  return !step.valid && step.length == rest.size() && first >= 0xC2 && first <= 0xF4;
}

}  // namespace

char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t number = first & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) number = number << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return number;
}

std::string code_point_escape(char32_t c) {
  const auto number = static_cast<std::uint32_t>(c);
  if (number < 0x10000) return "\\u" + hex(number, 4);
  const std::uint32_t rest = number - 0x10000;
  return "\\u" + hex(0xD800 + (rest >> 10), 4) + "\\u" + hex(0xDC00 + (rest & 0x3FF), 4);
}

bool is_invisible(char32_t c) {
  const bool is_no_character = (c & 0xFFFEU) == 0xFFFEU;
  const auto holds = [&](const Range& range) { return c >= range.first && c <= range.last; };
  return is_no_character || (c >= 0x80 && std::ranges::any_of(kInvisible, holds));
}

void TextFilter::add(std::string& out, std::string_view character) {
  const char32_t c = code_point(character);
  if (is_control(c)) {
    out += picture(c);
  } else if (is_invisible(c) && !shapes(previous_, c)) {
    out += code_point_escape(c);
  } else {
    out += character;
    previous_ = c;
    return;
  }
  previous_ = 0;
}

std::string TextFilter::feed(std::string_view piece) {
  held_ += piece;
  std::string out;
  out.reserve(held_.size());
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Utf8Step step = utf8_step(rest);
    if (is_unfinished(rest, step)) break;
    const std::string_view character = rest.substr(0, step.length);
    rest.remove_prefix(step.length);
    if (!step.valid) {
      out += kReplacementCharacter;
      previous_ = 0;
    } else if (character != "\r" || !rest.starts_with('\n')) {
      add(out, character);
    }
  }
  held_ = std::string(rest);
  return out;
}

std::string TextFilter::finish() {
  const std::string held = std::exchange(held_, {});
  previous_ = 0;
  if (held.empty()) return {};
  return held == "\r" ? picture('\r') : std::string(kReplacementCharacter);
}

std::string visible_text(std::string_view bytes) {
  TextFilter filter;
  std::string out = filter.feed(bytes);
  return out + filter.finish();
}

std::string visible_xml(std::string_view bytes) {
  std::string out;
  for (const char c : visible_text(bytes)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace praxis
