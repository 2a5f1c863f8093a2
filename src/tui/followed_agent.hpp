// The conversation of one agent below the run of a chat, while the user looks at it: what happened, and what
// happens. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"

namespace praxis::tui {

class FollowedAgent {
 public:
  static constexpr std::size_t kMostKept = std::size_t{64} << 10U;  ///< bytes; older lines are dropped

  explicit FollowedAgent(SessionId id) : id_(std::move(id)) {}

  const SessionId& id() const { return id_; }
  /// Takes an event of the log, before the first `show`.
  void show_past(const Event& event);
  /// Takes an event as it happens. Ignores those of other agents, and those that the log had already.
  void show(const Event& event);
  /// The rows that end `above` rows before the last one, at most `rows` of at most `columns`, safe to
  /// display.
  std::vector<std::string> lines(std::size_t columns, std::size_t rows, std::size_t above) const;

 private:
  void take(const Event& event);
  void add(std::string_view text);

  const SessionId id_;
  std::uint64_t past_ = 0;  ///< the last record of the log that was shown
  std::string text_;        ///< complete lines
  std::string arriving_;    ///< of the answer that is being written
};

}  // namespace praxis::tui
