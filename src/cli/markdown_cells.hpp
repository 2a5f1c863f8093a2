// Styled text as cells of a screen: one for each character with its marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::cli {

/// A set of styles.
using Style = std::uint8_t;
inline constexpr Style kBold = 1, kItalic = 2, kUnderlined = 4, kStruck = 8, kCode = 16, kFaint = 32;

struct Cell {
  std::string text;  ///< `\n`: a line ends here
  std::size_t columns = 0;
  Style style = 0;
};
using Cells = std::vector<Cell>;

/// Appends the characters of a text; tabs become spaces.
void add_cells(Cells& cells, std::string_view text, Style style);
std::size_t width_of(const Cells& cells);
/// Breaks at spaces and between wide characters; a word longer than a line is broken anywhere.
std::vector<Cells> broken(const Cells& cells, std::size_t columns);
/// The text with the sequences that set its styles; ends without a style.
std::string styled(const Cells& cells);

}  // namespace praxis::cli
