// Parked steps whose time to be decided is over.
#pragma once

#include <vector>

#include "praxis/core/state.hpp"

namespace praxis {

/// Denials of the parked steps that expired at or before `now`.
std::vector<Decided> overdue(const State& state, UnixMillis now);

}  // namespace praxis
