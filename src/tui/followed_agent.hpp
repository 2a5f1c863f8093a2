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
  /// Where the user reads. The other members are of the last call of `lines`.
  struct Place {
    std::size_t above = 0;  ///< rows below those that are shown
    bool drawn = false;
    std::uint64_t written = 0;   ///< bytes of complete lines
    std::size_t unfinished = 0;  ///< rows below the complete lines
    std::size_t blank = 0;       ///< empty rows at the end, which are not shown
  };
  /// The rows that end at the place, at most `rows` of at most `columns`, safe to display. What is read stays
  /// when rows are added below it. The place becomes one that there is.
  std::vector<std::string> lines(std::size_t columns, std::size_t rows, Place& place) const;

 private:
  void take(const Event& event);
  void add(std::string_view text);
  void keep_arriving();
  void end(const AgentResult& result);
  std::size_t below(const Place& place, std::size_t columns) const;

  const SessionId id_;
  std::uint64_t past_ = 0;     ///< the last record of the log that was shown
  std::string text_;           ///< complete lines
  std::uint64_t written_ = 0;  ///< bytes of complete lines, also of those that were dropped
  std::string arriving_;       ///< of the answer that is being written
};

}  // namespace praxis::tui
