#include "cli/markdown_table.hpp"

#include <algorithm>
#include <numeric>

namespace praxis::cli {
namespace {

constexpr std::size_t kBetween = 2;  ///< spaces between columns

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths(table.right.size(), 0);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

std::string row_line(const Table& table, const std::vector<Cells>& row,
                     const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
    const std::string fill(widths[i] - width_of(row[i]), ' ');
    const bool is_right = table.right[i];
    line += (is_right ? fill : "") + styled(row[i]) + (is_right ? "" : fill) + std::string(kBetween, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// `Heading: cell` for each cell, with a blank line between rows.
std::vector<std::string> one_by_one(const Table& table, std::size_t columns) {
  std::vector<std::string> lines;
  for (std::size_t r = 1; r < table.rows.size(); ++r) {
    if (r > 1) lines.emplace_back();
    for (std::size_t i = 0; i < table.rows[r].size(); ++i) {
      Cells text = i < table.rows[0].size() ? table.rows[0][i] : Cells{};
      add_cells(text, ": ", 0);
      std::ranges::copy(table.rows[r][i], std::back_inserter(text));
      for (const Cells& each : broken(text, columns)) lines.push_back(styled(each));
    }
  }
  return lines;
}

}  // namespace

void Table::note_column(std::size_t column, bool is_right) {
  if (column >= right.size()) right.resize(column + 1, false);
  right[column] = is_right;
}

std::vector<std::string> Table::lines(std::size_t columns) const {
  const auto widths = widths_of(*this);
  const std::size_t all = std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
                          kBetween * (widths.empty() ? 0 : widths.size() - 1);
  if (all > columns && rows.size() > 1) return one_by_one(*this, columns);
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    lines.push_back(row_line(*this, row, widths));
    if (lines.size() > 1) continue;
    std::string rule = "\x1b[2m";
    for (std::size_t i = 0; i < all; ++i) rule += "\u2500";
    lines.push_back(rule + "\x1b[0m");
  }
  return lines;
}

}  // namespace praxis::cli
