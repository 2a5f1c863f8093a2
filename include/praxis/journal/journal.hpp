// Where records live: an append-only, hash-chained log per session, with content-addressed blobs beside it
// and one writer at a time. Whoever is not that writer leaves mail for it. The journal knows bytes, not
// agents: what an entry or a message means is the business of others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

namespace praxis {

/// One entry to append. `body` is UTF-8 JSON, written as it is.
struct NewEntry {
  std::string kind;
  UnixMillis time;
  std::string body;
};

/// One stored entry. `hash` covers `previous hash | seq | time | kind | body` (docs/journal-format.md).
struct Entry {
  std::uint64_t seq = 0;  ///< 1, 2, ... without gaps within a session
  std::string kind;
  UnixMillis time;
  std::string body;
  Digest hash;
};

/// A payload stored once under the digest of its bytes.
struct Blob {
  Digest digest;
  std::string bytes;
};

/// The right to append to one session. `token` grows with each new owner; an append with an older one is
/// refused.
struct Lease {
  SessionId session;
  std::uint64_t token = 0;
};

/// What a listing shows of a session without reading its records. The three last are what the writer last
/// said.
struct SessionRow {
  SessionId id;
  UnixMillis created;
  UnixMillis updated;
  std::uint64_t entries = 0;
  std::string agent;  ///< agent id
  std::string model;
  std::string status;  ///< the session's status name
  std::string title;   ///< first words of the first prompt
  SessionId parent;    ///< empty for a root
  /// Some process, perhaps this one, has the lease and is alive. Released leases may count a moment longer.
  bool held = false;
};

/// Changes to a session's row, saved with an append; an empty optional leaves the field as it is.
struct RowChange {
  std::optional<std::string> agent, model, status, title;
  std::optional<SessionId> parent;
};

/// Names one message within its journal; grows in the order of posting and is never used twice.
using MailId = std::uint64_t;

/// A message to whoever owns a session, from anybody who can write the journal. `body` is kept as it is.
struct Mail {
  MailId id = 0;
  SessionId session;
  UnixMillis time;
  std::string body;
};

/// What became of a message, in words that its sender understands.
struct MailAnswer {
  MailId mail = 0;
  std::string outcome;
};

inline constexpr std::size_t kMaxMailBytes = 256 * 1024;  ///< of a body, and of an outcome
inline constexpr std::size_t kMaxMailWaiting = 1000;      ///< unanswered messages of one session
inline constexpr std::size_t kMailPage = 100;             ///< messages that one call hands out
inline constexpr std::size_t kMailOutcomesKept = 1000;    ///< last answered ones of a journal

/// One atomic append: all blobs, entries and answers, or nothing.
struct Append {
  Lease lease;
  std::uint64_t expected_seq = 0;  ///< seq of the last entry the writer knows; another head means a conflict
  std::vector<NewEntry> entries;
  std::vector<Blob> blobs;
  RowChange row;
  /// To mail that the entries carry out: so it is carried out once, wherever the process dies.
  std::vector<MailAnswer> answers = {};
  /// A lease that must be good as well, or nothing is written (`lease_lost`): of the session on whose behalf
  /// this one is made or opened.
  std::optional<Lease> on_behalf_of = {};
};

/// Called once with the seq of the last entry written, from the journal's thread or before `append` returns,
/// outside any lock. It may call the journal and may drop the last reference to it, and should not block.
using AppendDone = std::move_only_function<void(Result<std::uint64_t> last_seq)>;

/// Thread-safe. Destroying it finishes the appends that wait and gives up its leases. Errors have code
/// `kJournal`, with one of `not_found`, `exists`, `lease_lost`, `lease_held`, `conflict`, `read_only`, `full`
/// (retriable), `io`, `corrupt`, `version` as `detail.kind`; only a message that is too long is `kInput`.
class Journal {
 public:
  virtual ~Journal() = default;

