// The messages that wait, at a terminal that can be redrawn.
#include <string>
#include <utility>

#include "tui/live_chat.hpp"

namespace praxis::tui {

/// Shows the list if the last command asked for it.
void LiveChat::open_queue() {
  if (!conversation_.take_queue_wish()) return;
  completing_.reset();
  queue_.emplace();
  follow_queue();
}

void LiveChat::follow_queue() {
  queue_->follow(conversation_.waiting());
  if (queue_->marked() == nullptr) queue_.reset();
}

void LiveChat::press_on_queue(const Key& key) {
  using Outcome = QueueList::Outcome;
  const Outcome outcome = queue_->press(key);
  if (outcome == Outcome::kOpen) return;
  if (outcome == Outcome::kLeft) return queue_.reset();
  const WaitingMessage message = *queue_->marked();
  if (outcome == Outcome::kUp || outcome == Outcome::kDown) {
    print(conversation_.move(message.id, outcome == Outcome::kUp));
    return;
  }
  if (outcome == Outcome::kWithdraw) {
    if (take_back(message, "")) composer_.remember(message.text);
    return;
  }
  queue_.reset();
  take_back(message, message.text);
}

/// Takes a message back and puts `text` before what is written. The draft has the text before the log says
/// that the message is gone: a crash in between leaves it in both, never in neither.
bool LiveChat::take_back(const WaitingMessage& message, std::string_view text) {
  std::string draft(text);
  if (!composer_.empty()) draft += (draft.empty() ? "" : "\n") + composer_.text();
  drafts_.save(conversation_.is_recorded() ? conversation_.id().str() : Drafts::key_of_new(), draft);
  const Status done = conversation_.withdraw(message);
  if (done) {
    if (!text.empty()) composer_.set(draft);
  } else {
    print(conversation_.failure(done.error()));
  }
  keep_draft();
  return done.has_value();
}

/// Alt-Up: the message next to the composer comes back into it.
void LiveChat::edit_last_waiting() {
  const auto waiting = conversation_.waiting();
  if (waiting.empty()) {
    hint_ = "no message waits";
    return;
  }
  if (!lends_composer_) take_back(waiting.back(), waiting.back().text);
}

}  // namespace praxis::tui
