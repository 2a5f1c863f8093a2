// Detects what the standard streams are connected to.
#pragma once

#include <cstddef>
#include <string_view>

namespace praxis::tui {

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

}  // namespace praxis::tui
