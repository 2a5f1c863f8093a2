// Makes foreign text safe to display: models and programs must not move the cursor, set the title, reorder
// or hide text that a user or a model reads.
#pragma once

#include <string>
#include <string_view>

namespace praxis {

/// The code point of one valid UTF-8 character.
char32_t code_point(std::string_view character);
/// The code point as JSON writes it: `\u202e`, above U+FFFF a surrogate pair.
std::string code_point_escape(char32_t c);
/// Whether a character has no glyph of its own: C1 controls, marks of direction, joiners, separators,
/// fillers, variation selectors, tags. Not C0 controls and DEL, and not spaces.
bool is_invisible(char32_t c);

/// Makes streamed text safe: control characters except line feed and tab become symbols (`␛` for escape), a
/// carriage return before a line feed is dropped, invisible characters become escapes such as `\u202e`,
/// invalid UTF-8 becomes U+FFFD. Joiners and variation selectors stay where emoji, Arabic or Indic letters
/// need them. Joins sequences that are split between two pieces.
class TextFilter {
 public:
  std::string feed(std::string_view piece);
  /// Returns what is left after the last piece.
  std::string finish();

 private:
  void add(std::string& out, std::string_view character);

  std::string held_;       ///< start of an incomplete sequence, or a carriage return
  char32_t previous_ = 0;  ///< the last character that stayed as it was
};

/// `TextFilter` for a complete text: the output of programs, and other foreign text.
std::string visible_text(std::string_view bytes);
/// The same as text of XML and HTML, for elements and quoted attributes.
std::string visible_xml(std::string_view bytes);

}  // namespace praxis
