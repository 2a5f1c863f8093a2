#include "journal/journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/out_of_space.hpp"
#include "base/private_folders.hpp"
#include "base/regular_file.hpp"
#include "journal/acknowledged.hpp"
#include "journal/big_endian.hpp"
#include "journal/chain.hpp"
#include "store/byte_locks.hpp"
#include "store/sqlite.hpp"
#include "store/write_transaction.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kApplicationId = 0x50525841;  // "PRXA"

// Computes `before` and `head_id`, which format 3 stores, by the index that the older formats have.
const std::string kEntryBefore =
    "(SELECT b.rowid FROM main.entries b WHERE b.session = e.session AND b.seq = e.seq - 1)";
const std::string kLastEntry =
    "(SELECT e.rowid FROM main.entries e WHERE e.session = s.id AND e.seq = s.head_seq)";

// What each format added to the one before. A new file goes through all steps, so it is identical to an
// upgraded one.
const std::array<std::string, 4> kFormats = {
    // A rowid table is faster than a clustered one: entries of all sessions go to the same last page, so a
    // group commit of 100 sessions writes a third of the pages; and rows up to 4 KB need no overflow page.
    R"(
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created INTEGER NOT NULL, updated INTEGER NOT NULL,
  head_seq INTEGER NOT NULL, head_hash BLOB NOT NULL,
  lease_token INTEGER NOT NULL, lease_owner INTEGER NOT NULL,
  agent TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '', parent TEXT NOT NULL DEFAULT '');
CREATE TABLE entries (
  session INTEGER NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL, kind TEXT NOT NULL,
  body TEXT NOT NULL, hash BLOB NOT NULL, UNIQUE (session, seq));
CREATE TABLE blobs (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE owners (id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL);
)",
    // The index finds the unanswered messages of a session, and the oldest answers. Numbers are never reused,
    // so that no sender can take another's answer for its own.
    R"(
CREATE TABLE mail (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, time INTEGER NOT NULL, answered INTEGER,
  body TEXT NOT NULL, outcome TEXT);
CREATE INDEX mail_by_answer ON mail (answered, session);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent <> '';
)",
    // Each entry names its predecessor, and the session its last entry: an append then writes no index, which
    // was a quarter of its cost in a group. The table's new name keeps out older programs that have the file
    // open and do not know the links.
    R"(
CREATE TABLE chain (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL, before INTEGER NOT NULL,
  time INTEGER NOT NULL, hash BLOB NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL);
INSERT INTO chain SELECT rowid, session, seq, coalesce()" +
        kEntryBefore + R"(, 0), time, hash, kind, body FROM entries e;
ALTER TABLE sessions ADD COLUMN head_id INTEGER NOT NULL DEFAULT 0;
UPDATE sessions AS s SET head_id = coalesce()" +
        kLastEntry + R"(, 0);
DROP TABLE entries;
)",
    // What users call a session, and the removed sessions: without their names, a head that was acknowledged
    // before would look like a lost end.
    R"(
ALTER TABLE sessions ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX sessions_by_label ON sessions (label) WHERE label <> '';
CREATE TABLE removed (name TEXT PRIMARY KEY, head_seq INTEGER NOT NULL) WITHOUT ROWID;
)"};
constexpr std::int64_t kFormatVersion = std::tuple_size_v<decltype(kFormats)>;
/// A sealed journal has the tables of that format and `seal` (journal_keys.cpp). Plain ones never have it.
constexpr std::int64_t kSealedVersion = 5;

Error system_error(const std::string& doing) {
  const int cause = errno;
  return journal_error(kind_of_write_error(cause), doing + ": " + std::strerror(cause), true);
}

/// Makes the directory entries of `folder` durable.
Status sync_folder(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  Status synced;
  if (file < 0 || fsync(file) != 0) synced = fail(system_error("cannot sync folder " + folder.string()));
  if (file >= 0) close(file);
  return synced;
}

/// Renames `from` to `to` unless that exists. Not every file system has the first way; the second is only for
/// a process that alone creates `to`.
bool rename_new(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  return errno == EINVAL && access(to.c_str(), F_OK) != 0 && rename(from.c_str(), to.c_str()) == 0;
}

