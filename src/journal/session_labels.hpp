// Names and tags of sessions in SQL.
#pragma once

#include "praxis/journal/journal.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// As `Journal::label`, within the caller's transaction.
Status label_session(Database& database, const SessionId& session, const LabelChange& change);

}  // namespace praxis
