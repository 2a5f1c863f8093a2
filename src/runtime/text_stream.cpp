#include "praxis/runtime/text_stream.hpp"

#include <string>
#include <utility>

#include "runtime/observers.hpp"

namespace praxis {

/// The current piece of text and the queue of events.
struct TextStream::Position {
  std::shared_ptr<EventQueue> events;
  SessionId session;
  std::string piece = {};
  bool ended = false;
  bool in_deltas = false;  ///< the current text part has already been given as deltas

  void next() {
    while (auto event = events->pop()) {
      // Before its first message, a team has no session yet.
      if (session.empty() ? event->agent.depth != 0 : event->agent.id != session) continue;
      if (auto* delta = std::get_if<events::TextDelta>(&event->body)) {
        in_deltas = true;
        piece = std::move(delta->text);
        return;
      }
      if (auto* whole = std::get_if<events::AssistantText>(&event->body)) {
        if (in_deltas || whole->text.empty()) continue;
        piece = std::move(whole->text);
        return;
      }
      if (std::holds_alternative<events::ModelRequested>(event->body)) in_deltas = false;
    }
    ended = true;
  }
};

TextStream::TextStream(std::shared_ptr<EventQueue> events, SessionId session)
    : position_(std::make_shared<Position>(Position{std::move(events), std::move(session)})) {}

std::string_view TextStream::Iterator::operator*() const { return stream_->position_->piece; }

TextStream::Iterator& TextStream::Iterator::operator++() {
  stream_->position_->next();
  return *this;
}

bool TextStream::Iterator::operator==(std::default_sentinel_t) const { return stream_->position_->ended; }

}  // namespace praxis
