// Which sessions are above a session, by the rows of the journal.
#pragma once

#include <vector>

#include "praxis/journal/journal.hpp"

namespace praxis {

/// Upper bound for the levels of an agent tree that is read from a journal: more than sub-agents can reach.
/// Ends the walk in a damaged journal.
inline constexpr int kMostLevels = 64;

/// Returns the session and those above it that the journal holds, the topmost last; at most `kMostLevels`.
/// Error `kJournal`: the journal does not hold the session, or cannot be read.
Result<std::vector<SessionId>> lineage(Journal& journal, const SessionId& session);

}  // namespace praxis
