// Converts the request of a caller outside the loop into records, or the reason why it cannot be carried out.
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/domain/command.hpp"

namespace praxis {

/// Whether the text of a command counts as a message of the user.
bool is_said(CommandVerb verb);

/// Error `kInput`: the commands have several targets.
Status check_target(const Commands& commands);

/// Splits an id into session and step; the session is empty for an unqualified id.
std::pair<SessionId, ParkId> split_id(const ParkId& id);

/// Returns the records that approve steps parked in `state`. Error `kInput`: a step is not parked, is decided
/// twice, or does not accept this approval.
Result<std::vector<RecordBody>> approval_records(const State& state, const Approvals& approvals,
                                                 const Author& author);

/// Returns the records of a request. Error `kInput` says why it cannot be carried out on a session in this
/// state; `over`: the session is a sub-agent whose call has ended.
Result<std::vector<RecordBody>> request_records(const State& state, const InboxRequest& request, bool over);

}  // namespace praxis
