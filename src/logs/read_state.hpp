// The state of a session whose log is all that a caller has.
#pragma once

#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// Reads a session's records and folds them. Error `kJournal`, as `read_records`; a log that breaks its own
/// rules.
Result<State> read_state(Journal& journal, const SessionId& session);

}  // namespace praxis
