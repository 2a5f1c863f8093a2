#include "praxis/base/suggest.hpp"

#include <algorithm>
#include <vector>

#include "base/ascii.hpp"

namespace praxis {

namespace {

// Longer names are not typing errors; the limit also bounds the work.
constexpr std::size_t kMaxLength = 64;

// How many letters must be changed, inserted, deleted or swapped with their neighbour; ignores case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = lower_case(a[i - 1]), y = lower_case(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)});
      const bool swapped = i > 1 && j > 1 && x == lower_case(b[j - 2]) && lower_case(a[i - 2]) == y;
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> closest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > kMaxLength) return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance =
      std::max<std::size_t>(1, name.size() / 3) + 1;  // the first distance that is too large
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxLength) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best_distance || distance >= candidate.size()) continue;
    best = &candidate;
    best_distance = distance;
  }
  return best ? std::optional(*best) : std::nullopt;
}

}  // namespace praxis
