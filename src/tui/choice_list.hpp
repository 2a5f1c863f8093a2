// A list from which the user chooses one: what is typed narrows it, the best matches stand first. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tui/chat_view.hpp"

namespace praxis::tui {

/// One line of the list. The texts may come from anywhere; they are made safe when they are shown.
struct Choice {
  std::string value;   ///< what choosing it means
  std::string label;   ///< what is matched and shown
  std::string detail;  ///< shown after it, dim, and matched too if `label` does not fit
};

class ChoiceList {
 public:
  static constexpr std::size_t kMostShown = 200;  ///< matches that can be reached

  ChoiceList() = default;
  explicit ChoiceList(std::vector<Choice> all);

  /// Keeps those that fit what was typed; the marked one is the best.
  void narrow(std::string_view typed);
  /// Moves the mark; it stops at both ends.
  void move(std::ptrdiff_t by);
  /// The marked one; null: nothing fits.
  const Choice* marked() const { return fitting_.empty() ? nullptr : &all_[fitting_[mark_]]; }
  std::size_t size() const { return all_.size(); }
  /// How many fit, also those that cannot be reached.
  std::size_t found() const { return found_; }

  /// The matches around the mark in at most `rows` lines of at most `columns`.
  std::vector<std::string> lines(std::size_t columns, std::size_t rows, const Styles& styles) const;

 private:
  std::vector<Choice> all_;
  std::vector<std::size_t> fitting_;  ///< indexes, the best first
  std::size_t found_ = 0;
  std::size_t mark_ = 0;
};

}  // namespace praxis::tui
