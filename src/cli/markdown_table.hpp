// A table of Markdown: in columns if it fits, otherwise row by row.
#pragma once

#include <string>
#include <vector>

#include "cli/markdown_cells.hpp"

namespace praxis::cli {

struct Table {
  std::vector<std::vector<Cells>> rows;  ///< the first one has the headings
  std::vector<bool> right;               ///< by column: aligned to the right

  void note_column(std::size_t column, bool is_right);
  std::vector<std::string> lines(std::size_t columns) const;
};

}  // namespace praxis::cli
