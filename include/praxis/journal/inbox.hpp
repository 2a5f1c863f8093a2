// The inboxes of sessions: durable messages to a session from processes that do not own it, each answered
// once by the session's owner. An inbox knows bytes; `praxis/runtime/commands.hpp` says what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/ids.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct Lease;

/// Names one message within its journal; grows in the order of posting and is never used twice.
using InboxId = std::uint64_t;

/// A message to the owner of a session. `body` is kept byte for byte.
struct InboxMessage {
  InboxId id = 0;
  SessionId session;
  UnixMillis time;
  std::string body;
};

/// The outcome of a message, as text for its sender.
struct InboxAnswer {
  InboxId message = 0;
  std::string outcome;
};

inline constexpr std::size_t kMaxInboxBytes = 256 * 1024;  ///< of a body, and of an outcome
inline constexpr std::size_t kMaxInboxWaiting = 1000;      ///< unanswered messages of one session
inline constexpr std::size_t kInboxPage = 100;             ///< messages that one call returns
inline constexpr std::size_t kInboxOutcomesKept = 1000;    ///< last answered messages of a journal

/// The inboxes of all sessions of a journal. Thread-safe. Errors have code `kJournal` and a `detail.kind` as
/// those of `Journal`; only a message that is too long is `kInput`.
class Inbox {
 public:
  virtual ~Inbox() = default;

  /// Posts a message to the owner of a session, which may come later; needs no lease. Durable when it
  /// returns. Errors `not_found`; `full` when `kMaxInboxWaiting` messages of the session are unanswered or
  /// the disk is full; `kInput` for more than `kMaxInboxBytes`.
  virtual Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) = 0;
  /// Unanswered messages above `after`, oldest first, at most `kInboxPage`: continue from the last one. Later
  /// messages have higher ids, so an owner that polls misses no message. Costs microseconds when the inbox is
  /// empty.
  virtual Result<std::vector<InboxMessage>> messages(InboxId after = 0) = 0;
  /// The same for one session, for an owner that has just opened it.
  virtual Result<std::vector<InboxMessage>> messages_for(const SessionId& session, InboxId after = 0) = 0;
  /// Answers a message that leaves no entry in the log; one that does is answered by its `Append`. Durable
  /// when it returns. Errors `lease_lost`; `not_found` for a message of another session, or a forgotten one;
  /// `conflict` when it has an answer; `kInput` for more than `kMaxInboxBytes`.
  virtual Status answer(const Lease& lease, InboxId message, std::string outcome) = 0;
  /// The answer to a message; `std::nullopt` until it is answered. Error `not_found`: never posted, or
  /// forgotten because `kInboxOutcomesKept` others were answered since.
  virtual Result<std::optional<std::string>> outcome(InboxId message) = 0;
};

}  // namespace praxis
#pragma GCC visibility pop
