// The list of the messages that wait, in which the user edits, moves and withdraws them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "praxis/domain/command.hpp"
#include "tui/keys.hpp"
#include "tui/theme.hpp"

namespace praxis::tui {

/// When the message reaches the agent, its id and its text, in one line of at most `columns`.
std::string waiting_line(const WaitingMessage& message, std::size_t columns);

class QueueList {
 public:
  enum class Outcome : std::uint8_t { kOpen, kLeft, kEdit, kWithdraw, kUp, kDown };

  /// Takes what waits now. The mark stays at its message; if that is gone, at its place.
  void follow(std::vector<WaitingMessage> waiting);
  /// What a key does with the marked message.
  Outcome press(const Key& key);
  /// Null: nothing waits.
  const WaitingMessage* marked() const { return mark_ < waiting_.size() ? &waiting_[mark_] : nullptr; }
  /// In at most `rows` lines, safe to display.
  std::vector<std::string> lines(std::size_t columns, std::size_t rows, const Styles& styles) const;

 private:
  std::vector<WaitingMessage> waiting_;
  std::size_t mark_ = 0;
};

}  // namespace praxis::tui
