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

/// Appends what `inputs` says, given the state; an error of it changes nothing. A turn that this stops is
/// settled at once. With `message`, the outcome or that error is the answer to that message of the inbox.
/// Errors `kJournal`, among them `lease_held` when somebody runs the session and `conflict` when the message
/// has an answer.
Status record_in_log(Journal& journal, Environment& environment, const SessionId& session,
                     const std::function<Result<std::vector<RecordBody>>(const State&)>& inputs,
                     std::optional<InboxId> message = {});

}  // namespace praxis