Status execute(const Database& database, const std::string& script) {
  if (sqlite3_exec(database.handle(), script.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(database.error());
}

/// Returns the script of all formats after `version`.
std::string formats_since(std::int64_t version) {
  std::string script;
  for (auto next = static_cast<std::size_t>(version); next < kFormats.size(); ++next)
    script += kFormats[next];
  return script + "PRAGMA user_version = " + std::to_string(kFormatVersion) + ";";
}

/// Syncs only once, in the last step: no other process has seen the file yet, so intermediate states need not
/// survive.
Status fill(const std::string& path, const std::function<Status(Database&)>& finish) {
  auto database = Database::open(path, Database::Mode::kWrite);
  if (!database) return fail(std::move(database.error()));
  auto filled = execute(*database,
                        "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
                        "BEGIN; PRAGMA application_id = " +
                            std::to_string(kApplicationId) + ";" + formats_since(0));
  if (filled && finish) filled = finish(*database);
  if (!filled) return filled;
  return execute(*database, "COMMIT; PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;");
}

Result<std::int64_t> format_of(Database& database) {
  Query query(database, "PRAGMA user_version");
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.integer(0);
}

Error too_new(const std::string& path, std::int64_t version) {
  return journal_error(ErrorKind::kVersion, "journal " + path + " has format " + std::to_string(version) +
                                                ", this Praxis knows up to " +
                                                std::to_string(kSealedVersion) + "; use a newer Praxis");
}

Status add_missing_formats(Database& database) {
  const auto version = format_of(database);  // read again: another process may have upgraded it meanwhile
  if (!version) return fail(version.error());
  if (*version > kSealedVersion) return fail(too_new(database.path(), *version));
  if (*version >= kFormatVersion) return {};
  return execute(database, formats_since(*version));
}

constexpr std::size_t kUserVersionAt = 60, kApplicationIdAt = 68, kHeaderSize = 100;

/// Returns the header of a database file; zeros where the file is shorter. A query cannot do this: during a
/// checkpoint, or after one that a crash interrupted, the file is incomplete without its log. Nor can open(2)
/// and read(2): closing the file would drop the POSIX locks that SQLite holds on it elsewhere in this
/// process.
Result<std::string> read_header(const std::string& path) {
  auto database = Database::open(path, Database::Mode::kFileOnly);
  if (!database) return fail(std::move(database.error()));
  std::string header(kHeaderSize, '\0');
  sqlite3_file* file = nullptr;
  int code = sqlite3_file_control(database->handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code == SQLITE_OK) code = file->pMethods->xRead(file, header.data(), kHeaderSize, 0);
  if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ) return header;
  return fail(journal_error(ErrorKind::kIo, "cannot read " + path));
}

std::int32_t version_in(const std::string& header) {
  return static_cast<std::int32_t>(big_endian(header.substr(kUserVersionAt, 4)));
}

/// SQLite would lay a log that is left of a missing journal over the new one.
Status refuse_left_log(const std::string& path) {
  constexpr off_t kLogHeader = 32;
  struct stat log{};
  if (stat((path + "-wal").c_str(), &log) != 0 || log.st_size <= kLogHeader) return {};
  return fail(
      journal_error(ErrorKind::kCorrupt, "journal " + path + " is missing, but its log " + path +
                                             "-wal is there; move the journal back, or the log away"));
}

std::string incomplete(const std::string& path) { return path + ".incomplete"; }

/// Names the process that creates the journal, which keeps SQLite's lock of the new file most of the time.
std::string creator_of(const std::string& path) {
  const auto holder = write_lock_holder(incomplete(path));
  if (!holder) return "another process is creating it";
  const std::string pid = std::to_string(holder->pid);
  if (!holder->stopped) return "process " + pid + " is creating it";
  return "process " + pid + " is stopped while it creates it: continue it with kill -CONT " + pid +
         ", or end it with kill -KILL " + pid;
}

/// Waits until no other process creates the journal.
Status await_creator(const ByteLocks& locks, const std::string& path, const LockWaits& waits) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kFirstNotice = std::chrono::seconds(1);
  const auto start = Clock::now();
  bool told = false;
  while (!locks.try_lock(kCreationByte)) {
    if (errno != EAGAIN && errno != EACCES) return fail(system_error("cannot lock " + owners_file(path)));
    if (waits.stop.stop_requested())
      return fail(journal_error(ErrorKind::kIo, "journal " + path + ": " + creator_of(path), true));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (told || Clock::now() - start < kFirstNotice) continue;
    told = true;
    if (waits.notice) waits.notice("waiting for journal " + path + ": " + creator_of(path));
  }
  return {};
}

