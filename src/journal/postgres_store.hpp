// The journal in the SQL of PostgreSQL. Writing operations run inside the caller's transaction; each reading
// one sees one state of the database.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "journal/postgres_connection.hpp"
#include "journal/postgres_schema.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// Who reads or takes leases: a process with its number, or 0 for one that only reads.
struct PostgresSelf {
  PostgresOwner process;
  std::int64_t number = 0;
};

/// Takes the lock under which entries get their positions; kept until the transaction ends.
inline constexpr std::string_view kLockPositions =
    "SELECT pg_advisory_xact_lock('praxis_entries'::regclass::oid::int, 1)";
/// Keeps `sweep_blobs` from removing blobs that an append in progress names.
inline constexpr std::string_view kLockBlobs =
    "SELECT pg_advisory_xact_lock_shared('praxis_entries'::regclass::oid::int, 2)";
inline constexpr std::string_view kLockSweep =
    "SELECT pg_advisory_xact_lock('praxis_entries'::regclass::oid::int, 2)";
/// Takes the lock under which messages get their numbers.
inline constexpr std::string_view kLockMail =
    "SELECT pg_advisory_xact_lock('praxis_entries'::regclass::oid::int, 3)";

/// A lease, and whether another process had it and has not released it.
struct AcquiredLease {
  Lease lease;
  bool is_takeover = false;
};

/// As the members of `Journal`, within a transaction.
Result<AcquiredLease> acquire_session(PostgresConnection& connection, const SessionId& session, bool force,
                                      const PostgresSelf& self);
Status label_session(PostgresConnection& connection, const SessionId& session, const LabelChange& change);
Result<std::size_t> remove_tree(PostgresConnection& connection, const SessionId& root,
                                const PostgresSelf& self);

/// As the members of `Journal`, outside a transaction.
Result<bool> has_session(PostgresConnection& connection, const SessionId& session);
Result<std::vector<Entry>> select_entries(PostgresConnection& connection, const SessionId& session,
                                          std::uint64_t from, std::size_t limit);
Result<std::string> select_blob(PostgresConnection& connection, const Digest& digest);
Result<std::vector<Change>> select_changes(PostgresConnection& connection, std::uint64_t after,
                                           std::size_t limit);
Result<std::uint64_t> select_last_position(PostgresConnection& connection);
Result<std::vector<SessionRow>> select_sessions(PostgresConnection& connection, std::size_t limit,
                                                const PostgresSelf& self);
Result<SessionRow> select_session(PostgresConnection& connection, const SessionId& session,
                                  const PostgresSelf& self);
Result<std::vector<SessionRow>> select_children(PostgresConnection& connection, const SessionId& parent,
                                                const PostgresSelf& self);

/// Uses a connection: to read, or within a transaction that is committed afterwards.
using WithPostgres = std::function<Status(const std::function<Status(PostgresConnection&)>&)>;
/// As `Journal::sweep`.
Result<Swept> sweep_blobs(const WithPostgres& reading, const WithPostgres& writing);

}  // namespace praxis
