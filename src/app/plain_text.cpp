#include "app/plain_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/utf8.hpp"

namespace praxis::app {
namespace {

bool is_control(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

/// The symbol of a C0 control character (U+2400 and above) or of DEL.
std::string picture(unsigned char control) {
  const auto low = static_cast<char>(0x80 + (control == 0x7f ? 0x21 : control));
  return std::string("\xE2\x90") + low;
}

/// Whether a valid character affects the terminal or the reading order: C1 controls (U+0080 to U+009F), line
/// and paragraph separators and direction marks (U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069).
bool is_active(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(character[2]);
  if (character[1] == '\x80') return last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE);
  return character[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
}

struct Range {
  char32_t first, last;
};
/// Characters that are invisible or look like others: controls, special spaces, direction marks, variation
/// selectors, tags.
constexpr std::array<Range, 19> kUnseen{{{0, 0x1F},
                                         {0x7F, 0xA0},
                                         {0xAD, 0xAD},
                                         {0x34F, 0x34F},
                                         {0x61C, 0x61C},
                                         {0x115F, 0x1160},
                                         {0x1680, 0x1680},
                                         {0x17B4, 0x17B5},
                                         {0x180B, 0x180F},
                                         {0x2000, 0x200F},
                                         {0x2028, 0x202F},
                                         {0x205F, 0x206F},
                                         {0x2800, 0x2800},
                                         {0x3164, 0x3164},
                                         {0xFE00, 0xFE0F},
                                         {0xFEFF, 0xFEFF},
                                         {0xFFA0, 0xFFA0},
                                         {0xFFF0, 0xFFFB},
                                         {0xE0000, 0xE0FFF}}};

/// The code point of a valid character.
char32_t number_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t number = first & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) number = number << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return number;
}

/// The last `digits` digits of a number, in base 16.
std::string hex(std::uint32_t number, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4) out[i] = kDigits[number & 0xF];
  return out;
}

/// The character as a JSON escape.
std::string escaped(char32_t c) {
  const auto number = static_cast<std::uint32_t>(c);
  if (number < 0x10000) return "\\u" + hex(number, 4);
  const std::uint32_t rest = number - 0x10000;
  return "\\u" + hex(0xD800 + (rest >> 10), 4) + "\\u" + hex(0xDC00 + (rest & 0x3FF), 4);
}

}  // namespace

std::string exact(std::string_view text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto step = utf8_step(rest);
    const std::string_view character = rest.substr(0, step.length);
    rest.remove_prefix(step.length);
    if (!step.valid) {
      for (const char c : character) out += "\\x" + hex(static_cast<unsigned char>(c), 2);
      continue;
    }
    const char32_t number = number_of(character);
    const bool unseen = number != ' ' && std::ranges::any_of(kUnseen, [&](const Range& range) {
                          return number >= range.first && number <= range.last;
                        });
    out += unseen ? escaped(number) : std::string(character);
  }
  return out;
}

std::string TextFilter::feed(std::string_view piece) {
  held_ += piece;
  std::string out;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const auto step = utf8_step(rest);
    const std::string_view character = rest.substr(0, step.length);
    const auto first = static_cast<unsigned char>(character[0]);
    const bool may_go_on = !step.valid && step.length == rest.size() && first >= 0xC2 && first <= 0xF4;
    if (may_go_on) break;
    rest.remove_prefix(step.length);
    if (is_control(first)) {
      out += picture(first);
    } else {
      out += step.valid && !is_active(character) ? character : kReplacementCharacter;
    }
  }
  held_ = std::string(rest);
  return out;
}

std::string TextFilter::finish() {
  const bool cut = !held_.empty();
  held_.clear();
  return cut ? std::string(kReplacementCharacter) : "";
}

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string harmless(std::string_view text) {
  TextFilter filter;
  std::string out = filter.feed(text);
  return out + filter.finish();
}

std::string one_line(std::string_view text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  // A character takes at most 4 bytes, so text beyond that cannot be visible.
  const bool is_long = text.size() > columns * 4 + 4;
  const std::string shown = harmless(is_long ? text.substr(0, columns * 4 + 4) : text);
  std::string line;
  std::size_t length = 0, cut_at = 0;
  bool gap = false;
  for (std::string_view rest = shown; !rest.empty();) {
    const std::string_view character = rest.substr(0, utf8_step(rest).length);
    rest.remove_prefix(character.size());
    if (character == " " || character == "\n" || character == "\t") {
      gap = !line.empty();
      continue;
    }
    const std::size_t added = gap ? 2 : 1;
    if (length + added > columns) return line.substr(0, cut_at) + std::string(kCut.substr(0, columns));
    if (gap) line += ' ';
    line += character;
    length += added;
    gap = false;
    if (length + kCut.size() <= columns) cut_at = line.size();
  }
  return line;
}

}  // namespace praxis::app
