// A part of a run's transcript.
#pragma once

#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::app {

/// `transcript` of consecutive records. `before` is the state before the first of them: its calls in progress
/// may end in these records. `state` is the present one.
Json transcript_page(const std::vector<StoredRecord>& records, const State& before, const State& state);

}  // namespace praxis::app
