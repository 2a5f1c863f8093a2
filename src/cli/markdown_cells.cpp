#include "cli/markdown_cells.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/columns.hpp"
#include "base/utf8.hpp"

namespace praxis::cli {
namespace {

constexpr std::array<std::pair<Style, std::string_view>, 6> kSequences{{{kBold, "\x1b[1m"},
                                                                        {kFaint, "\x1b[2m"},
                                                                        {kItalic, "\x1b[3m"},
                                                                        {kUnderlined, "\x1b[4m"},
                                                                        {kStruck, "\x1b[9m"},
                                                                        {kCode, "\x1b[36m"}}};
constexpr std::string_view kNoStyle = "\x1b[0m";
constexpr std::size_t kMostBytes = 64;  ///< of a character with its marks

bool is_space(const Cell& cell) { return cell.text == " "; }

/// Where the line from `begin` ends, and where the next one begins.
std::pair<std::size_t, std::size_t> end_of_line(const Cells& cells, std::size_t begin, std::size_t columns) {
  std::size_t used = 0, place = begin;  // the last place for a break
  for (std::size_t at = begin; at < cells.size(); ++at) {
    if (cells[at].text == "\n") return {at, at + 1};
    if (is_space(cells[at]) || (at > begin && cells[at].columns > 1)) place = at;
    used += cells[at].columns;
    if (used <= columns || at == begin) continue;
    if (place == begin) return {at, at};
    return {place, place + (is_space(cells[place]) ? 1 : 0)};
  }
  return {cells.size(), cells.size()};
}

}  // namespace

void add_cells(Cells& cells, std::string_view text, Style style) {
  while (!text.empty()) {
    const std::size_t length = utf8_step(text).length;
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    if (character == "\t") {
      cells.push_back({" ", 1, style});
      continue;
    }
    const std::size_t columns = columns_of(character);
    const bool joins = columns == 0 && character != "\n" && !cells.empty() && cells.back().text != "\n" &&
                       cells.back().text.size() < kMostBytes;
    if (joins) {
      cells.back().text += character;
      cells.back().columns = columns_of(cells.back().text);
    } else {
      cells.push_back({std::string(character), character == "\n" ? 0 : columns, style});
    }
  }
}

std::size_t width_of(const Cells& cells) {
  std::size_t columns = 0;
  for (const Cell& cell : cells) columns += cell.columns;
  return columns;
}

std::vector<Cells> broken(const Cells& cells, std::size_t columns) {
  std::vector<Cells> lines;
  for (std::size_t begin = 0; begin < cells.size();) {
    while (begin < cells.size() && is_space(cells[begin])) ++begin;
    auto [end, next] = end_of_line(cells, begin, std::max<std::size_t>(columns, 1));
    while (end > begin && is_space(cells[end - 1])) --end;
    lines.emplace_back(cells.begin() + static_cast<std::ptrdiff_t>(begin),
                       cells.begin() + static_cast<std::ptrdiff_t>(end));
    begin = next;
  }
  return lines;
}

std::string styled(const Cells& cells) {
  std::string out;
  Style now = 0;
  for (const Cell& cell : cells) {
    if (cell.style != now) {
      if (now != 0) out += kNoStyle;
      for (const auto& [style, sequence] : kSequences) {
        if ((cell.style & style) != 0) out += sequence;
      }
      now = cell.style;
    }
    out += cell.text;
  }
  if (now != 0) out += kNoStyle;
  return out;
}

}  // namespace praxis::cli
