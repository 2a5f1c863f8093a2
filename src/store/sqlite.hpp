// SQLite as journal and memory use it: one connection, its cached statements, and errors in the user's words.
// A connection is used by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/held_files.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/result.hpp"
#include "seal/sealer.hpp"
#include "store/file_places.hpp"
#include "store/write_queue.hpp"

namespace praxis {

/// How long to wait for a lock that another process should hold for a moment only.
inline constexpr int kBusyTimeoutMs = 10'000;

/// Waits a millisecond for a lock; false after `tries` waits. SQLite's own waits grow to 100 ms, in which a
/// busy process takes and releases the lock many times: a post could wait for seconds then.
bool try_again(int tries, int limit_ms);

/// The error of a journal whose files were taken away while they were in use: `io`, with the fact `taken`.
/// `happened` says what happened to which file.
Error taken_away(const std::string& journal, const std::string& happened);
/// Whether an error is one of `taken_away`.
bool is_taken_away(const Error& error);

/// The right to write in turn, from `Database::begin` to its destruction, which follows the end of the
/// transaction.
class WriteTurn {
 public:
  WriteTurn() = default;
  explicit WriteTurn(std::shared_ptr<WriteQueue> queue) : queue_(std::move(queue)) {}
  WriteTurn(WriteTurn&&) = default;
  WriteTurn& operator=(WriteTurn&&) = delete;
  ~WriteTurn() {
    if (queue_) queue_->give();
  }

 private:
  std::shared_ptr<WriteQueue> queue_;
};

/// A value for a column that holds text, or bytes if it is sealed. Refers to `bytes`.
struct StoredValue {
  std::optional<std::string_view> bytes;  ///< nothing: null
  bool is_sealed = false;
};

/// One connection to a file.
class Database {
 public:
  enum class Mode : std::uint8_t {
    kWrite,     ///< reads and writes; the file must exist
    kRead,      ///< reads only; takes SQLite's shared locks; creates and repairs the `-shm` file, not the log
    kDetached,  ///< reads file and log without locks and without `-shm`: correct while neither changes
    kFileOnly,  ///< reads only the file itself, without locks: correct while no `-wal` exists
  };

  /// `path` is absolute. A connection that writes waits, in the order of `queue`, while a process excludes
  /// all others from the file, as the last one does that closes a journal; so does `begin`. Errors as of
  /// `begin`; their messages call the file a `what`, which is a literal.
  static Result<Database> open(const std::string& path, Mode mode,
                               std::shared_ptr<WriteQueue> queue = nullptr,
                               std::string_view what = "journal");

  /// Runs one statement that yields no rows. Statements are cached by the address of their text, so it must
  /// be a literal or live as long as the program.
  template <class... Values>
  Status run(std::string_view sql, const Values&... values);

  const std::shared_ptr<WriteQueue>& queue() const { return queue_; }
  /// Begins a transaction that writes; the caller ends it while it has the turn. Errors of
  /// `WriteQueue::take`; without a queue, `io` after ten seconds in which another process keeps the lock.
  Result<WriteTurn> begin();

  /// Sets how long to wait for a lock that another process holds.
  template <int kLimitMs>
  void wait_for_locks() {
    const auto wait = [](void*, int tries) { return static_cast<int>(try_again(tries, kLimitMs)); };
    sqlite3_busy_handler(handle(), wait, nullptr);
  }

  /// Writes the log again unchanged and syncs it. After a failed sync the kernel may have dropped pages that
  /// still read correctly, and report the next sync as a success; pages that are written again are safe.
  Status rewrite_log();

  /// Watches the files that the journal has now, so that `in_place` and `log_is_whole` notice when they are
  /// taken away. Call it once the connection has written.
  void watch_files() { places_ = std::make_shared<FilePlaces>(path_); }
  const std::shared_ptr<FilePlaces>& places() const { return places_; }
  /// Error of `taken_away` if a file was moved, replaced, deleted or cut.
  Status in_place() const;
  /// The same for the index alone. Call it before a transaction, which must not touch one that was cut.
  Status index_in_place() const;
  /// Error of `taken_away` if the log was cut or overwritten. Call it within a transaction that writes, or
  /// while no other connection writes.
  Status log_is_whole() const;

  /// Whether the last connection to the file leaves its log as it is when it closes, instead of copying it
  /// into the file and deleting it.
  void keep_log_on_close(bool keep) {
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
  }

  /// What opens and seals the values of the file; null: it is plain. The connection only keeps it, for those
  /// who know which values are sealed.
  const Sealer* sealer() const { return sealer_.get(); }
  void set_sealer(std::shared_ptr<const Sealer> sealer) { sealer_ = std::move(sealer); }

  /// The last failure of this connection, as `full`, `corrupt` or `io`.
  Error error() const;
  /// Whether the last failure was a failed sync.
  bool sync_failed() const { return sqlite3_extended_errcode(handle()) == SQLITE_IOERR_FSYNC; }
  bool in_transaction() const { return sqlite3_get_autocommit(handle()) == 0; }
  const std::string& path() const { return path_; }
  /// What messages call the file.
  std::string_view what() const { return what_; }
  sqlite3* handle() const { return connection_.get(); }

 private:
  friend class Query;
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  Database(std::string path, std::string_view what, sqlite3* connection)
      : path_(std::move(path)), what_(what), held_(path_), connection_(connection) {}
  Status prepare_to_write();
  Result<WriteTurn> run_in_turn(std::string_view sql);
  sqlite3_stmt* prepared(std::string_view sql);
  Status rewrite_log_locked();

  std::string path_;
  std::string_view what_;               // what messages call the file
  HeldFile held_;                       // by locks of SQLite
  std::shared_ptr<FilePlaces> places_;  // null: not watched
  std::shared_ptr<WriteQueue> queue_;
  std::shared_ptr<const Sealer> sealer_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

/// One use of a statement: values bound to ?1, ?2, ... (they must outlive it), then rows; reset at the end.
class Query {
 public:
  template <class... Values>
  explicit Query(Database& database, std::string_view sql, const Values&... values)
      : database_(database), statement_(database.prepared(sql)) {
    int index = 0;
    (bind(++index, values), ...);
  }
  ~Query() { sqlite3_reset(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Moves to the next row; false after the last.
  Result<bool> next();

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::uint64_t number(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  /// Valid until the next row.
  std::string_view bytes(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const { return std::string(bytes(column)); }
  /// All zero if the column does not hold 32 bytes.
  Digest digest(int column) const;

 private:
  void bind(int index, std::int64_t value) { sqlite3_bind_int64(statement_, index, value); }
  void bind(int index, std::uint64_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, std::string_view text);
  void bind(int index, const std::string& text) { bind(index, std::string_view(text)); }
  void bind(int index, const std::optional<std::string>& text);
  void bind(int index, const Digest& digest);
  void bind(int index, const StoredValue& value);

  Database& database_;
  sqlite3_stmt* statement_;  // null if it could not be prepared
};

template <class... Values>
Status Database::run(std::string_view sql, const Values&... values) {
  if (auto row = Query(*this, sql, values...).next(); !row) return fail(std::move(row.error()));
  return {};
}

}  // namespace praxis
