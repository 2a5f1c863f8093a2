// Converts the request of an outside caller into records, or returns the reason why the request is refused.
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/domain/command.hpp"

namespace praxis {

/// True when the text of a command counts as a user message.
bool is_said(CommandVerb verb);

/// Applies the content filters at `kPrompt` to the commands of a request that count as user messages. Adds
/// what they decided to `decided`. Error `kPolicy`: a message is denied, and only `decided` is to be
/// recorded.
Status filter_said(const State& state, InboxRequest& request, std::vector<RecordBody>& decided);

/// Error `kInput` when the commands have different targets.
Status check_target(const Commands& commands);

/// Splits an id into session and step; the session is empty for an unqualified id.
std::pair<SessionId, ParkId> split_id(const ParkId& id);

/// Returns the records of these decisions on steps parked in `state`. Error `kInput`: a step is not parked,
/// is decided twice, or does not accept this approval.
Result<std::vector<RecordBody>> approval_records(const State& state, const Approvals& approvals,
                                                 const Author& author);

/// Returns the records of a command. A changed request withdraws the question that a planner has put.
std::vector<RecordBody> command_records(const State& state, const Command& command);

/// The records of a request, after the decisions of content filters about it.
Result<std::vector<RecordBody>> after(std::vector<RecordBody> decided,
                                      Result<std::vector<RecordBody>> records);

/// Returns the records of a request. Error `kInput` says why a session in this state refuses it. `over`: the
/// session is a sub-agent whose call has ended.
Result<std::vector<RecordBody>> request_records(const State& state, const InboxRequest& request, bool over);

}  // namespace praxis