/// Creates the file while no other process does. Only a complete file gets the name; an incomplete one is
/// what a process left that was killed.
Status create_alone(const std::string& path, const std::filesystem::path& folder,
                    const std::function<Status(Database&)>& finish) {
  if (access(path.c_str(), F_OK) == 0) return {};
  if (auto refused = refuse_left_log(path); !refused) return refused;
  if (auto forgotten = forget_heads(path); !forgotten) return forgotten;
  const auto fresh = incomplete(path);
  for (const char* part : {"", "-wal", "-shm"}) unlink((fresh + part).c_str());
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return fail(system_error("cannot create a file in " + folder.string()));
  keep_own_rights(file);
  close(file);
  auto made = fill(fresh, finish);
  if (made && !rename_new(fresh, path) && errno != EEXIST) made = fail(system_error("cannot create " + path));
  unlink(fresh.c_str());
  return made ? sync_folder(folder) : made;
}

}  // namespace

Status create_journal_file(const std::string& path, const LockWaits& waits,
                           const std::function<Status(Database&)>& finish) {
  if (access(path.c_str(), F_OK) == 0) return {};
  const auto folder = std::filesystem::path(path).parent_path();
  if (const int error = make_private_folders(folder); error != 0) {
    errno = error;
    return fail(system_error("cannot create folder " + folder.string()));
  }
  const auto locks = ByteLocks::open(path);
  if (!locks) return fail(locks.error());
  if (auto alone = await_creator(*locks, path, waits); !alone) return alone;
  return create_alone(path, folder, finish);
}

Status mark_as_sealed(Database& database) {
  return execute(database, "PRAGMA user_version = " + std::to_string(kSealedVersion));
}

Result<bool> is_marked_as_sealed(Database& database) {
  const auto version = format_of(database);
  if (!version) return fail(version.error());
  return *version == kSealedVersion;
}

Status upgrade_journal_file(Database& database) {
  const auto version = format_of(database);
  if (!version) return fail(version.error());
  if (*version >= kFormatVersion && *version <= kSealedVersion) return {};
  return in_write_transaction(database, [&] { return add_missing_formats(database); });
}

Status show_as_latest(Database& database) {
  const auto version = format_of(database);
  if (!version) return fail(version.error());
  if (*version >= kFormatVersion) return {};
  const std::string entries = *version >= 3 ? ""
                                            : "CREATE TEMP VIEW chain AS SELECT rowid AS id, *, " +
                                                  kEntryBefore + " AS before FROM main.entries e;";
  const std::string last = *version >= 3 ? "" : ", " + kLastEntry + " AS head_id";
  return execute(database, "PRAGMA temp_store = MEMORY;" + entries + "CREATE TEMP VIEW sessions AS SELECT *" +
                               last + ", '' AS label, '' AS tags FROM main.sessions s;");
}

Result<bool> is_sealed_journal(const std::string& path) {
  const auto header = read_header(path);
  if (!header) return fail(header.error());
  return version_in(*header) == kSealedVersion;
}

Status check_journal_file(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    if (errno == ENOENT) return fail(journal_error(ErrorKind::kNotFound, "no journal at " + path));
    return fail(system_error("cannot open " + path));
  }
  const auto header = read_header(path);
  if (!header) return fail(header.error());
  if (static_cast<std::int64_t>(big_endian(header->substr(kApplicationIdAt, 4))) != kApplicationId)
    return fail(journal_error(ErrorKind::kCorrupt, path + " is not a Praxis journal"));
  const auto version = version_in(*header);
  if (version > kSealedVersion) return fail(too_new(path, version));
  if (version < 1)
    return fail(journal_error(ErrorKind::kCorrupt, "journal " + path + " has format " +
                                                       std::to_string(version) + ", which does not exist"));
  return {};
}

}  // namespace praxis
