#include "store/sqlite.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/out_of_space.hpp"
#include "praxis/json/json.hpp"
#include "store/gathering_vfs.hpp"
#include "store/reading_vfs.hpp"
#include "store/sqlite_memory.hpp"

namespace praxis {
namespace {

std::string uri_of(const std::string& path, std::string_view parameters) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string uri = "file:";
  for (const char c : path) {
    if (std::string_view("%?#").find(c) == std::string_view::npos) {
      uri += c;
    } else {
      uri += '%';
      uri += kHex[static_cast<unsigned char>(c) >> 4];
      uri += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return uri.append(parameters);
}

/// Returns the `errno` of the last failure. SQLite forgets that of a failed commit, but the log that it wrote
/// to remembers it.
int last_errno(sqlite3* connection) {
  sqlite3_file* log = nullptr;
  int cause = 0;
  if (sqlite3_extended_errcode(connection) != SQLITE_IOERR_WRITE) return sqlite3_system_errno(connection);
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &cause);
  return cause;
}

Error store_error(ErrorKind kind, std::string message, bool retriable = false) {
  return make_error(ErrorCode::kJournal, kind, std::move(message), retriable);
}

Status unless(const std::string& journal, const std::string& happened) {
  if (happened.empty()) return {};
  return fail(taken_away(journal, happened));
}

const char* vfs_for(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::kWrite:
      return gathering_vfs();
    case Database::Mode::kRead:
      return sharing_vfs();
    case Database::Mode::kDetached:
      return detached_vfs();
    case Database::Mode::kFileOnly:
      break;
  }
  return nullptr;
}

constexpr std::string_view kTaken = "taken";

}  // namespace

Error taken_away(const std::string& journal, const std::string& happened) {
  return store_error(ErrorKind::kIo, "journal " + journal + ": " + happened +
                                         " while it was in use, so nothing more is recorded; put the files "
                                         "back as they were, then resume")
      .set(kTaken, happened);
}

bool is_taken_away(const Error& error) {
  return error.code == ErrorCode::kJournal && !json_string(error.detail(), kTaken).empty();
}

