// Which characters look like ASCII characters, and which change the reading order of those next to them.
#pragma once

namespace praxis::app {

/// Whether most fonts draw the character like an ASCII letter, digit or punctuation mark.
bool looks_like_ascii(char32_t c);
/// Whether the character is written from right to left.
bool is_right_to_left(char32_t c);
/// Whether the character is a space other than U+0020, a combining mark that changes the character before it,
/// or has no known glyph (private use).
bool is_unclear(char32_t c);

}  // namespace praxis::app
