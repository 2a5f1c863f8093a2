// Markdown for a terminal: emphasis, headings, lists, quotes, code and tables within the width of the screen.
// The text is foreign: all that it holds stays visible text, and the only control sequences that come out set
// and end the style of text. Links show their address as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/visible_text.hpp"
#include "cli/terminal.hpp"

namespace praxis::cli {

/// Renders one part of a document for `columns`, with a line feed at its end; empty for blank text. `text` is
/// safe (`visible_text`). Lines are broken at 100 columns at most; lines of code are not broken.
std::string rendered_markdown(std::string_view text, std::size_t columns);
/// One line of code, without its line feed, as in a block of code.
std::string rendered_code_line(std::string_view line);

/// Renders text that arrives in pieces: each block when it is complete, each line of a block of code.
class MarkdownStream {
 public:
  explicit MarkdownStream(std::size_t columns) : columns_(columns) {}
  /// Takes any bytes; returns complete lines.
  std::string feed(std::string_view piece);
  /// Returns what is left, and starts again.
  std::string finish();
  /// The text that waits for the rest of its block, safe and not rendered.
  std::string tail() const { return part_ + line_; }

 private:
  void take_line(std::string_view line, std::string& out);
  void take_code_line(std::string_view line, std::string& out);
  void end_part(std::string& out);

  const std::size_t columns_;
  TextFilter filter_;
  std::string line_;            ///< incomplete
  std::string part_;            ///< complete lines that are not yet rendered
  std::string fence_;           ///< of the block of code that is open; empty: none
  bool is_code_shown_ = false;  ///< the lines of that block are not in `part_`
  bool after_blank_ = false;
  bool has_shown_ = false;
};

/// Markdown as standard output gets it: rendered on a terminal that can show styles, as safe text on another
/// one, and unchanged elsewhere.
std::string for_screen(const Terminal& terminal, std::string_view text);

}  // namespace praxis::cli
