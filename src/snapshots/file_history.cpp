#include "snapshots/file_history.hpp"

#include <algorithm>
#include <utility>

#include "praxis/base/environment.hpp"
#include "praxis/json/json.hpp"
#include "snapshots/history_rows.hpp"
#include "store/write_transaction.hpp"

namespace praxis {

FileHistory::FileHistory(Database database)
    : database_(std::move(database)), owner_(system_environment()->new_id()) {}

Result<std::shared_ptr<FileHistory>> FileHistory::open(const std::string& path, bool create,
                                                       const AskStoreSecret& secret) {
  auto database = open_sqlite_file(path, file_history_form(), create, secret);
  if (!database) return fail(std::move(database.error()));
  database->wait_for_locks<kBusyTimeoutMs>();
  return std::shared_ptr<FileHistory>(new FileHistory(*std::move(database)));
}

template <class Work>
Status FileHistory::in_transaction(Work work) {
  const std::lock_guard lock(mutex_);
  return in_write_transaction(database_, std::move(work));
}

Status FileHistory::keep(const std::vector<KeptContent>& contents) {
  if (contents.empty()) return {};
  return in_transaction([&]() -> Status {
    for (const auto& [digest, bytes] : contents) {
      if (auto kept = write_content(database_, database_.sealer(), digest, bytes); !kept) return kept;
    }
    return {};
  });
}

Result<std::string> FileHistory::content(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  const Digest name = stored_name(database_.sealer(), digest);
  Query query(database_, "SELECT bytes FROM contents WHERE digest = ?1", name);
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (!*row)
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kNotFound,
                           "the file history lacks the content " + digest.hex(8)));
  auto bytes = opened(database_.sealer(), query.bytes(0), content_place(name));
  if (!bytes) return altered_value(database_);
  if (digest_of(*bytes) == digest) return *std::move(bytes);
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

Result<std::int64_t> FileHistory::insert(FileOperation operation, const std::optional<std::string>& states) {
  const auto began = tick();
  if (!began) return fail(began.error());
  operation.began = *began;
  operation.owner = owner_;
  return insert_operation(database_, operation, states);
}

Result<std::int64_t> FileHistory::begin(const FileOperation& operation, const FileStates& before) {
  std::int64_t id = 0;
  auto done = in_transaction([&]() -> Status {
    auto inserted = insert(operation, packed_states(before));
    if (!inserted) return fail(std::move(inserted.error()));
    id = *inserted;
    return {};
  });
  if (!done) return fail(std::move(done.error()));
  return id;
}

Status FileHistory::add_changes(std::int64_t operation, const std::vector<PathChange>& changes) {
  SealSum sum(database_);
  for (const PathChange& change : changes) {
    if (auto added = write_change(database_, database_.sealer(), operation, change, sum); !added)
      return added;
  }
  return sum.store();
}

Status FileHistory::finish(std::int64_t operation) {
  const auto now = tick();
  if (!now) return fail(now.error());
  return end_operation(database_, operation, *now);
}

Status FileHistory::end(std::int64_t operation, const FileStates& after) {
  const auto before = states_before(operation);
  if (!before) return fail(before.error());
  return in_transaction([&]() -> Status {
    if (auto added = add_changes(operation, differences(*before, after)); !added) return added;
    return finish(operation);
  });
}

Result<std::int64_t> FileHistory::begin_restore(const FileOperation& operation,
                                                const std::vector<PathChange>& changes) {
  std::int64_t id = 0;
  auto done = in_transaction([&]() -> Status {
    auto inserted = insert(operation, std::nullopt);
    if (!inserted) return fail(std::move(inserted.error()));
    id = *inserted;
    return add_changes(id, changes);
  });
  if (!done) return fail(std::move(done.error()));
  return id;
}

Status FileHistory::drop(std::int64_t operation, const std::string& path) {
  return in_transaction([&] { return drop_change(database_, operation, path); });
}

Status FileHistory::end_restore(std::int64_t operation) {
  return in_transaction([&] { return finish(operation); });
}

Result<std::vector<FileOperation>> FileHistory::operations(const std::vector<SessionId>& sessions) {
  JsonArray ids;
  for (const SessionId& session : sessions) ids.emplace_back(session.str());
  const std::string list = to_json_text(Json(std::move(ids)));
  const std::lock_guard lock(mutex_);
  return read_operations(database_, database_.sealer(),
                         "SELECT id, session, effect, tool, time, after, began, ended, owner, places FROM "
                         "operations WHERE session IN (SELECT value FROM json_each(?1)) ORDER BY began",
                         list);
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
  return read_operations(database_, database_.sealer(),
                         "SELECT id, session, effect, tool, time, after, began, ended, owner, places FROM "
                         "operations WHERE session = ?1 AND ended = 0 ORDER BY began",
                         session.str());
}

Result<std::vector<PathChange>> FileHistory::changes(std::int64_t operation) {
  const std::lock_guard lock(mutex_);
  auto rows = read_changes(database_, database_.sealer(), operation);
  if (!rows) return fail(std::move(rows.error()));
  std::vector<PathChange> found;
  for (StoredChange& row : *rows) found.push_back(std::move(row.change));
  std::ranges::sort(found, {}, &PathChange::path);
  return found;
}

Result<FileStates> FileHistory::states_before(std::int64_t operation) {
  const std::lock_guard lock(mutex_);
  auto text = read_states(database_, database_.sealer(), operation);
  if (!text) return fail(std::move(text.error()));
  auto states = *text ? unpacked_states(**text) : std::nullopt;
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
      if (auto taken = take_from_sum(database_, session); !taken) return taken;
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
