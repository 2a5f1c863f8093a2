// Appends and releases of many sessions in one PostgreSQL transaction with two round trips: lock and read the
// rows of the sessions, then write all.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "journal/postgres_connection.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// What the writer does to one session.
struct PostgresWrite {
  Append append = {};  ///< for a release only its lease counts
  bool releases = false;
  std::optional<UnixMillis> creates = {};  ///< when the session that this append creates was begun
};

/// Writes what is admitted within the open transaction, for the process with this number; sets the outcome of
/// each, as `Journal::append` has them. The last statements are sent only: finishing them, or the commit,
/// reports their errors. An error: the transaction must be rolled back.
Status write_batch(PostgresConnection& connection, std::int64_t owner,
                   std::span<const PostgresWrite* const> writes, std::vector<Status>& outcomes);

}  // namespace praxis
