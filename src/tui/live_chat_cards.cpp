// The steps that wait for the user of a chat on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/always_rules.hpp"
#include "app/pretty_json.hpp"
#include "base/columns.hpp"
#include "praxis/json/json.hpp"
#include "tui/live_chat.hpp"

namespace praxis::tui {
namespace {

using namespace std::chrono_literals;

/// A card takes the keys only if the user is not typing: a letter must not be taken for a decision.
constexpr auto kPause = 1500ms;
constexpr std::size_t kMostCardsListed = 6;

}  // namespace

/// The step that is shown: the one that the user went to, or the oldest.
StepCard* LiveChat::card() {
  auto& cards = conversation_.cards();
  if (cards.empty()) return nullptr;
  const auto found = std::ranges::find(cards, card_id_, [](const StepCard& each) { return each.step().id; });
  return found == cards.end() ? &cards.front() : &*found;
}

/// All steps that wait, if there are several.
std::vector<std::string> LiveChat::card_list(std::size_t wide) {
  const auto& cards = conversation_.cards();
  std::vector<std::string> lines;
  if (cards.size() < 2) return lines;
  const StepCard* shown = card();
  std::size_t at = 0;
  while (&cards[at] != shown) ++at;
  const std::size_t first = at >= kMostCardsListed ? at - kMostCardsListed + 1 : 0;
  const std::size_t end = std::min(cards.size(), first + kMostCardsListed);
  lines.push_back(styles_.warning(cut_to(
      fmt::format("{} steps wait for you{}", cards.size(), focused_ ? "; Up and Down go to another:" : ":"),
      wide)));
  for (std::size_t i = first; i < end; ++i) {
    const std::string line = cards[i].summary(wide > 2 ? wide - 2 : 1);
    lines.push_back(i == at ? styles_.bold("> " + line) : styles_.dim("  " + line));
  }
  if (end < cards.size()) lines.push_back(styles_.dim(fmt::format("  and {} more", cards.size() - end)));
  return lines;
}

/// Goes to the step before or after the one that is shown.
void LiveChat::go_to_card(bool next) {
  auto& cards = conversation_.cards();
  std::size_t at = 0;
  while (&cards[at] != card()) ++at;
  if (next ? at + 1 == cards.size() : at == 0) return;
  if (lends_composer_) take_composer_back();
  card_id_ = cards[next ? at + 1 : at - 1].step().id;
  focus(true);
}

/// A new card takes the keys if the user has not typed anything lately; a decided one gives them back.
void LiveChat::look_at_cards() {
  const ParkId top = card() == nullptr ? ParkId() : card()->step().id;
  if (top == card_id_) return;
  card_id_ = top;
  if (lends_composer_) take_composer_back();
  focused_ = false;
  if (card() == nullptr) return;
  write("\a");
  if (composer_.empty() && !tree_keys_ && Clock::now() - last_key_ > kPause) focus(true);
}

void LiveChat::take_composer_back() {
  lends_composer_ = false;
  composer_.set(std::exchange(own_text_, {}), own_kind_);
  shell_ready_ = false;  // it is another text
  last_read_ = Clock::now();
}

void LiveChat::focus(bool on) {
  focused_ = on;
  if (lends_composer_) take_composer_back();
  lends_composer_ = on && card()->takes_text();
  if (!lends_composer_) return;
  own_text_ = composer_.text();
  own_kind_ = composer_.kind();
  composer_.clear();
}

void LiveChat::press_on_card(const Key& key) {
  if (key.kind == KeyKind::kEscape) {
    if (!card()->back()) focus(false);
    return;
  }
  if (key.kind == KeyKind::kUp || key.kind == KeyKind::kDown) return go_to_card(key.kind == KeyKind::kDown);
  if (key.kind != KeyKind::kText) return;
  carry_out(card()->choose(key.text.front(), "", columns(), card_rows()));
}

void LiveChat::carry_out(const CardAnswer& answer) {
  using Kind = CardAnswer::Kind;
  switch (answer.kind) {
    case Kind::kDecide:
      return print(conversation_.decide(*card(), answer.approval));
    case Kind::kSaveRule:
      return print(conversation_.decide_always(*card(), RuleLife::kSaved));
    case Kind::kUseRule:
      return print(conversation_.decide_always(*card(), RuleLife::kChat));
    case Kind::kEdit:
      return edit_call();
    case Kind::kEditRule:
      edit_rule();
      break;
    case Kind::kPrint:
      print(answer.text);
      break;
    case Kind::kHint:
      hint_ = answer.text;
      break;
    case Kind::kLater:
      return focus(false);
    case Kind::kNothing:
      break;
  }
  if (focused_ && card()->takes_text() != lends_composer_) focus(true);
}

Result<std::string> LiveChat::in_editor(std::string_view text, std::string_view suffix) {
  write(region_.remove());
  terminal_.leave();
  auto edited = setup_.edit(text, suffix);
  terminal_.enter();
  region_.forget();
  return edited;
}

void LiveChat::edit_rule() {
  const auto text = in_editor(app::rule_to_edit(*card()->always()), ".json");
  const auto shown = text ? card()->change_rule(*text, columns()) : Result<std::string>(fail(text.error()));
  if (shown) {
    print(*shown);
  } else {
    hint_ = shown.error().message;
  }
}

void LiveChat::edit_call() {
  const auto before = parse_json(card()->step().arguments);
  const auto text = in_editor(before ? app::pretty_json(*before) : card()->step().arguments, ".json");
  const auto arguments = text ? parse_json(*text) : Result<Json>(fail(text.error()));
  if (!arguments) {
    hint_ = arguments.error().message;
  } else if (before && *before == *arguments) {
    hint_ = "nothing was changed";
  } else {
    print(conversation_.decide(*card(), edit(to_json_text(*arguments))));
  }
}

}  // namespace praxis::tui
