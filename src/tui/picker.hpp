// Lets the user search a list and choose one line of it with the keys of a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "tui/choice_list.hpp"
#include "tui/keys.hpp"

namespace praxis::tui {

/// The list with what is typed to search it. Pure.
class Picker {
 public:
  enum class Outcome : std::uint8_t { kOpen, kChosen, kLeft };

  /// `title` says what is chosen, such as `Open which run?`.
  Picker(std::string title, std::vector<Choice> choices)
      : title_(std::move(title)), list_(std::move(choices)) {}

  Outcome press(const Key& key);
  /// What `kChosen` means; null if nothing fits.
  const Choice* chosen() const { return list_.marked(); }
  /// In at most `rows` lines, safe to display: the title, the matches, the text that is typed.
  std::vector<std::string> lines(std::size_t columns, std::size_t rows, const Styles& styles) const;

 private:
  std::string title_;
  ChoiceList list_;
  std::string typed_;
};

/// Shows a picker at the terminal of standard input and output until the user chooses; removes it then. The
/// value of the choice; nothing: the user chose none. Errors as `RawTerminal::open`.
Result<std::optional<std::string>> pick_at_terminal(Picker picker, const Styles& styles);

}  // namespace praxis::tui
