#include "app/line_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "app/plain_text.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostCompared = 4'000'000;  ///< pairs of lines; beyond, texts are shown whole
constexpr std::size_t kAround = 2;                ///< unchanged lines shown before and after a change
constexpr std::size_t kAroundHunk = 3;            ///< the same in a unified diff
constexpr std::size_t kLongestLine = 2000;        ///< bytes of a line that a unified diff shows

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(exact(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// As `compare_lines`, for texts that differ at both ends.
template <class Line, class Give>
void compare_middle(std::span<const Line> before, std::span<const Line> after, const Give& give) {
  const std::size_t rows = before.size(), columns = after.size();
  if (rows * columns > kMostCompared || rows == 0 || columns == 0) {
    for (const Line& line : before) give('-', line);
    for (const Line& line : after) give('+', line);
    return;
  }
  // The longest common subsequence, by rows from the end: `common[i][j]` is its length for the two rests.
  std::vector<std::vector<std::uint32_t>> common(rows + 1, std::vector<std::uint32_t>(columns + 1));
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      common[i][j] =
          before[i] == after[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (i < rows && j < columns && before[i] == after[j]) {
      give(' ', after[j]);
      ++i, ++j;
    } else if (j == columns || (i < rows && common[i + 1][j] >= common[i][j + 1])) {
      give('-', before[i++]);
    } else {
      give('+', after[j++]);
    }
  }
}

/// Calls `give(mark, line)` for each line of both texts: ` ` if they share it, else `-` or `+`.
template <class Line, class Give>
void compare_lines(std::span<const Line> before, std::span<const Line> after, const Give& give) {
  const auto [differs, differs_too] = std::ranges::mismatch(before, after);
  const auto head = static_cast<std::size_t>(differs - before.begin());
  for (const Line& line : before.first(head)) give(' ', line);
  before = before.subspan(head);
  after = after.subspan(head);
  std::size_t tail = 0;
  while (tail < std::min(before.size(), after.size()) &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  compare_middle(before.first(before.size() - tail), after.first(after.size() - tail), give);
  for (const Line& line : before.last(tail)) give(' ', line);
}

/// The lines of a text, each with its newline.
std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// Where the hunk ends that begins at `at`; `at` if none does.
std::size_t hunk_end(const std::vector<std::pair<char, std::string_view>>& all, std::size_t at) {
  std::size_t end = at;
  const std::size_t reach = 2 * kAroundHunk + 1;
  for (std::size_t i = at; i < all.size() && i <= (end == at ? at + kAroundHunk : end - 1 + reach); ++i) {
    if (all[i].first != ' ') end = i + 1;
  }
  return end == at ? at : std::min(end + kAroundHunk, all.size());
}

/// `12,5` of a hunk header. An empty range is after the line before it.
std::string hunk_range(std::size_t line, std::size_t count) {
  return std::to_string(count == 0 ? line - 1 : line) + (count == 1 ? "" : ',' + std::to_string(count));
}

void add_diff_line(char mark, std::string_view line, LineForm form, std::vector<std::string>& lines) {
  const bool ends = line.ends_with('\n');
  if (ends) line.remove_suffix(1);
  const bool is_long = form == LineForm::kSafe && line.size() > kLongestLine;
  if (is_long) line = utf8_head(line, kLongestLine);
  lines.push_back(mark + (form == LineForm::kSafe ? exact(line) : std::string(line)) +
                  (is_long ? "\\..." : ""));
  if (!ends) lines.emplace_back("\\ no newline at the end");
}

}  // namespace

std::vector<std::string> marked_changes(const std::vector<std::string>& before,
                                        const std::vector<std::string>& after) {
  std::vector<std::string> lines;
  compare_lines(std::span(before), std::span(after),
                [&](char mark, const std::string& line) { lines.push_back(std::string{mark, ' '} + line); });
  return lines;
}

std::vector<std::string> changed_lines(std::string_view before, std::string_view after) {
  const auto all = marked_changes(lines_of(before), lines_of(after));
  std::vector<bool> shown(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].starts_with("  ")) continue;
    const std::size_t end = std::min(i + kAround + 1, all.size());
    for (std::size_t near = i - std::min(i, kAround); near < end; ++near) shown[near] = true;
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (shown[i]) lines.push_back(all[i]);
    if (!shown[i] && (i == 0 || shown[i - 1])) lines.emplace_back("  ...");
  }
  return lines;
}

UnifiedDiff unified_diff(std::string_view before, std::string_view after, LineForm form) {
  const std::vector<std::string_view> old_lines = whole_lines(before), new_lines = whole_lines(after);
  std::vector<std::pair<char, std::string_view>> all;
  compare_lines(std::span(old_lines), std::span(new_lines),
                [&](char mark, std::string_view line) { all.emplace_back(mark, line); });
  UnifiedDiff diff;
  std::size_t old_line = 1, new_line = 1;  // of all[at]
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = hunk_end(all, at);
    if (end == at) {
      ++at, ++old_line, ++new_line;
      continue;
    }
    const auto count = [&](char mark) {
      return static_cast<std::size_t>(std::count_if(all.begin() + static_cast<std::ptrdiff_t>(at),
                                                    all.begin() + static_cast<std::ptrdiff_t>(end),
                                                    [&](const auto& each) { return each.first == mark; }));
    };
    const std::size_t removed = count('-'), added = count('+'), same = end - at - removed - added;
    diff.lines.push_back("@@ -" + hunk_range(old_line, same + removed) + " +" +
                         hunk_range(new_line, same + added) + " @@");
    for (; at < end; ++at) add_diff_line(all[at].first, all[at].second, form, diff.lines);
    diff.removed += removed;
    diff.added += added;
    old_line += same + removed;
    new_line += same + added;
  }
  return diff;
}

}  // namespace praxis::app
