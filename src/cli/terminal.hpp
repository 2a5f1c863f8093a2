// What the three standard streams are connected to, and how foreign text is made harmless before it is shown:
// models and tools must not be able to move the cursor, set the title or reorder what a person reads.
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
  bool color = false;      ///< standard error takes colours: a terminal, not dumb, and NO_COLOR is unset
  bool live = false;       ///< standard error can redraw a line
  bool out_color = false;  ///< as `color`, for standard output
  bool out_live = false;   ///< as `live`, for standard output

  static Terminal detect();
};

struct TerminalSize {
  std::size_t columns = 80, rows = 24;
};
/// Of the terminal that a descriptor leads to; the usual size when unknown.
TerminalSize terminal_size(int fd);

/// Makes text harmless piece by piece: control characters but newline and tab become visible pictures,
/// direction overrides and bytes that are no UTF-8 become U+FFFD. A sequence cut between two pieces is put
/// together.
class TextFilter {
 public:
  std::string feed(std::string_view piece);
  /// What is left when no more pieces follow.
  std::string finish();

 private:
  std::string held_;  ///< the front of a sequence whose rest has not come yet
};

/// `TextFilter` for text that is all there.
std::string harmless(std::string_view text);
/// Text exactly as it is, for a person who decides about it: each character that cannot be seen, or acts on
/// the terminal or the order of reading, is written as `\u202e`, each byte that is no UTF-8 as `\xff`.
std::string exact(std::string_view text);
/// Harmless text as one line of at most `columns` characters; white space is folded, a cut shows as `...`.
std::string one_line(std::string_view text, std::size_t columns);

}  // namespace praxis::cli
