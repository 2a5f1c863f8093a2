// The timers of one session and what each is for. A value: the shell keeps the clocks.
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
/// The first parked step expires, or the wall clock is to be looked at again.
struct StepExpiry {};
/// The time limit of a tool, the delay of a model call, or the end of a timer.
struct EffectTimer {
  EffectId effect;
  std::uint32_t attempt = 1;
};
/// The time that effects have to stop.
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
  /// What a timer that fired, or is disarmed, was for; nothing when it is not armed.
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
