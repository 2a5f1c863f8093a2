#include "app/line_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "app/plain_text.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostCompared = 4'000'000;  ///< pairs of lines; beyond, texts are shown whole
constexpr std::size_t kAround = 2;                ///< unchanged lines shown before and after a change

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(exact(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::vector<std::string> marked_changes(const std::vector<std::string>& before,
                                        const std::vector<std::string>& after) {
  std::vector<std::string> lines;
  if (before.size() * after.size() > kMostCompared) {
    for (const std::string& line : before) lines.push_back("- " + line);
    for (const std::string& line : after) lines.push_back("+ " + line);
    return lines;
  }
  // The longest common subsequence, by rows from the end: `common[i][j]` is its length for the two rests.
  const std::size_t rows = before.size(), columns = after.size();
  std::vector<std::vector<std::uint32_t>> common(rows + 1, std::vector<std::uint32_t>(columns + 1));
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      common[i][j] =
          before[i] == after[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (i < rows && j < columns && before[i] == after[j]) {
      lines.push_back("  " + after[j]);
      ++i, ++j;
    } else if (j == columns || (i < rows && common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back("- " + before[i++]);
    } else {
      lines.push_back("+ " + after[j++]);
    }
  }
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

}  // namespace praxis::app
