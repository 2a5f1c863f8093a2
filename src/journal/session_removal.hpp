// Removes sessions from a SQLite journal (docs/journal-format.md, "Removed sessions").
#pragma once

#include "journal/session_store.hpp"

namespace praxis {

/// As `Journal::remove`, within the caller's transaction. The last entry of the journal stays without its
/// body, so that ids only grow.
Result<std::size_t> remove_tree(Database& database, const SessionId& root, const IsAlive& held);

}  // namespace praxis
