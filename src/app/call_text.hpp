// Shows a tool call to the user who decides about it: the only rendering of calls, for every surface.
//
//   | call shell
//   | argv: ["sh","-c","make"]
//   | stdin: text of 2 lines, 12 bytes
//   | > first
//   | > second
//
// Each line starts with `  | `, which no text of the call can leave: a longer line continues after `  | \ `,
// lines of a text with several lines start with `  | > `. A line `  | ~ ` is a note on the argument before
// it: what a host in punycode reads in letters. Values are JSON with more escapes (`exact`), and a backslash
// in a text is doubled, so the whole rendering can be read back without a doubt. What decides comes first:
// program, method, address, path; then the others, short ones first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::app {

/// Rows of an overview: with its heading it fits on the first 24 lines of a screen.
inline constexpr std::size_t kOverviewRows = 17;

/// A rendering of a call.
struct CallView {
  std::string text;  ///< complete lines
  bool cut = false;  ///< something was left out
};

/// Renders a call in at most `rows` lines of `columns` columns (at least 24); `rows` 0: all of it. A value
/// that is cut keeps its start and its end, with its length and the digest of its bytes between them.
CallView call_view(std::string_view tool, std::string_view arguments, std::size_t columns, std::size_t rows);

/// The start of the same on one line of `columns` columns, for lists; without the prefix.
CallView call_line(std::string_view tool, std::string_view arguments, std::size_t columns);

/// Adds a line of text to `rows`, broken to `columns` (at least 24): `prefix` before the first part,
/// `continued` before the others. The text must be safe to display.
void break_text(std::string_view text, std::string_view prefix, std::string_view continued,
                std::size_t columns, std::vector<std::string>& rows);

/// Foreign text on lines of their own, each with `prefix`, in at most `rows` lines (0: all). `\...` at the
/// end marks a cut.
std::string prefixed_lines(std::string_view prefix, std::string_view text, std::size_t columns,
                           std::size_t rows);

}  // namespace praxis::app
