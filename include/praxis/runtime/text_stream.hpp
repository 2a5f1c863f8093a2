// The text of a turn, piece by piece, while the model is writing it.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>

#include "praxis/base/ids.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class EventQueue;

/// A range over the text that the agent's own model writes in one turn: deltas as they arrive, or whole parts
/// if the model sends no deltas. The text of sub-agents is left out. Ends with the turn, or when the turn is
/// parked. It takes the events that it reads from the `Run` that it was made from. For one thread.
class TextStream {
 public:
  /// Of the turns of `session` among `events`.
  TextStream(std::shared_ptr<EventQueue> events, SessionId session);

  /// Input iterator; a piece is valid until the iterator is incremented. Incrementing waits for the next
  /// piece.
  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit Iterator(TextStream* stream) : stream_(stream) { ++*this; }
    std::string_view operator*() const;
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const;

   private:
    TextStream* stream_;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  struct Position;
  std::shared_ptr<Position> position_;
};

}  // namespace praxis
#pragma GCC visibility pop
