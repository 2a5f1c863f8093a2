// Stores records: an append-only, hash-chained log per session, with content-addressed blobs, and one writer
// per session at a time. A process that is not the writer posts to the session's inbox. The journal knows
// bytes, not agents: other rooms give entries and messages their meaning.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/journal/inbox.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// One entry to append. `body` is UTF-8 JSON, stored unchanged.
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

/// The right to append to one session. `token` grows with each new owner; an append with an older token is
/// refused.
struct Lease {
  SessionId session;
  std::uint64_t token = 0;
};

/// What a listing shows of a session without reading its records. Agent, model, status and title are the last
/// values that the writer stored.
struct SessionRow {
  SessionId id;
  UnixMillis created;
  UnixMillis updated;
  std::uint64_t entries = 0;
  std::string agent;  ///< agent id
  std::string model;
  std::string status;                  ///< the session's status name
  std::string title;                   ///< first words of the first prompt
  SessionId parent;                    ///< empty for a root
  std::string name = {};               ///< given by a user (`Journal::label`); empty: none
  std::vector<std::string> tags = {};  ///< sorted, without duplicates
  /// A live process, possibly this one, owns the lease. A released lease may count for a moment longer.
  bool held = false;
};

/// Where an entry stands in the order in which the entries of all sessions were committed.
struct Change {
  std::uint64_t position = 0;  ///< from 1; grows with each entry, with gaps, and never changes
  SessionId session;
  std::uint64_t seq = 0;
};

/// Changes to a session's row, saved with an append; an empty optional leaves the field unchanged.
struct RowChange {
  std::optional<std::string> agent, model, status, title;
  std::optional<SessionId> parent;
};

inline constexpr std::size_t kMaxLabelBytes = 64;  ///< of a name, and of a tag
inline constexpr std::size_t kMaxTags = 32;        ///< of one session

/// Changes how users call a session. Names and tags are 1 to `kMaxLabelBytes` letters, digits, `-`, `_` and
/// `.`, and start with a letter; a name is not `last`. They are no part of the log: an export leaves them
/// out.
struct LabelChange {
  std::optional<std::string> name = {};  ///< empty text: removes the name
  std::vector<std::string> add_tags = {}, remove_tags = {};
};

/// What `Journal::sweep` has freed.
struct Swept {
  std::uint64_t blobs = 0;  ///< number of blobs removed
  std::uint64_t bytes = 0;  ///< their payloads
};

/// One atomic append: all blobs, entries and answers, or nothing.
struct Append {
  Lease lease;
  std::uint64_t expected_seq = 0;  ///< seq of the last entry the writer knows; another head means a conflict
  std::vector<NewEntry> entries;
  std::vector<Blob> blobs;
  RowChange row;
  /// Answers to messages that the entries carry out: each message is carried out once, wherever the process
  /// dies.
  std::vector<InboxAnswer> answers = {};
  /// A second lease that must be valid, or nothing is written (`lease_lost`): that of the session on whose
  /// behalf this session is created or opened.
  std::optional<Lease> on_behalf_of = {};
};

/// Called once with the seq of the last entry written, on the journal's thread or before `append` returns,
/// outside any lock. It may call the journal and may drop the last reference to it; it should not block.
using AppendDone = std::move_only_function<void(Result<std::uint64_t> last_seq)>;

/// Thread-safe. The destructor finishes queued appends and releases its leases. Errors have code `kJournal`
/// and one of `not_found`, `exists`, `lease_lost`, `lease_held`, `conflict`, `read_only`, `full` (retriable),
/// `io`, `corrupt`, `version`, `key` as `detail.kind`.
class Journal {
 public:
  virtual ~Journal() = default;

  /// Returns the lease of a new session. The session becomes durable, and visible to other processes, with
  /// the first append to it. Error `exists`; if another process takes the name meanwhile, that append fails
  /// with it.
  virtual Result<Lease> create(const SessionId& session, UnixMillis now) = 0;
  /// Takes the lease of a session whose owner released it or is dead; with `force`, also from a live owner,
  /// whose next append is then refused. Errors `not_found`, `lease_held` (`detail.pid` is the owner's
  /// process).
  virtual Result<Lease> acquire(const SessionId& session, bool force = false) = 0;
  /// Releases a lease after the appends already queued; no-op for an outdated lease. May return before other
  /// processes can take the lease.
  virtual void release(const Lease& lease) = 0;

  /// Writes durably and then calls `done`. Appends of one session are written in order; concurrent appends of
  /// several sessions share one sync. A failed append leaves nothing visible. Errors `lease_lost`,
  /// `conflict`, `not_found`, `full`, `io`, `corrupt` for a blob that does not match its digest, and those of
  /// `Inbox::answer`.
  virtual void append(Append append, AppendDone done) = 0;

