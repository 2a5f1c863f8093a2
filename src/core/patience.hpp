// Whether and when a model call that failed is tried again. Pure: decided from the records alone.
#pragma once

#include <optional>

#include "praxis/core/state.hpp"

namespace praxis {

/// Whether the failure is an outage that the agent's patience covers: the server was not reached, is
/// overloaded, limits the rate, or stalls. Always false for an agent without `Limits::patience`, and for one
/// that allows a single attempt.
bool waits_out(const State& state, const EffectState& failed);

/// Whether the limits on attempts allow another one.
bool may_retry(const State& state, const EffectState& failed);

/// Returns the delay before the next attempt; `std::nullopt` for no further attempt: the error is permanent,
/// the attempts or the patience are used up, or the server asks for a longer wait.
std::optional<Millis> retry_delay(const State& state, const EffectState& failed);

/// Returns the error with which a turn ends whose call is not tried again: that of the last attempt, with
/// what was tried if patience covered it.
Error why_given_up(const State& state, const EffectState& failed);

}  // namespace praxis