bool try_again(int tries, int limit_ms) {
  if (tries >= limit_ms) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

Result<Database> Database::open(const std::string& path, Mode mode, std::shared_ptr<WriteQueue> queue,
                                std::string_view what) {
  watch_sqlite_memory();  // possible before the first connection only
  const auto access = mode == Mode::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const auto parameters = mode == Mode::kFileOnly ? "?immutable=1" : "";
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(uri_of(path, parameters).c_str(), &connection,
                                   access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, vfs_for(mode));
  Database database(path, what, connection);
  database.queue_ = std::move(queue);
  if (code != SQLITE_OK) return fail(database.error());
  sqlite3_extended_result_codes(connection, 1);
  // The file may come from anywhere.
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  database.wait_for_locks<kBusyTimeoutMs>();
  database.keep_log_on_close(true);
  if (mode == Mode::kDetached) {
    if (auto set = database.run("PRAGMA locking_mode = EXCLUSIVE"); !set) return fail(std::move(set.error()));
  }
  if (mode == Mode::kWrite) {
    if (auto ready = database.prepare_to_write(); !ready) return fail(std::move(ready.error()));
    database.keep_log_on_close(false);
  }
  return database;
}

Status Database::prepare_to_write() {
  // From its first read on, no process can exclude this connection from the file.
  if (auto shared = run_in_turn("SELECT 1 FROM sqlite_schema"); !shared)
    return fail(std::move(shared.error()));
  if (auto set = run("PRAGMA synchronous = FULL"); !set) return set;
  return run("PRAGMA cache_spill = OFF");
}

Error Database::error() const {
  const int code = sqlite3_extended_errcode(handle());
  const int cause = last_errno(handle());
  const bool no_space = is_out_of_space(cause) || cause == EFBIG;
  std::string what = std::string(what_) + ' ' + path_ + ": ";
  switch (code & 0xff) {
    case SQLITE_FULL:
      return store_error(ErrorKind::kFull, what + "no space left; free some and try again", true);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:       // the tables are not those that our statements name
    case SQLITE_CONSTRAINT:  // or violate constraints that we ensure
      return store_error(ErrorKind::kCorrupt,
                         what + "the file is damaged (" + sqlite3_errmsg(handle()) + ")");
    case SQLITE_NOTADB:
      return store_error(ErrorKind::kCorrupt, what + "not a Praxis " + std::string(what_));
    case SQLITE_BUSY:
      return store_error(ErrorKind::kIo, what + "another process keeps it locked; try again", true);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (no_space)
        return store_error(ErrorKind::kFull, what + "no space left; free some and try again", true);
      what.append(sqlite3_errmsg(handle()));
      if (cause != 0) what.append(": ").append(std::strerror(cause));
      return store_error(ErrorKind::kIo, std::move(what), true);
    default:
      return store_error(ErrorKind::kIo, what + sqlite3_errmsg(handle()));
  }
}

Status Database::in_place() const { return places_ ? unless(path_, places_->what_happened()) : Status{}; }

Status Database::index_in_place() const {
  return places_ ? unless(path_, places_->what_happened_to_index()) : Status{};
}

Status Database::log_is_whole() const {
  return places_ ? unless(path_, what_happened_to_log(handle())) : Status{};
}

Result<WriteTurn> Database::begin() { return run_in_turn("BEGIN IMMEDIATE"); }

/// Runs a statement that needs a lock, and waits for the lock.
Result<WriteTurn> Database::run_in_turn(std::string_view sql) {
  if (!queue_) {
    if (auto done = run(sql); !done) return fail(std::move(done.error()));
    return WriteTurn();
  }
  const auto attempt = [&]() -> Result<bool> {
    auto done = run(sql);
    if (done) return true;
    if ((sqlite3_errcode(handle()) & 0xff) == SQLITE_BUSY) return false;
    return fail(std::move(done.error()));
  };
  sqlite3_busy_handler(handle(), nullptr, nullptr);
  auto taken = queue_->take(attempt);
  wait_for_locks<kBusyTimeoutMs>();
  if (!taken) return fail(std::move(taken.error()));
  return WriteTurn(queue_);
}

Status Database::rewrite_log() {
  // No other process adds to the log meanwhile.
  const auto turn = begin();
  if (!turn) return fail(turn.error());
  auto rewritten = rewrite_log_locked();
  auto ended = run("ROLLBACK");
  return rewritten ? ended : rewritten;
}

Status Database::rewrite_log_locked() {
  constexpr sqlite3_int64 kPiece = 64 * 1024;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log == nullptr || log->pMethods == nullptr) return {};  // no log file
  sqlite3_int64 size = 0;
  int code = log->pMethods->xFileSize(log, &size);
  if (code == SQLITE_OK && size == 0) return {};
  std::string bytes;
  for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size; at += kPiece) {
    bytes.resize(static_cast<std::size_t>(std::min(kPiece, size - at)));
    code = log->pMethods->xRead(log, bytes.data(), static_cast<int>(bytes.size()), at);
    if (code == SQLITE_OK)
      code = log->pMethods->xWrite(log, bytes.data(), static_cast<int>(bytes.size()), at);
  }
  if (code == SQLITE_OK) code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (code == SQLITE_OK) return {};
  return fail(store_error(code == SQLITE_FULL ? ErrorKind::kFull : ErrorKind::kIo,
                          "journal " + path_ + ": cannot write the log again after a failure", true));
}

sqlite3_stmt* Database::prepared(std::string_view sql) {
  auto& statement = statements_[sql.data()];
  if (!statement) {
    sqlite3_stmt* fresh = nullptr;
    sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &fresh,
                       nullptr);
    statement.reset(fresh);
  }
  return statement.get();
}

Result<bool> Query::next() {
  const int code = statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(database_.error());
}

std::string_view Query::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Digest Query::digest(int column) const {
  Digest digest;
  if (const auto data = bytes(column); data.size() == digest.bytes.size()) {
    std::memcpy(digest.bytes.data(), data.data(), data.size());
  }
  return digest;
}

void Query::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Query::bind(int index, const std::optional<std::string>& text) {
  if (text) {
    bind(index, std::string_view(*text));
  } else {
    sqlite3_bind_null(statement_, index);
  }
}

void Query::bind(int index, const StoredValue& value) {
  if (!value.bytes) {
    sqlite3_bind_null(statement_, index);
  } else if (value.is_sealed) {
    sqlite3_bind_blob64(statement_, index, value.bytes->data(), value.bytes->size(), SQLITE_STATIC);
  } else {
    bind(index, *value.bytes);
  }
}
void Query::bind(int index, const Digest& digest) {
  sqlite3_bind_blob(statement_, index, digest.bytes.data(), static_cast<int>(digest.bytes.size()),
                    SQLITE_STATIC);
}

}  // namespace praxis