  /// Returns entries with `seq >= from`, at most `limit` (0 means all), each checked against the hash chain.
  /// Error `corrupt` names the first seq that cannot be trusted (`detail.seq`); `not_found`.
  virtual Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from = 1,
                                          std::size_t limit = 0) = 0;
  /// Returns the bytes of a blob, checked against its digest. Errors `not_found`, `corrupt`.
  virtual Result<std::string> blob(const Digest& digest) = 0;

  /// Lists what was committed after a position (0: from the start), in order, at most `limit` entries (0
  /// means all). Who remembers the last position that it got misses nothing, across restarts of the process
  /// too.
  virtual Result<std::vector<Change>> changes(std::uint64_t after, std::size_t limit) = 0;
  /// The position of the entry committed last; 0 for an empty journal.
  virtual Result<std::uint64_t> last_position() = 0;

  /// Lists the newest session first; at most `limit` rows (0 means all). A session whose log has lost its end
  /// is listed with status `corrupt`; `read` reports damage elsewhere.
  virtual Result<std::vector<SessionRow>> sessions(std::size_t limit = 0) = 0;
  virtual Result<SessionRow> session(const SessionId& session) = 0;
  /// Lists the direct children of a session, oldest first; empty for an unknown session.
  virtual Result<std::vector<SessionRow>> children(const SessionId& parent) = 0;

  // Journals of hosts need not support the next three: by default they fail with `read_only`.

  /// Changes the name and tags of a session, durably; needs no lease. Errors `not_found`; `exists`: another
  /// session has the name; `kInput`: not a name or tag, or too many tags.
  virtual Status label(const SessionId& session, const LabelChange& change);
  /// Removes a session, all sessions below it, their entries and their unanswered messages, durably and all
  /// or nothing; returns how many sessions. Their blobs stay until `sweep`. Errors `not_found`; `lease_held`
  /// when a live process owns one of them.
  virtual Result<std::size_t> remove(const SessionId& session);
  /// Removes the blobs that no entry names. Reads all entries, in bounded memory; others can read and append
  /// meanwhile.
  virtual Result<Swept> sweep();

  /// The inboxes of the sessions, for messages from processes that do not own them. Lives as long as the
  /// journal.
  virtual Inbox& inbox() = 0;
};

/// Creates a journal in memory, which ends with the process; appends are complete before `append` returns.
std::shared_ptr<Journal> memory_journal();

struct SealSecret;  // praxis/seal/secret.hpp
/// Gives what opens a sealed journal, or says why it is not there.
using AskSealSecret = std::function<Result<std::shared_ptr<const SealSecret>>()>;

struct SqliteJournalOptions {
  /// Create the file (mode 0600) and its folder (mode 0700) if missing.
  bool create = true;
  /// Open for reading only: creates and changes nothing, takes no lease and delays no writer. Needs no
  /// permission to write, and reads what any crash leaves.
  bool read_only = false;

  /// The key of a sealed journal (docs/encryption.md). A new journal is sealed with it; a plain one is not
  /// opened for writing while there is a key. Asked at most once, and only for a journal that is sealed or
  /// new; on the thread that opens it, or of the first read. Null: the journal is plain.
  AskSealSecret key = {};

  // Writes wait, in order, for those of other processes, without a limit of their own.
  /// Called on any thread with a sentence for the user that names the process, when one has kept the write
  /// lock for about a second; once in a wait. Must not call the journal.
  std::function<void(const std::string&)> on_wait = {};
  /// A second after this is requested, what waits for another process fails with `io` and its name.
  std::stop_token stop_waiting = {};
  /// Ends a process that was stopped (SIGSTOP) while it held the write lock, if it is of the same user.
  bool end_stopped_writer = false;
};
/// Opens a journal in SQLite: WAL, `synchronous=FULL`, one writer that groups queued writes into one commit.
/// Several processes on one machine may open the same file. Errors `not_found`, `version` (written by a newer
/// format), `corrupt` (damaged, or not a journal: then it is left unchanged), `key` (sealed, and the key is
/// missing or wrong; or plain although there is a key), `full`, `io`.
Result<std::shared_ptr<Journal>> sqlite_journal(const std::string& path, SqliteJournalOptions options = {});

/// Rewrites the file of a SQLite journal without the space that removed sessions left, if at least an eighth
/// of it is free; returns by how many bytes it shrank. It excludes all other processes meanwhile and needs
/// room for a second copy. After a crash the file is whole. No-op (0) while any connection, also one of this
/// process, has the journal open: the space is then used again by later records. Errors `not_found`, `full`,
/// `io`, `corrupt`.
Result<std::uint64_t> shrink_journal(const std::string& path);

/// Waits until this process has no SQLite journal open for writing, at most `limit`; false if it still has.
/// Call it before the program ends, after dropping the last reference: threads that finish the work of a
/// runtime may hold its journal a moment longer. A program that ends first loses nothing, but leaves the
/// `-wal` file for the next process.
bool await_closed_journals(std::chrono::milliseconds limit);

}  // namespace praxis
#pragma GCC visibility pop
