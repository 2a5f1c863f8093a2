#include "snapshots/file_history.hpp"

#include <tuple>

#include "praxis/base/environment.hpp"
#include "praxis/json/json.hpp"
#include "store/sqlite_file.hpp"

namespace praxis {
namespace {

// `began` and `ended` are values of `clock`, which orders the operations of all processes. `states` holds
// what was there before a call, until the call has ended.
constexpr const char* kHistoryTables = R"sql(
CREATE TABLE contents (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE clock (now INTEGER NOT NULL);
INSERT INTO clock VALUES (0);
CREATE TABLE operations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, effect TEXT NOT NULL, tool TEXT NOT NULL,
  time INTEGER NOT NULL, after INTEGER NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL,
  owner TEXT NOT NULL, places TEXT NOT NULL, states BLOB);
CREATE INDEX operations_by_session ON operations (session, began);
CREATE TABLE changes (
  operation INTEGER NOT NULL, path TEXT NOT NULL,
  kind INTEGER NOT NULL, mode INTEGER NOT NULL, size INTEGER NOT NULL, digest BLOB NOT NULL,
  new_kind INTEGER NOT NULL, new_mode INTEGER NOT NULL, new_size INTEGER NOT NULL, new_digest BLOB NOT NULL,
  PRIMARY KEY (operation, path)) WITHOUT ROWID;
)sql";

constexpr SqliteFileForm kHistoryForm{"file history", 0x50525846 /* "PRXF" */, 1, kHistoryTables};

FileState state_in(const Query& row, int column) {
  return {static_cast<FileState::Kind>(row.integer(column)),
          static_cast<std::uint32_t>(row.integer(column + 1)), row.number(column + 2),
          row.digest(column + 3)};
}

}  // namespace

FileHistory::FileHistory(Database database)
    : database_(std::move(database)), owner_(system_environment()->new_id()) {}

Result<std::shared_ptr<FileHistory>> FileHistory::open(const std::string& path, bool create) {
  auto database = open_sqlite_file(path, kHistoryForm, create);
  if (!database) return fail(std::move(database.error()));
  database->wait_for_locks<kBusyTimeoutMs>();
  return std::shared_ptr<FileHistory>(new FileHistory(*std::move(database)));
}

template <class Work>
Status FileHistory::in_transaction(Work work) {
  const std::lock_guard lock(mutex_);
  const auto turn = database_.begin();
  if (!turn) return fail(turn.error());
  Status done = work();
  auto ended = database_.run(done ? "COMMIT" : "ROLLBACK");
  if (done && !ended) std::ignore = database_.run("ROLLBACK");
  return done ? ended : done;
}

Status FileHistory::keep(const std::vector<KeptContent>& contents) {
  if (contents.empty()) return {};
  return in_transaction([&]() -> Status {
    for (const auto& [digest, bytes] : contents) {
      auto kept =
          database_.run("INSERT OR IGNORE INTO contents VALUES (?1, CAST(?2 AS BLOB))", digest, bytes);
      if (!kept) return kept;
    }
    return {};
  });
}

Result<std::string> FileHistory::content(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  Query query(database_, "SELECT bytes FROM contents WHERE digest = ?1", digest);
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (!*row)
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kNotFound,
                           "the file history lacks the content " + digest.hex(8)));
  std::string bytes = query.text(0);
  if (digest_of(bytes) == digest) return bytes;
  return fail(make_error(ErrorCode::kJournal, ErrorKind::kCorrupt,
                         "the file history holds a damaged content, " + digest.hex(8)));
}

Result<std::uint64_t> FileHistory::tick() {
  Query query(database_, "UPDATE clock SET now = now + 1 RETURNING now");
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  const std::uint64_t now = query.number(0);
  if (auto last = query.next(); !last) return fail(std::move(last.error()));
  return now;
}

Status FileHistory::insert(const FileOperation& operation, const std::optional<std::string>& states) {
  const auto began = tick();
  if (!began) return fail(began.error());
  const std::string places = to_json_text(to_json(operation.places));
  return database_.run(
      "INSERT INTO operations (session, effect, tool, time, after, began, ended, owner, places, states) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8, CAST(?9 AS BLOB))",
      operation.session.str(), operation.effect, operation.tool, operation.time.value, operation.after,
      *began, owner_, places, states);
}

Result<std::int64_t> FileHistory::begin(const FileOperation& operation, const FileStates& before) {
  std::int64_t id = 0;
  auto done = in_transaction([&]() -> Status {
    auto inserted = insert(operation, packed_states(before));
    id = sqlite3_last_insert_rowid(database_.handle());
    return inserted;
  });
  if (!done) return fail(std::move(done.error()));
  return id;
}

Status FileHistory::add_changes(std::int64_t operation, const std::vector<PathChange>& changes) {
  for (const auto& [path, before, after] : changes) {
    const auto kind = static_cast<std::int64_t>(before.kind),
               new_kind = static_cast<std::int64_t>(after.kind);
    const std::int64_t mode = before.mode, new_mode = after.mode;
    auto added = database_.run(
        "INSERT OR REPLACE INTO changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", operation, path,
        kind, mode, before.size, before.digest, new_kind, new_mode, after.size, after.digest);
    if (!added) return added;
  }
  return {};
}

