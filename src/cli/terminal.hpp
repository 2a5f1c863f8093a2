// Detects what the standard streams are connected to, and makes untrusted text safe to display: models and
// tools must not move the cursor, set the title or reorder text that a user reads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace praxis::cli {

/// Sequences that colour what follows on a terminal; `kPlain` ends them.
constexpr std::string_view kRed = "\x1b[31m", kGreen = "\x1b[32m", kYellow = "\x1b[33m", kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

struct Terminal {
  bool out = false;        ///< standard output is a terminal
  bool err = false;        ///< standard error is a terminal
  bool color = false;      ///< standard error supports colours: a terminal, not dumb, and NO_COLOR is unset
  bool live = false;       ///< standard error can redraw a line
  bool out_color = false;  ///< as `color`, for standard output
  bool out_live = false;   ///< as `live`, for standard output

  static Terminal detect();
};

struct TerminalSize {
  std::size_t columns = 80, rows = 24;
};
/// The size of the terminal behind a descriptor; a default size if unknown.
TerminalSize terminal_size(int fd);

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
/// Safe text on one line of at most `columns` characters; white space is collapsed, `...` marks a cut.
std::string one_line(std::string_view text, std::size_t columns);

}  // namespace praxis::cli
