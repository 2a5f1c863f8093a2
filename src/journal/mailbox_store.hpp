// The mail of a journal in SQL. As in session_store.hpp, what changes something runs inside the caller's
// transaction.
#pragma once

#include "praxis/journal/journal.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// As `Journal::post`.
Result<MailId> insert_mail(Database& database, const SessionId& to, std::string_view body, UnixMillis now);
/// Answers mail for `session`, whose lease the caller has checked, and forgets the oldest answer when there
/// are too many. Errors `not_found`, `conflict`, `kInput`.
Status answer_mail(Database& database, const SessionId& session, const MailAnswer& answer);

/// As the members of `Journal`. A file of format 1, which has no mailbox until it is opened for writing,
/// reads as one with an empty mailbox.
Result<std::vector<Mail>> select_mail(Database& database, MailId after);
Result<std::vector<Mail>> select_mail_for(Database& database, const SessionId& session, MailId after);
Result<std::optional<std::string>> select_outcome(Database& database, MailId mail);

}  // namespace praxis