Status FileHistory::end(std::int64_t operation, const FileStates& after) {
  const auto before = states_before(operation);
  if (!before) return fail(before.error());
  return in_transaction([&]() -> Status {
    if (auto added = add_changes(operation, differences(*before, after)); !added) return added;
    const auto now = tick();
    if (!now) return fail(now.error());
    return database_.run("UPDATE operations SET ended = ?2, states = NULL WHERE id = ?1", operation, *now);
  });
}

Result<std::int64_t> FileHistory::begin_restore(const FileOperation& operation,
                                                const std::vector<PathChange>& changes) {
  std::int64_t id = 0;
  auto done = in_transaction([&]() -> Status {
    if (auto inserted = insert(operation, std::nullopt); !inserted) return inserted;
    id = sqlite3_last_insert_rowid(database_.handle());
    return add_changes(id, changes);
  });
  if (!done) return fail(std::move(done.error()));
  return id;
}

Status FileHistory::drop(std::int64_t operation, const std::string& path) {
  return in_transaction([&] {
    return database_.run("DELETE FROM changes WHERE operation = ?1 AND path = ?2", operation, path);
  });
}

Status FileHistory::end_restore(std::int64_t operation) {
  return in_transaction([&]() -> Status {
    const auto now = tick();
    if (!now) return fail(now.error());
    return database_.run("UPDATE operations SET ended = ?2 WHERE id = ?1", operation, *now);
  });
}

Result<std::vector<FileOperation>> FileHistory::operations(const std::vector<SessionId>& sessions) {
  JsonArray ids;
  for (const SessionId& session : sessions) ids.emplace_back(session.str());
  const std::string list = to_json_text(Json(std::move(ids)));
  const std::lock_guard lock(mutex_);
  Query query(database_,
              "SELECT id, session, effect, tool, time, after, began, ended, owner, places FROM operations "
              "WHERE session IN (SELECT value FROM json_each(?1)) ORDER BY began",
              list);
  return read_operations(query);
}

Result<std::vector<SessionId>> FileHistory::sessions() {
  const std::lock_guard lock(mutex_);
  Query query(database_, "SELECT DISTINCT session FROM operations");
  std::vector<SessionId> found;
  for (;;) {
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return found;
    found.emplace_back(query.text(0));
  }
}

Result<std::vector<FileOperation>> FileHistory::open_operations(const SessionId& session) {
  const std::lock_guard lock(mutex_);
  Query query(database_,
              "SELECT id, session, effect, tool, time, after, began, ended, owner, places FROM operations "
              "WHERE session = ?1 AND ended = 0 ORDER BY began",
              session.str());
  return read_operations(query);
}

Result<std::vector<FileOperation>> FileHistory::read_operations(Query& query) {
  std::vector<FileOperation> found;
  for (;;) {
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return found;
    const auto places = parse_json(query.text(9));
    found.push_back({query.integer(0), SessionId{query.text(1)}, query.text(2), query.text(3),
                     UnixMillis{query.integer(4)}, query.number(5), query.number(6), query.number(7),
                     query.text(8), places ? change_places_from(*places) : ChangePlaces{}});
  }
}

Result<std::vector<PathChange>> FileHistory::changes(std::int64_t operation) {
  const std::lock_guard lock(mutex_);
  Query query(database_,
              "SELECT path, kind, mode, size, digest, new_kind, new_mode, new_size, new_digest FROM changes "
              "WHERE operation = ?1 ORDER BY path",
              operation);
  std::vector<PathChange> found;
  for (;;) {
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return found;
    found.push_back({query.text(0), state_in(query, 1), state_in(query, 5)});
  }
}

Result<FileStates> FileHistory::states_before(std::int64_t operation) {
  const std::lock_guard lock(mutex_);
  Query query(database_, "SELECT states FROM operations WHERE id = ?1", operation);
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  auto states = *row ? unpacked_states(query.bytes(0)) : std::nullopt;
  if (states) return *std::move(states);
  return fail(make_error(ErrorCode::kJournal, ErrorKind::kCorrupt,
                         "the file history does not say what was there before a call"));
}

Status FileHistory::remove_unused() {
  // What a call in progress found is named in no row yet.
  Query open(database_, "SELECT 1 FROM operations WHERE states IS NOT NULL LIMIT 1");
  auto row = open.next();
  if (!row) return fail(std::move(row.error()));
  if (*row) return {};
  return database_.run(
      "DELETE FROM contents WHERE digest NOT IN "
      "(SELECT digest FROM changes UNION SELECT new_digest FROM changes)");
}

Status FileHistory::forget(const std::vector<SessionId>& sessions) {
  return in_transaction([&]() -> Status {
    for (const SessionId& session : sessions) {
      auto gone = database_.run(
          "DELETE FROM changes WHERE operation IN (SELECT id FROM operations WHERE session = ?1)",
          session.str());
      if (gone) gone = database_.run("DELETE FROM operations WHERE session = ?1", session.str());
      if (!gone) return gone;
    }
    return remove_unused();
  });
}

}  // namespace praxis
