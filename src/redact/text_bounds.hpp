// Where tokens begin and end in text that may be escaped as in JSON or in a URL.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "redact/letters.hpp"

namespace praxis::redact {

/// Whether the byte before `at` belongs to an escape sequence, such as `\n`, `\u003d` or `%3D`, or ends a
/// token.
bool begins_token(std::string_view text, std::size_t at);
/// The begin of the token around `at`, at most `most` bytes before it. Letters, digits and `._+-` are parts
/// of tokens; so is `extra`, unless it is null.
std::size_t token_begin(std::string_view text, std::size_t at, std::size_t most, char extra);
/// The end of the PEM block or key whose first line ends at `at`.
std::size_t key_block_end(std::string_view text, std::size_t at);
/// Whether `c` can be inside a PEM block, or inside its form in JSON.
inline bool is_base64_text(char c) { return is_alnum(c) || std::string_view("+/=\\ \t\r\n:,-").contains(c); }
/// Whether an expression is decided at `c`, because no token contains it.
inline bool is_token_byte(char c) {
  return is_alnum(c) || std::string_view("._+-/=%~$@:!\\").contains(c) ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// A text without its escapes, and where in the original each of its bytes begins; the last entry is the end.
struct Unescaped {
  std::string text;
  std::vector<std::size_t> from;
};
/// Decodes `%3D` and the like. As long as the original: there was none.
Unescaped percent_decoded(std::string_view text);

inline constexpr std::size_t kNumberSpan = 64;  ///< bytes of a number

/// What stands at a digit: whether it can be a number of a person.
struct NumberShape {
  std::size_t first_end = 0;  ///< of the part without spaces
  bool promising = false;
};
NumberShape shape_at(std::string_view text, std::size_t begin);

/// Whether a value follows within reach: bytes without spaces and quotes that are many, or hold a digit. Most
/// words of ordinary text are not followed by one, which spares the expressions.
bool has_value_near(std::string_view text);

}  // namespace praxis::redact
