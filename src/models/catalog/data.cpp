#include "models/catalog/data.hpp"

#include <algorithm>

#include "base/embed.hpp"

PRAXIS_EMBED(kPraxisCatalogBegin, kPraxisCatalogEnd, PRAXIS_SOURCE_DIR "/share/praxis/catalog.jsonl");
PRAXIS_EMBED(kPraxisProvidersBegin, kPraxisProvidersEnd, PRAXIS_SOURCE_DIR "/share/praxis/providers.jsonl");

namespace praxis {
namespace {

/// Offset of the line that contains `at`.
std::size_t line_begin(std::string_view lines, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : lines.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

std::size_t next_line(std::string_view lines, std::size_t begin) {
  return std::min(lines.find('\n', begin), lines.size() - 1) + 1;
}

/// Offset of the first line whose first `length` bytes do not satisfy `is_before`. The lines are sorted.
template <class Before>
std::size_t partition(std::string_view lines, std::size_t length, Before is_before) {
  std::size_t low = 0, high = lines.size();
  while (low < high) {
    const std::size_t middle = line_begin(lines, low + (high - low) / 2);
    if (is_before(lines.substr(middle, length))) {
      low = next_line(lines, middle);
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

std::string_view catalog_lines() { return {kPraxisCatalogBegin, kPraxisCatalogEnd}; }
std::string_view provider_lines() { return {kPraxisProvidersBegin, kPraxisProvidersEnd}; }

std::string_view lines_beginning(std::string_view lines, std::string_view prefix) {
  const auto first = partition(lines, prefix.size(), [&](std::string_view line) { return line < prefix; });
  const auto last = partition(lines, prefix.size(), [&](std::string_view line) { return line <= prefix; });
  return lines.substr(first, last - first);
}

std::string_view take_line(std::string_view& lines) {
  const std::size_t end = std::min(lines.find('\n'), lines.size());
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(std::min(end + 1, lines.size()));
  return line;
}

}  // namespace praxis
