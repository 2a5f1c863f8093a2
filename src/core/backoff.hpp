// The delay between the attempts at an effect.
#pragma once

#include "praxis/core/records.hpp"

namespace praxis {

/// Returns the delay after attempt number `failed` (from 1): `first`, twice as long with each further
/// attempt, at most 30 s, less a jitter of at most half, which spreads the retries of many sessions. The
/// jitter comes from the ids, so that a replay computes the same.
Millis backoff(Millis first, const SessionId& session, const EffectId& effect, std::uint32_t failed);

}  // namespace praxis
