// What the user of a chat chooses from: completions of a word, and lists to search.
#include <algorithm>
#include <utility>

#include "tui/live_chat.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostCompletions = 8;

}  // namespace

// ---- completion -------------------------------------------------------------------------------------------

/// Offers completions while a word is typed that can be completed, and not when the cursor only passes it.
void LiveChat::begin_completion(const Key& key) {
  const bool types = key.kind == KeyKind::kText || (key.kind == KeyKind::kBackspace && completing_);
  if (!types || lends_composer_) {
    completing_.reset();
    return;
  }
  auto word = completed_word(composer_.before_cursor());
  if (!word) {
    completing_.reset();
    return;
  }
  if (!completing_ || completing_->word.begin != word->begin || completing_->word.kind != word->kind) {
    completing_.emplace(Completing{});
    if (word->kind == CompletedKind::kFile) names_->refresh();
  }
  completing_->word = *std::move(word);
  completing_->moved = completing_->is_narrowed = false;
  complete_typed();
}

/// Narrows the list to what is typed; takes the names of files when they have been found.
void LiveChat::complete_typed() {
  Completing& now = *completing_;
  if (now.word.kind == CompletedKind::kCommand) {
    if (auto commands = conversation_.command_choices(); commands != now.commands) {
      now.commands = std::move(commands);
      now.list = ChoiceList(*now.commands);
      now.is_narrowed = false;
    }
  } else if (const auto names = names_->names(); names != nullptr && names != now.names) {
    now.names = names;
    now.list = ChoiceList(file_choices(*names));
    now.is_narrowed = false;
  }
  if (!std::exchange(now.is_narrowed, true)) now.list.narrow(now.word.typed);
}

std::vector<std::string> LiveChat::completion_lines(std::size_t wide) const {
  if (!completing_) return {};
  return completing_->list.lines(wide, std::min(kMostCompletions, size_.rows / 3 + 1), styles_);
}

/// Whether a key belongs to the completions: Tab takes the marked one, and so does Enter after Up or Down.
bool LiveChat::press_on_completion(const Key& key) {
  if (!completing_ || completing_->list.marked() == nullptr) return false;
  switch (key.kind) {
    case KeyKind::kUp:
    case KeyKind::kDown:
      completing_->list.move(key.kind == KeyKind::kDown ? 1 : -1);
      completing_->moved = true;
      return true;
    case KeyKind::kEscape:
      completing_.reset();
      return true;
    case KeyKind::kEnter:
      if (!completing_->moved) break;
      [[fallthrough]];
    case KeyKind::kTab: {
      const Completing taken = *std::exchange(completing_, std::nullopt);
      const std::string& value = taken.list.marked()->value;
      composer_.replace_before_cursor(
          taken.word.begin, taken.word.kind == CompletedKind::kFile ? file_word(value) : '/' + value + ' ');
      return true;
    }
    default:
      return false;
  }
  completing_.reset();
  return false;
}

// ---- lists to search --------------------------------------------------------------------------------------

/// Shows what the last command offers, if it offers anything.
void LiveChat::open_picker() {
  auto offer = conversation_.take_offer();
  if (!offer) return;
  completing_.reset();
  Picker picker(offer->title, offer->choices);
  picking_.emplace(Picking{*std::move(offer), std::move(picker)});
}

void LiveChat::press_on_picker(const Key& key) {
  const Picker::Outcome outcome = picking_->picker.press(key);
  if (outcome == Picker::Outcome::kOpen) return;
  const Picking picked = *std::exchange(picking_, std::nullopt);
  if (outcome == Picker::Outcome::kChosen)
    print(conversation_.choose(picked.offer, *picked.picker.chosen(), columns()));
}

}  // namespace praxis::tui
