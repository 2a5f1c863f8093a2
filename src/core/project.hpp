// Projects records to the events that observers see.
#pragma once

#include <vector>

#include "praxis/core/event.hpp"
#include "praxis/core/state.hpp"

namespace praxis {

/// Returns the events of one record whose kind is among `wanted`; `after` is the state with the record
/// applied.
std::vector<Event> project(const Record& record, const State& after,
                           const EventKinds& wanted = EventKinds().set());

/// Replaces the result in the last event of a turn; no-op for other events.
void set_result(EventBody& body, const AgentResult& result);

}  // namespace praxis
