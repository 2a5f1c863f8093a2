// Where records live: an append-only, hash-chained log per session, with content-addressed blobs beside it
// and one writer at a time. The journal knows bytes, not agents: what an entry means is `core`'s business.
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
};

/// Changes to a session's row, saved with an append; an empty optional leaves the field as it is.
struct RowChange {
  std::optional<std::string> agent, model, status, title;
  std::optional<SessionId> parent;
};

/// One atomic append: all blobs and entries, or nothing.
struct Append {
  Lease lease;
  std::uint64_t expected_seq = 0;  ///< seq of the last entry the writer knows; another head means a conflict
  std::vector<NewEntry> entries;
  std::vector<Blob> blobs;
  RowChange row;
};

/// Called once with the seq of the last entry written, from the journal's thread or before `append` returns,
/// outside any lock. It may call the journal and may drop the last reference to it, and should not block.
using AppendDone = std::move_only_function<void(Result<std::uint64_t> last_seq)>;

/// Thread-safe. Destroying it finishes the appends that wait and gives up its leases. All errors have code
/// `kJournal`; `detail.kind` is one of `not_found`, `exists`, `lease_lost`, `lease_held`, `conflict`,
/// `read_only`, `full` (retriable), `io`, `corrupt`, `version`.
class Journal {
 public:
  virtual ~Journal() = default;

  /// Creates an empty session and takes its lease; durable with the first append to it. Error `exists`.
  virtual Result<Lease> create(const SessionId& session, UnixMillis now) = 0;
  /// Takes the lease of a session whose owner released it or is gone; with `force`, also from a live owner,
  /// whose next append is then refused. Errors `not_found`, `lease_held` (`detail.pid` says by which
  /// process).
  virtual Result<Lease> acquire(const SessionId& session, bool force = false) = 0;
  /// Gives a lease back, after the appends already given; an old lease releases nothing.
  virtual void release(const Lease& lease) = 0;

  /// Writes durably and then calls `done`. Appends of one session are done in the order given; those of
  /// several sessions share one sync. After a failed append nothing of it is visible. Errors `lease_lost`,
  /// `conflict`, `not_found`, `full`, `io`, and `corrupt` for a blob that does not match its digest.
  virtual void append(Append append, AppendDone done) = 0;

  /// Entries with `seq >= from`, at most `limit` of them (0 means all), each checked against the hash chain.
  /// Error `corrupt` names the seq from which the log cannot be trusted (`detail.seq`); `not_found`.
  virtual Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from = 1,
                                          std::size_t limit = 0) = 0;
  /// The bytes of a blob, checked against its digest. Errors `not_found`, `corrupt`.
  virtual Result<std::string> blob(const Digest& digest) = 0;
  virtual Result<bool> has_blob(const Digest& digest) = 0;

  /// Last created first; at most `limit` rows (0 means all). A session whose log has lost its end is listed
  /// with status `corrupt`; damage further up shows in `read`.
  virtual Result<std::vector<SessionRow>> sessions(std::size_t limit = 0) = 0;
  virtual Result<SessionRow> session(const SessionId& session) = 0;
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
