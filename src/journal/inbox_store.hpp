// The inboxes of a journal in SQL. As in session_store.hpp, writing operations run inside the caller's
// transaction.
#pragma once

#include "praxis/journal/journal.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// As `Inbox::post`.
Result<InboxId> insert_message(Database& database, const SessionId& to, std::string_view body,
                               UnixMillis now);
/// Answers a message for `session`, whose lease the caller has checked; removes the oldest answer if there
/// are too many. Errors `not_found`, `conflict`, `kInput`.
Status answer_message(Database& database, const SessionId& session, const InboxAnswer& answer);

/// As the members of `Inbox`. A file of format 1, which has no inbox until it is opened for writing,
/// reads as one with an empty inbox.
Result<std::vector<InboxMessage>> select_messages(Database& database, InboxId after);
Result<std::vector<InboxMessage>> select_messages_for(Database& database, const SessionId& session,
                                                      InboxId after);
Result<std::optional<std::string>> select_outcome(Database& database, InboxId message);

}  // namespace praxis
