#include "tui/choice_list.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/plain_text.hpp"
#include "base/columns.hpp"
#include "tui/fuzzy_match.hpp"

namespace praxis::tui {

ChoiceList::ChoiceList(std::vector<Choice> all) : all_(std::move(all)) { narrow(""); }

void ChoiceList::narrow(std::string_view typed) {
  constexpr int kLess = 1000;  // a match in the detail is worth less than any in the label
  std::vector<std::pair<int, std::size_t>> scored;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto direct = fuzzy_score(typed, all_[i].label);
    const auto whole = direct ? direct : fuzzy_score(typed, all_[i].label + ' ' + all_[i].detail);
    if (!whole) continue;
    // Nothing typed: in their own order.
    const int points = typed.empty() ? 0 : direct ? *direct : *whole - kLess;
    scored.emplace_back(-points, i);
  }
  found_ = scored.size();
  mark_ = 0;
  const auto reached = static_cast<std::ptrdiff_t>(std::min(scored.size(), kMostShown));
  std::partial_sort(scored.begin(), scored.begin() + reached, scored.end());
  fitting_.clear();
  for (auto each = scored.begin(); each != scored.begin() + reached; ++each) fitting_.push_back(each->second);
}

void ChoiceList::move(std::ptrdiff_t by) {
  if (fitting_.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(fitting_.size()) - 1;
  mark_ =
      static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(mark_) + by, 0, last));
}

std::vector<std::string> ChoiceList::lines(std::size_t columns, std::size_t rows,
                                           const Styles& styles) const {
  std::vector<std::string> lines;
  const std::size_t first = mark_ >= rows ? mark_ - rows + 1 : 0;
  for (std::size_t i = first; i < std::min(fitting_.size(), first + rows); ++i) {
    const Choice& choice = all_[fitting_[i]];
    const bool is_marked = i == mark_;
    const std::string label = app::one_line(choice.label, columns > 2 ? columns - 2 : 1);
    std::string line = (is_marked ? "> " : "  ") + label;
    if (is_marked) line = styles.bold(line);
    const std::size_t used = columns_of(label) + 4;
    if (!choice.detail.empty() && used + 4 < columns)
      line += "  " + styles.dim(app::one_line(choice.detail, columns - used));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace praxis::tui
