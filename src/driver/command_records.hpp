// From what a caller outside the loop wants of a session to the records that say so, or the reason why it
// cannot be done. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/domain/command.hpp"

namespace praxis {

/// Whether the text of a command counts as said by the user.
bool is_said(CommandVerb verb);

/// Error `kInput`: the commands have several targets.
Status check_target(const Commands& commands);

/// The session and the step that an id names; the session is empty for an id that is not qualified.
std::pair<SessionId, ParkId> split_id(const ParkId& id);

/// Approvals of steps that are parked in `state`. Error `kInput`: a step is not open, is decided twice, or
/// does not take this approval.
Result<std::vector<RecordBody>> approval_records(const State& state, const Approvals& approvals,
                                                 const std::string& by);

/// Error `kInput` says why a request cannot be carried out on a session in this state; `over`: the session is
/// a sub-agent whose call has ended.
Result<std::vector<RecordBody>> request_records(const State& state, const InboxRequest& request, bool over);

}  // namespace praxis
