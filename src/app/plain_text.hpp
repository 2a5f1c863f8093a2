// Makes untrusted text safe to display: models and tools must not move the cursor, set the title or reorder
// text that a user reads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace praxis::app {

/// Makes streamed text safe: control characters except newline and tab become symbols; direction overrides
/// and invalid UTF-8 become U+FFFD. Joins sequences that are split between two pieces.
class TextFilter {
 public:
  std::string feed(std::string_view piece);
  /// Returns what is left after the last piece.
  std::string finish();

 private:
  std::string held_;  ///< start of an incomplete sequence
};

/// `TextFilter` for a complete text.
std::string harmless(std::string_view text);
/// The exact text, for a user who must decide about it. Characters that are invisible, or that affect the
/// terminal or the reading order, are written as `\u202e`; invalid UTF-8 bytes as `\xff`.
std::string exact(std::string_view text);
/// The text in double quotes, as used for values in messages.
std::string in_quotes(std::string_view text);
/// Safe text on one line of at most `columns` characters; white space is collapsed, `...` marks a cut.
std::string one_line(std::string_view text, std::size_t columns);

}  // namespace praxis::app
