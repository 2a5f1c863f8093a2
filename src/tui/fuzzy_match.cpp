#include "tui/fuzzy_match.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace praxis::tui {
namespace {

constexpr std::size_t kMostWanted = 64, kMostMatched = 512;  ///< bytes
constexpr int kNone = std::numeric_limits<int>::min() / 2;
constexpr int kMatch = 4, kNext = 8, kWordBegin = 7, kInName = 2;
constexpr int kBytesPerPoint = 12;  ///< of a longer text

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool separates(char c) { return c == '/' || c == '_' || c == '-' || c == '.' || c == ' ' || c == ':'; }

/// What a match at a place of the text is worth.
int worth(std::string_view text, std::size_t at, std::size_t name) {
  int points = kMatch;
  const bool begins_word = at == 0 || separates(text[at - 1]);
  const bool is_hump =
      at > 0 && text[at] >= 'A' && text[at] <= 'Z' && text[at - 1] >= 'a' && text[at - 1] <= 'z';
  if (begins_word || is_hump) points += kWordBegin;
  if (at >= name) points += kInName;
  return points;
}

/// The best points of one word in the text; `kNone`: it is not there.
int best_points(std::string_view word, std::string_view text) {
  const auto slash = text.rfind('/');
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  // The best sum whose last match is at a place, and the best of those up to a place.
  std::array<int, kMostMatched> last{}, before{};
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::array<int, kMostMatched> next{};
    int so_far = kNone;  // the best of the letters before `i`, up to two places before
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (at > 1) so_far = std::max(so_far, before.at(at - 2));
      int from = i == 0 ? 0 : so_far;
      if (i > 0 && at > 0 && last.at(at - 1) > kNone) from = std::max(from, last.at(at - 1) + kNext);
      const bool fits = from > kNone && lowered(text[at]) == lowered(word[i]);
      next.at(at) = fits ? from + worth(text, at, name) : kNone;
    }
    last = before = next;
  }
  return *std::max_element(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace

std::optional<int> fuzzy_score(std::string_view wanted, std::string_view text) {
  wanted = wanted.substr(0, kMostWanted);
  if (text.size() > kMostMatched) text.remove_prefix(text.size() - kMostMatched);
  int points = -static_cast<int>(text.size()) / kBytesPerPoint;
  while (!wanted.empty()) {
    const std::size_t end = std::min(wanted.find(' '), wanted.size());
    const std::string_view word = wanted.substr(0, end);
    wanted.remove_prefix(std::min(end + 1, wanted.size()));
    if (word.empty()) continue;
    // Most texts do not fit at all: found out without the table.
    std::size_t at = 0;
    for (const char c : word) {
      while (at < text.size() && lowered(text[at]) != lowered(c)) ++at;
      if (at++ >= text.size()) return std::nullopt;
    }
    points += best_points(word, text);
  }
  return points;
}

}  // namespace praxis::tui
