// A step that waits for the user, as a card of a chat: what would run, or the question, and what the user may
// answer. A call can be allowed only after all of it was on the screen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/always_rules.hpp"
#include "praxis/core/records.hpp"
#include "tui/chat_view.hpp"

namespace praxis::tui {

/// What a key or a typed line on a card leads to.
struct CardAnswer {
  enum class Kind : std::uint8_t {
    kNothing,
    kDecide,    ///< with `approval`
    kEdit,      ///< the arguments in the user's editor
    kPrint,     ///< `text` into the scrollback
    kSaveRule,  ///< save the rule, then allow
    kUseRule,   ///< allow, and by the rule for as long as the chat lasts
    kEditRule,  ///< the rule in the user's editor, then `change_rule`
    kLater,     ///< leaves the step open
    kHint       ///< `text` tells the user what is possible
  };
  Kind kind = Kind::kNothing;
  Approval approval = {};
  std::string text = {};
};

class StepCard {
 public:
  /// `always`: the rule that would allow this call from now on, if there can be one. `changes`: what the call
  /// would change in a file (`app::ChangePreview`).
  StepCard(ParkedStep step, std::optional<app::AlwaysRule> always, std::vector<std::string> changes = {})
      : step_(std::move(step)), narrow_(always), always_(std::move(always)), changes_(std::move(changes)) {}

  const ParkedStep& step() const { return step_; }
  const std::optional<app::AlwaysRule>& always() const { return always_; }
  /// Replaces the rule by what the user made of it. Returns the text that states it. Errors as
  /// `app::edited_rule`.
  Result<std::string> change_rule(std::string_view text, std::size_t columns);

  /// The card in lines of at most `columns`. `rows`: as many lines as there is room for; a longer call is not
  /// shown in part, but must be printed first.
  std::vector<std::string> lines(std::size_t columns, std::size_t rows, bool focused,
                                 const Styles& styles) const;
  /// The step in one line of at most `columns`, for a list of several.
  std::string summary(std::size_t columns) const;
  /// Whether the user types a text: an answer, a reason or a result.
  bool takes_text() const;
  /// What that text is, for the user.
  std::string label() const;
  /// A letter of the menu, and what was typed after it.
  CardAnswer choose(char letter, const std::string& rest, std::size_t columns, std::size_t rows);
  /// The text that `takes_text` asks for.
  CardAnswer typed(const std::string& text);
  /// Goes back to the menu. False if the card shows it already.
  bool back();

 private:
  enum class Phase : std::uint8_t { kMenu, kReason, kResult, kRule };

  bool is_question() const { return step_.kind == ParkKind::kQuestion; }
  bool unseen(std::size_t columns, std::size_t rows) const;
  std::string overview(std::size_t columns) const;
  std::string whole(std::size_t columns) const;
  std::string menu(std::size_t columns, std::size_t rows) const;

  ParkedStep step_;
  std::optional<app::AlwaysRule> narrow_, always_;  ///< as it was, and as the user changed it
  std::vector<std::string> changes_;
  Phase phase_ = Phase::kMenu;
  bool printed_ = false;  ///< all of it is in the scrollback
};

}  // namespace praxis::tui
