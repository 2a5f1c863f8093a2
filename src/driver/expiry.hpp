// Finds parked steps that have expired without a decision.
#pragma once

#include <vector>

#include "praxis/core/state.hpp"

namespace praxis {

/// Returns denials of the parked steps that expired at or before `now`.
std::vector<records::Decided> overdue(const State& state, UnixMillis now);

}  // namespace praxis
