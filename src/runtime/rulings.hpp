// From what a person wants of a session to the records that say so, or the reason why it cannot be.
#pragma once

#include <utility>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "praxis/runtime/orders.hpp"
#include "praxis/runtime/session.hpp"

namespace praxis {

/// Whether the text of an act is something that a user says.
bool is_said(Intervention kind);

/// The session and the step that an id names; the session is empty for an id that is not qualified.
std::pair<SessionId, ParkId> split_id(const ParkId& id);

/// Decisions on steps that wait in `state`. Error `kInput`: one of them is not open, is decided twice, or
/// cannot be decided that way.
Result<std::vector<RecordBody>> decision_records(const State& state, const Decisions& decisions,
                                                 const std::string& by);

/// Error `kInput` says why an order cannot be carried out on a session in this state; `over`: it is that of a
/// sub-agent that can do nothing any more.
Result<std::vector<RecordBody>> order_records(const State& state, const Order& order, bool over);

/// Error `kInput`: it contradicts itself.
Result<Acts> acts_of(const InterventionRequest& request);

}  // namespace praxis
