// The rules that every kind of journal shares: how entries are chained, which appends and messages are
// admitted, and how failures are named. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "praxis/journal/journal.hpp"

namespace praxis {

/// Returns an error of code `kJournal` with `detail.kind` = `kind`.
Error journal_error(ErrorKind kind, std::string message, bool retriable = false);
/// `corrupt`: the log of `session` cannot be trusted from entry `seq` on (`detail.session`, `detail.seq`).
Error untrusted_from(const SessionId& session, std::uint64_t seq);
/// `not_found` for a session and for a blob.
Error no_such_session(const SessionId& session);
Error no_such_blob(const Digest& digest);
/// `exists`.
Error session_exists(const SessionId& session);
/// `lease_held`, with the holder's process id in `detail.pid`.
Error lease_held(const SessionId& session, std::int64_t pid);

/// `not_found` and `conflict` (answered already) for a message.
Error no_such_message(InboxId message);
Error already_answered(InboxId message);

/// Returns the hash that the first entry of a session is chained to: it binds the log to its session.
Digest chain_start(const SessionId& session);
/// Returns the hash of an entry whose predecessor has the hash `previous`.
Digest chain_next(const Digest& previous, std::uint64_t seq, UnixMillis time, std::string_view kind,
                  std::string_view body);

/// The state that an append is checked against: the end of the log and its lease.
struct Head {
  std::uint64_t seq = 0;
  Digest hash;
  std::uint64_t token = 0;
  bool held = false;  ///< by the calling journal
};
/// Errors `lease_lost`, `conflict`, and `corrupt` for a blob that does not match its digest.
Status admit(const Append& append, const Head& head);
/// Error `lease_lost`.
Status admit(const Lease& lease, const Head& head);
/// Whether one more message is admitted when `waiting` ones of its session are unanswered. Errors `kInput`,
/// `full`.
Status admit_message(const SessionId& to, std::string_view body, std::size_t waiting);
/// Error `kInput`.
Status admit_outcome(const InboxAnswer& answer);

}  // namespace praxis
