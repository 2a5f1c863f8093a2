// Writes to the log of an idle session, which no process runs.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// The answer to a command from the inbox that was carried out.
inline constexpr std::string_view kInboxOk = "ok";

/// Appends the records that `inputs` returns for the session's state; if it returns an error, nothing
/// changes. Settles at once a turn that these records stop, and the turns that its sub-agents were left in.
/// With `message`, the outcome (or that error) becomes the answer to that message of the inbox. Errors
/// `kJournal`, among them `lease_held` if a process runs the session, and `conflict` if the message has an
/// answer.
Status record_in_log(Journal& journal, Environment& environment, const SessionId& session,
                     const std::function<Result<std::vector<RecordBody>>(const State&)>& inputs,
                     std::optional<InboxId> message = {});

/// As `record_in_log`, for the owner of the lease, who keeps it.
Status record_with_lease(Journal& journal, Environment& environment, const Lease& lease,
                         const std::function<Result<std::vector<RecordBody>>(const State&)>& inputs,
                         std::optional<InboxId> message = {});

/// Ends the turn of a sub-agent that no process runs and no call will resume, and those below it. Returns
/// what the session above has to record. Error as `record_in_log`.
Result<records::ChildSettled> close_left(Journal& journal, Environment& environment, const SessionId& child);

}  // namespace praxis
