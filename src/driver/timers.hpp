// The armed timers of one session and their purposes. A value: the shell has the clocks.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "driver/effects.hpp"

namespace praxis::driver {

/// The time limit of the turn.
struct TurnDeadline {};
/// The first parked step expires, or the wall clock has to be checked again.
struct StepExpiry {};
/// The time limit of a tool, the delay of a model call, or the end of a timer.
struct EffectTimer {
  EffectId effect;
  std::uint32_t attempt = 1;
};
/// The grace time of stopping effects.
struct GraceOver {
  std::vector<Attempt> effects;
};
using TimerPurpose = std::variant<TurnDeadline, StepExpiry, EffectTimer, GraceOver>;

class Timers {
 public:
  Token add(TimerPurpose purpose) {
    armed_.emplace(next_, std::move(purpose));
    return next_++;
  }
  /// Removes a timer that fired or is disarmed and returns its purpose; nothing when it is not armed.
  std::optional<TimerPurpose> take(Token timer) {
    auto found = armed_.extract(timer);
    return found ? std::optional(std::move(found.mapped())) : std::nullopt;
  }
  bool is_empty() const { return armed_.empty(); }

 private:
  std::map<Token, TimerPurpose> armed_;
  Token next_ = 1;
};

}  // namespace praxis::driver
