// The journal in SQL: what each operation does to the tables of docs/journal-format.md. Writing operations
// run inside the caller's transaction; reading ones see one consistent state of the file.
#pragma once

#include <functional>

#include "journal/known_heads.hpp"
#include "journal/owners.hpp"
#include "praxis/journal/journal.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// Whether a live process has the journal open for writing.
Result<bool> has_owner(Database& database, const Owners& owners);
/// Gives this journal a number and locks it; removes the numbers of dead owners.
Result<std::int64_t> claim_owner(Database& database, Owners& owners);

Result<bool> has_session(Database& database, const SessionId& session);
/// Inserts an empty session with the lease of its first append. Errors `lease_lost` (of the session above)
/// and `exists`.
Status insert_session(Database& database, const Append& first, UnixMillis now, std::int64_t owner);
/// Whether an owner, in the form of `lease_owner`, is alive; 0 means no owner.
using IsAlive = std::function<bool(std::int64_t owner)>;
/// Gives the lease to `owner` unless `held` reports the present owner as alive; returns the new token. Errors
/// `not_found`, `lease_held`.
Result<std::uint64_t> take_lease(Database& database, const SessionId& session, std::int64_t owner,
                                 const IsAlive& held);
/// Releases a lease that `owner` still has.
Status give_lease(Database& database, const Lease& lease, std::int64_t owner);
/// Errors of `admit` and `answer_message`, and `not_found`.
Status insert_append(Database& database, const Append& append, std::int64_t owner, KnownHeads& heads);

/// Errors of `answer_message`, `lease_lost`, and `not_found`.
Status answer_as_owner(Database& database, const Lease& lease, const InboxAnswer& answer, std::int64_t owner);

/// As the members of `Journal`.
Result<std::vector<Entry>> select_entries(Database& database, const SessionId& session, std::uint64_t from,
                                          std::size_t limit);
Result<std::vector<Change>> select_changes(Database& database, std::uint64_t after, std::size_t limit);
Result<std::uint64_t> select_last_position(Database& database);
Result<std::string> select_blob(Database& database, const Digest& digest);
Result<std::vector<SessionRow>> select_sessions(Database& database, std::size_t limit, const IsAlive& held);
Result<SessionRow> select_session(Database& database, const SessionId& session, const IsAlive& held);
Result<std::vector<SessionRow>> select_children(Database& database, const SessionId& parent,
                                                const IsAlive& held);

}  // namespace praxis
