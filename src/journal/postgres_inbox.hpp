// The inboxes of a PostgreSQL journal in SQL. As in postgres_store.hpp, writing operations run inside the
// caller's transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "journal/postgres_connection.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// The channel on which a committed message wakes the owners of sessions.
inline constexpr std::string_view kMailChannel = "praxis_mail";

/// As `Inbox::post` and `Inbox::answer`, for a process with this number.
Result<InboxId> insert_message(PostgresConnection& connection, const SessionId& to, std::string_view body,
                               UnixMillis now);
Status answer_as_owner(PostgresConnection& connection, const Lease& lease, const InboxAnswer& answer,
                       std::int64_t owner);
/// Sends what stores an answer that is admitted, and what forgets the oldest ones.
void send_answer(PostgresConnection& connection, const InboxAnswer& answer);
void send_forgetting(PostgresConnection& connection);

/// As the members of `Inbox`.
Result<std::vector<InboxMessage>> select_messages(PostgresConnection& connection, InboxId after);
Result<std::vector<InboxMessage>> select_messages_for(PostgresConnection& connection,
                                                      const SessionId& session, InboxId after);
Result<std::optional<std::string>> select_outcome(PostgresConnection& connection, InboxId message);

}  // namespace praxis
