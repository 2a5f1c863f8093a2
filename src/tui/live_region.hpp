// The lines below the scrollback that change while the user looks at them. What is finished is printed above
// them once and belongs to the terminal from then on. Pure: returns the bytes for the terminal.
//
// Between two frames the terminal's cursor, which is hidden, stands at the first column of the first line of
// the region. A terminal that is resized moves what is above its cursor as it likes and keeps the cursor with
// its cell: so the next frame begins in the right place, whether that terminal breaks long lines again or
// not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::tui {

class LiveRegion {
 public:
  /// One frame: prints `finished`, complete lines, above the region and `lines` as the region, rewriting only
  /// what differs. Lines are safe, without line feeds; their only sequences set styles. What does not fit
  /// the screen is cut by the terminal, so at most `rows - 1` lines are drawn: the last ones.
  std::string frame(std::string_view finished, std::vector<std::string> lines, std::size_t rows);
  /// Removes the region; the cursor stands where it was, visible.
  std::string remove();
  /// Draws everything in the next frame: the screen was changed by the terminal or another program.
  void forget() { is_known_ = false; }

 private:
  std::vector<std::string> drawn_;
  bool is_known_ = false;  ///< `drawn_` is what the screen shows
};

}  // namespace praxis::tui
