#include "app/plain_text.hpp"

#include <algorithm>
#include <vector>

#include "app/combining_marks.hpp"
#include "app/look_alikes.hpp"
#include "app/unassigned.hpp"
#include "base/columns.hpp"
#include "base/utf8.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kPlainSpaces = 2;   ///< in a row, that are not counted
constexpr std::size_t kPlainIndent = 16;  ///< at the start of a text
constexpr std::size_t kMostMarks = 5;     ///< on one letter
constexpr char32_t kEmojiStyle = 0xFE0F;

/// One character, or an invalid sequence.
struct Character {
  std::string_view bytes;
  char32_t code = 0;
  bool valid = true;

  bool is_ascii_letter() const { return (code | 0x20U) >= 'a' && (code | 0x20U) <= 'z'; }
  bool is_ascii_digit() const { return code >= '0' && code <= '9'; }
  /// Whether it belongs to a word: letters of any script.
  bool is_word() const { return valid && (is_ascii_letter() || code >= 0x80); }
};

/// Splits off the first character of a text, which must not be empty.
Character next_of(std::string_view& text) {
  const Utf8Step step = utf8_step(text);
  const std::string_view bytes = text.substr(0, step.length);
  text.remove_prefix(step.length);
  return {bytes, step.valid ? code_point(bytes) : 0, step.valid};
}

std::string hex_bytes(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 0xFU]);
  }
  return out;
}

/// Appends one word: look-alikes in it are escaped if it has ASCII letters or, next to ASCII characters, if
/// they are all that it has. So are marks without a letter of their script, and those that would pile up over
/// other rows of the screen.
void add_word(std::string& out, const std::vector<Character>& token, std::size_t first, std::size_t last,
              bool by_ascii) {
  bool has_ascii = false, has_other = false;
  for (std::size_t i = first; i < last; ++i) {
    has_ascii = has_ascii || token[i].is_ascii_letter();
    has_other = has_other || (token[i].code >= 0x80 && !looks_like_ascii(token[i].code));
  }
  const bool imitates = has_ascii || (by_ascii && !has_other);
  std::size_t marks = 0;  // in a row
  for (std::size_t i = first; i < last; ++i) {
    const char32_t c = token[i].code;
    marks = is_mark(c) ? marks + 1 : 0;
    if (c < 0x80) {
      out += token[i].bytes;
      continue;
    }
    const bool hides = is_invisible(c) || is_unclear(c) || is_unassigned(c) ||
                       (imitates && looks_like_ascii(c)) || (by_ascii && is_right_to_left(c)) ||
                       (marks > 0 && (has_ascii || i == first || marks > kMostMarks));
    out += hides ? code_point_escape(c) : std::string(token[i].bytes);
  }
}

/// Appends the characters between two spaces.
void add_token(std::string& out, std::string_view text) {
  std::vector<Character> token;
  while (!text.empty()) token.push_back(next_of(text));
  const bool by_ascii = std::ranges::any_of(
      token, [](const Character& c) { return c.is_ascii_letter() || c.is_ascii_digit(); });
  for (std::size_t i = 0; i < token.size();) {
    std::size_t end = i;
    while (end < token.size() && token[end].is_word()) ++end;
    add_word(out, token, i, end, by_ascii);
    for (; end < token.size() && !token[end].is_word(); ++end) {
      const Character& c = token[end];
      const bool is_control = c.code < 0x20 || c.code == 0x7F;
      out += !c.valid ? hex_bytes(c.bytes) : is_control ? code_point_escape(c.code) : std::string(c.bytes);
    }
    i = end;
  }
}

}  // namespace

std::string exact(std::string_view text) {
  std::string out;
  for (bool at_start = true; !text.empty(); at_start = false) {
    const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
    const bool at_end = spaces == text.size();
    const std::size_t plain = at_end ? 0 : at_start ? kPlainIndent : kPlainSpaces;
    if (spaces > 0) out += spaces > plain ? "\\s{" + std::to_string(spaces) + '}' : std::string(spaces, ' ');
    text.remove_prefix(spaces);
    const std::size_t end = std::min(text.find(' '), text.size());
    add_token(out, text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string joined(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

std::string one_line(std::string_view text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  // A character takes at most 4 bytes and can have marks: text far beyond that is not looked at.
  constexpr std::size_t kMostBytes = 16;  // of a column
  const std::size_t most = columns * kMostBytes + kMostBytes;
  const std::string shown = visible_text(text.substr(0, most));
  std::string line;
  std::size_t length = 0, cut_at = 0;
  bool gap = false;
  for (std::string_view rest = shown; !rest.empty();) {
    const Character character = next_of(rest);
    if (character.bytes == " " || character.bytes == "\n" || character.bytes == "\t") {
      gap = !line.empty();
      continue;
    }
    // A selector of the emoji form widens the symbol before it on newer terminals.
    const std::size_t own = character.code == kEmojiStyle ? 1 : columns_of(character.code);
    const std::size_t added = own + (gap ? 1 : 0);
    if (length + added > columns) return line.substr(0, cut_at) + std::string(kCut.substr(0, columns));
    if (gap) line += ' ';
    line += character.bytes;
    length += added;
    gap = false;
    if (length + kCut.size() <= columns) cut_at = line.size();
  }
  if (text.size() > most) return line.substr(0, cut_at) + std::string(kCut.substr(0, columns));
  return line;
}

}  // namespace praxis::app
