#include "app/call_text.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "app/call_arguments.hpp"
#include "app/plain_text.hpp"
#include "base/columns.hpp"
#include "base/utf8.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kBar = "  | ", kText = "  | > ", kNote = "  | ~ ", kContinued = "  | \\ ";
constexpr std::string_view kCut = "\\...";  ///< cannot occur in a value, where backslashes are escapes
constexpr std::size_t kLeastColumns = 24;
constexpr std::size_t kMostRows = 5;   ///< of one argument that decides, while others need room
constexpr std::size_t kOtherRows = 3;  ///< of another argument
constexpr std::size_t kFixedRows = 2;  ///< the name of the tool, and a line about hidden arguments

/// The start of a text of printable characters, in at most `columns` columns. A space does not end it,
/// because it could not be seen there.
std::string_view head_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0, used = 0;
  while (at < text.size()) {
    const std::size_t length = text[at] >= 0 ? 1 : utf8_step(text.substr(at)).length;
    used += text[at] >= 0 ? 1 : most_columns_of(text.substr(at, length));
    if (used > columns) break;
    at += length;
  }
  const std::string_view head = text.substr(0, at);
  if (at == text.size()) return head;
  const std::size_t last = head.find_last_not_of(' ');
  return last == std::string_view::npos ? head : head.substr(0, last + 1);
}

/// The end of a text, in at most `columns` columns.
std::string_view tail_of(std::string_view text, std::size_t columns) {
  std::size_t at = text.size(), used = 0;
  while (at > 0) {
    std::size_t start = at - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U) --start;
    used += most_columns_of(text.substr(start, at - start));
    if (used > columns) break;
    at = start;
  }
  return text.substr(at);
}

/// The start and the end of a text on one line.
std::string squeezed(std::string_view text, std::size_t columns) {
  if (most_columns_of(text) <= columns) return std::string(text);
  const std::size_t room = columns - kCut.size(), tail = room / 3;
  return std::string(head_of(text, room - tail)).append(kCut).append(tail_of(text, tail));
}

/// Breaks a line to the width.
void break_line(const ShownLine& line, std::size_t columns, std::vector<std::string>& rows) {
  const std::string_view prefix = line.is_text ? kText : line.is_note ? kNote : kBar;
  break_text(line.shown, prefix, kContinued, columns, rows);
}

/// An argument, broken into rows.
struct Block {
  const ShownArgument* argument;
  std::vector<std::string> rows;
  std::size_t shown = 0;  ///< how many rows it may have
};

/// Writes the rows that a block may have: its start, a note on what is left out, its end.
void add_block(const Block& block, std::size_t columns, std::string& text) {
  const auto& rows = block.rows;
  const auto add = [&](std::string_view row) { text.append(row).append("\n"); };
  if (block.shown == 0) return;
  if (block.shown >= rows.size()) {
    std::ranges::for_each(rows, add);
    return;
  }
  if (block.shown == 1)
    return add(std::string(kBar) + squeezed(block.argument->lines.front().shown, columns - kBar.size()));
  const std::size_t tail = (block.shown - 1) / 3, head = block.shown - 1 - tail;
  std::for_each(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(head), add);
  add(std::string(kBar) + "... " + std::to_string(block.argument->bytes) + " bytes, digest " +
      block.argument->digest);
  std::for_each(rows.end() - static_cast<std::ptrdiff_t>(tail), rows.end(), add);
}

/// Divides the rows of the screen among the arguments: at least one for each that decides, then for the
/// others as far as there are any, then what is left in the order of importance.
void divide(std::vector<Block>& blocks, std::size_t rows) {
  const auto deciding = static_cast<std::size_t>(
      std::ranges::count_if(blocks, [](const Block& block) { return block.argument->decides; }));
  std::size_t left = rows - std::min(rows, kFixedRows);
  const std::size_t share = std::clamp<std::size_t>(left / std::max<std::size_t>(deciding, 1), 1, kMostRows);
  for (Block& block : blocks) {
    const std::size_t most = block.argument->decides ? share : kOtherRows;
    block.shown = std::min({block.rows.size(), most, left});
    left -= block.shown;
  }
  for (Block& block : blocks) {
    const std::size_t more = std::min(block.rows.size() - block.shown, left);
    block.shown += more;
    left -= more;
  }
}

std::vector<Block> blocks_of(const std::vector<ShownArgument>& arguments, std::size_t columns) {
  std::vector<Block> blocks;
  for (const ShownArgument& argument : arguments) {
    Block& block = blocks.emplace_back(Block{&argument, {}, 0});
    for (const ShownLine& line : argument.lines) break_line(line, columns, block.rows);
    block.shown = block.rows.size();
  }
  return blocks;
}

}  // namespace

void break_text(std::string_view text, std::string_view prefix, std::string_view continued,
                std::size_t columns, std::vector<std::string>& rows) {
  columns = std::max(columns, kLeastColumns);
  if (text.empty()) rows.emplace_back(prefix.substr(0, prefix.size() - 1));
  while (!text.empty()) {
    const std::string_view head = head_of(text, columns - prefix.size());
    rows.push_back(std::string(prefix).append(head));
    text.remove_prefix(head.size());
    prefix = continued;
  }
}

CallView call_view(std::string_view tool, std::string_view arguments, std::size_t columns, std::size_t rows) {
  columns = std::max(columns, kLeastColumns);
  const std::vector<ShownArgument> shown = shown_arguments(tool, arguments);
  std::vector<Block> blocks = blocks_of(shown, columns);
  const std::size_t all =
      std::accumulate(blocks.begin(), blocks.end(), std::size_t{1},
                      [](std::size_t sum, const Block& block) { return sum + block.rows.size(); });
  CallView view;
  view.cut = rows != 0 && all > rows;
  if (view.cut) divide(blocks, rows);
  view.text = std::string(kBar) + squeezed("call " + exact(tool), columns - kBar.size()) + '\n';
  for (const Block& block : blocks) add_block(block, columns, view.text);
  const auto hidden = std::ranges::count(blocks, std::size_t{0}, &Block::shown);
  if (hidden > 0) view.text.append(kBar).append("... and " + std::to_string(hidden) + " more arguments\n");
  return view;
}

CallView call_line(std::string_view tool, std::string_view arguments, std::size_t columns) {
  std::string line = exact(tool);
  bool cut = false;
  for (const ShownArgument& argument : shown_arguments(tool, arguments)) {
    line += "  " + argument.lines.front().shown;
    for (const ShownLine& each : argument.lines) {
      if (each.is_note) line.append(" ~ ").append(each.shown);
    }
    cut = cut || argument.lines.size() > 1;
  }
  cut = cut || most_columns_of(line) > columns;
  return {squeezed(line, std::max(columns, kLeastColumns)), cut};
}

std::string prefixed_lines(std::string_view prefix, std::string_view text, std::size_t columns,
                           std::size_t rows) {
  columns = std::max(columns, kLeastColumns);
  std::string out;
  for (std::size_t row = 1;; ++row) {
    const std::size_t end = text.find('\n');
    const std::string line = exact(text.substr(0, end));
    std::string_view rest = line;
    do {
      const std::string_view head = head_of(rest, columns - prefix.size() - kCut.size());
      rest.remove_prefix(head.size());
      const bool is_last = row == rows && (!rest.empty() || end != std::string_view::npos);
      out.append(prefix).append(head).append(is_last ? kCut : "").append("\n");
      if (is_last) return out;
      if (!rest.empty()) ++row;
    } while (!rest.empty());
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace praxis::app