  /// The lease of a new session, which is there for others, and durable, with the first append to it. Error
  /// `exists`; when another process takes the name meanwhile, of that append.
  virtual Result<Lease> create(const SessionId& session, UnixMillis now) = 0;
  /// Takes the lease of a session whose owner released it or is gone; with `force`, also from a live owner,
  /// whose next append is then refused. Errors `not_found`, `lease_held` (`detail.pid` says by which
  /// process).
  virtual Result<Lease> acquire(const SessionId& session, bool force = false) = 0;
  /// Gives a lease back, after the appends already given; an old lease releases nothing. It may return before
  /// others can take it.
  virtual void release(const Lease& lease) = 0;

  /// Writes durably and then calls `done`. Appends of one session are done in the order given; those of
  /// several sessions share one sync. After a failed append nothing of it is visible. Errors `lease_lost`,
  /// `conflict`, `not_found`, `full`, `io`, `corrupt` for a blob that does not match its digest, and those of
  /// `answer`.
  virtual void append(Append append, AppendDone done) = 0;

  /// Entries with `seq >= from`, at most `limit` of them (0 means all), each checked against the hash chain.
  /// Error `corrupt` names the seq from which the log cannot be trusted (`detail.seq`); `not_found`.
  virtual Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from = 1,
                                          std::size_t limit = 0) = 0;
  /// The bytes of a blob, checked against its digest. Errors `not_found`, `corrupt`.
  virtual Result<std::string> blob(const Digest& digest) = 0;

  /// Last created first; at most `limit` rows (0 means all). A session whose log has lost its end is listed
  /// with status `corrupt`; damage further up shows in `read`.
  virtual Result<std::vector<SessionRow>> sessions(std::size_t limit = 0) = 0;
  virtual Result<SessionRow> session(const SessionId& session) = 0;
  /// The direct children of a session, first created first; none for a session that is not here.
  virtual Result<std::vector<SessionRow>> children(const SessionId& parent) = 0;

  /// Leaves a message for the owner of a session, whether there is one now or only later; needs no lease.
  /// Durable when it returns. Errors `not_found`; `full` when `kMaxMailWaiting` messages wait for the session
  /// already or the disk is full; `kInput` for more than `kMaxMailBytes`.
  virtual Result<MailId> post(const SessionId& to, std::string body, UnixMillis now) = 0;
  /// Unanswered messages above `after`, oldest first, at most `kMailPage`: ask on from the last one. What is
  /// posted later always has a higher id, so an owner that polls misses nothing. Costs microseconds when
  /// there is nothing.
  virtual Result<std::vector<Mail>> mail(MailId after = 0) = 0;
  /// The same for one session: what has waited for it while nobody owned it.
  virtual Result<std::vector<Mail>> mail_for(const SessionId& session, MailId after = 0) = 0;
  /// Answers a message that leaves no entry; one that does is answered by its `Append`. Durable when it
  /// returns. Errors `lease_lost`; `not_found` for a message that is not for this session, or is forgotten;
  /// `conflict` when it has an answer; `kInput` for more than `kMaxMailBytes`.
  virtual Status answer(const Lease& lease, MailId mail, std::string outcome) = 0;
  /// The answer to a message, nothing as long as there is none. Error `not_found`: never posted, or forgotten
  /// because `kMailOutcomesKept` others were answered since.
  virtual Result<std::optional<std::string>> outcome(MailId mail) = 0;
};

/// Lives and dies with the process; appends are done before `append` returns.
std::shared_ptr<Journal> memory_journal();

struct SqliteJournalOptions {
  /// Create the file (mode 0600) and its folder (mode 0700) when missing.
  bool create = true;
  /// Open for reading only: nothing is created or changed (but for the `-shm` index of a copied journal that
  /// lacks it), no lease is taken and no writer is held up.
  bool read_only = false;
};
/// WAL, `synchronous=FULL`, one writer thread that groups what waits into one commit. Several processes may
/// open one file, on one machine. Errors `not_found`, `version` (made by a newer format), `corrupt` (damaged,
/// or not a journal: then it is left untouched), `full`, `io`.
Result<std::shared_ptr<Journal>> sqlite_journal(const std::string& path, SqliteJournalOptions options = {});

}  // namespace praxis
