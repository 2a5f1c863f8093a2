#include "snapshots/history_rows.hpp"

#include <charconv>
#include <utility>

namespace praxis {
namespace {

// `began` and `ended` are values of `clock`, which orders the operations of all processes. `states` holds
// what was there before a call, until the call has ended. In a sealed file `changes.path` holds the whole
// change, and the digests are the names of the contents.
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

constexpr const char* kOperationColumns =
    "SELECT id, session, effect, tool, time, after, began, ended, owner, places FROM operations ORDER BY id";
constexpr const char* kOneOperation =
    "SELECT id, session, effect, tool, time, after, began, ended, owner, places FROM operations WHERE id = "
    "?1";

/// What of an operation never changes.
SealPlace part_place(std::string_view column, const FileOperation& operation) {
  return SealPlace(column).add(operation.session.str()).add(operation.effect).add(operation.began);
}

/// `places` is bound to all that is readable of its row.
SealPlace places_place(const FileOperation& operation) {
  return part_place("operations.places", operation)
      .add(operation.time.value)
      .add(operation.after)
      .add(operation.ended)
      .add(operation.owner);
}

SealPlace change_place(std::int64_t operation) { return SealPlace("changes.path").add(operation); }

std::string packed_change(const PathChange& change) {
  const std::string before = packed_states({{change.path, change.before}});
  return std::to_string(before.size()) + ' ' + before + packed_states({{change.path, change.after}});
}

std::optional<PathChange> unpacked_change(std::string_view text) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end == text.data() + text.size()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  const auto before = unpacked_states(text.substr(0, size));
  const auto after = size <= text.size() ? unpacked_states(text.substr(size)) : std::nullopt;
  if (!before || !after || before->size() != 1 || after->size() != 1) return std::nullopt;
  return PathChange{before->begin()->first, before->begin()->second, after->begin()->second};
}

FileState state_in(const Query& row, int column) {
  return {static_cast<FileState::Kind>(row.integer(column)),
          static_cast<std::uint32_t>(row.integer(column + 1)), row.number(column + 2),
          row.digest(column + 3)};
}

/// The state as the columns have it: a sealed file has no more than the name of the content.
FileState state_in_columns(const Sealer* sealer, const FileState& state) {
  if (sealer == nullptr) return state;
  return {FileState::Kind::kMissing, 0, 0, stored_name(sealer, state.digest)};
}

Result<FileOperation> operation_with(Database& database, std::int64_t id) {
  auto found = read_operations(database, database.sealer(), kOneOperation, id);
  if (!found) return fail(std::move(found.error()));
  if (found->size() == 1) return std::move(found->front());
  return fail(make_error(ErrorCode::kJournal, ErrorKind::kNotFound, "the file history lacks an operation"));
}

Result<std::string> stored_places(Database& database, std::int64_t operation) {
  Query query(database, "SELECT places FROM operations WHERE id = ?1", operation);
  const auto row = query.next();
  if (!row) return fail(row.error());
  return *row ? query.text(0) : std::string();
}

// ---- sealing what is there

Status reseal_content(Database& database, const Sealer* from, const Sealer& to, const Digest& name) {
  std::optional<std::string> bytes;
  {
    Query query(database, "SELECT bytes FROM contents WHERE digest = ?1", name);
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (*row) bytes = opened(from, query.bytes(0), content_place(name));
  }
  if (!bytes || stored_name(from, digest_of(*bytes)) != name) return altered_value(database);
  if (auto gone = database.run("DELETE FROM contents WHERE digest = ?1", name); !gone) return gone;
  return write_content(database, &to, digest_of(*bytes), *bytes);
}

Status reseal_contents(Database& database, const Sealer* from, const Sealer& to) {
  std::vector<Digest> names;
  {
    Query query(database, "SELECT digest FROM contents");
    for (auto row = query.next(); !row || *row; row = query.next()) {
      if (!row) return fail(row.error());
      names.push_back(query.digest(0));
    }
  }
  for (const Digest& name : names) {
    if (auto done = reseal_content(database, from, to, name); !done) return done;
  }
  return {};
}

Status reseal_operation(Database& database, const Sealer* from, const Sealer& to,
                        const FileOperation& operation) {
  const auto states = read_states(database, from, operation.id);
  if (!states) return fail(states.error());
  const auto changes = read_changes(database, from, operation.id);
  if (!changes) return fail(changes.error());
  const std::string json = to_json_text(to_json(operation.places));
  const SealedText tool(&to, std::string_view(operation.tool), part_place("operations.tool", operation)),
      places(&to, std::string_view(json), places_place(operation)),
      kept(&to, *states, [&] { return part_place("operations.states", operation); });
  auto done = database.run("UPDATE operations SET tool = ?2, places = ?3, states = ?4 WHERE id = ?1",
                           operation.id, tool.value(), places.value(), kept.value());
  if (done) done = database.run("DELETE FROM changes WHERE operation = ?1", operation.id);
  SealSum unused(database);  // the caller computes it of all values
  for (const StoredChange& each : *changes) {
    if (done) done = write_change(database, &to, operation.id, each.change, unused);
  }
  return done;
}

Status reseal_history(Database& database, const Sealer* from, const Sealer& to) {
  if (auto done = reseal_contents(database, from, to); !done) return done;
  const auto operations = read_operations(database, from, kOperationColumns);
  if (!operations) return fail(operations.error());
  for (const FileOperation& each : *operations) {
    if (auto done = reseal_operation(database, from, to, each); !done) return done;
  }
  return {};
}

}  // namespace

const SqliteFileForm& file_history_form() {
  static constexpr SqliteFileForm kForm{
      "file history",
      0x50525846,  // "PRXF"
      1,
      kHistoryTables,
      2,
      "SELECT substr(path, 1, 25) FROM changes UNION ALL SELECT substr(places, 1, 25) FROM operations",
      reseal_history};
  return kForm;
}

SealPlace content_place(const Digest& name) { return SealPlace("contents.bytes").add(name.hex()); }

Status write_content(Database& database, const Sealer* sealer, const Digest& digest, std::string_view bytes) {
  const Digest name = stored_name(sealer, digest);
  const SealedText kept(sealer, bytes, content_place(name));
  return database.run("INSERT OR IGNORE INTO contents VALUES (?1, CAST(?2 AS BLOB))", name, kept.value());
}

Result<std::int64_t> insert_operation(Database& database, const FileOperation& operation,
                                      const std::optional<std::string>& states) {
  const Sealer* sealer = database.sealer();
  const std::string json = to_json_text(to_json(operation.places));
  const SealedText tool(sealer, std::string_view(operation.tool), part_place("operations.tool", operation)),
      places(sealer, std::string_view(json), places_place(operation)),
      kept(sealer, states, [&] { return part_place("operations.states", operation); });
  auto inserted = database.run(
      "INSERT INTO operations (session, effect, tool, time, after, began, ended, owner, places, states) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, CAST(?10 AS BLOB))",
      operation.session.str(), operation.effect, tool.value(), operation.time.value, operation.after,
      operation.began, operation.ended, operation.owner, places.value(), kept.value());
  if (!inserted) return fail(std::move(inserted.error()));
  const std::int64_t id = sqlite3_last_insert_rowid(database.handle());
  SealSum sum(database);
  sum.change(places.sealed());
  if (auto stored = sum.store(); !stored) return fail(std::move(stored.error()));
  return id;
}

Status end_operation(Database& database, std::int64_t operation, std::uint64_t ended) {
  auto row = operation_with(database, operation);
  if (!row) return fail(row.error());
  const auto before = stored_places(database, operation);
  if (!before) return fail(before.error());
  row->ended = ended;
  const std::string json = to_json_text(to_json(row->places));
  const SealedText places(database.sealer(), std::string_view(json), places_place(*row));
  SealSum sum(database);
  sum.change(*before);
  sum.change(places.sealed());
  auto set = database.run("UPDATE operations SET ended = ?2, places = ?3, states = NULL WHERE id = ?1",
                          operation, ended, places.value());
  return set ? sum.store() : set;
}

Result<FileOperation> operation_in(const Database& database, const Sealer* sealer, const Query& row) {
  FileOperation operation{
      row.integer(0), SessionId{row.text(1)}, row.text(2),   "",          UnixMillis{row.integer(4)},
      row.number(5),  row.number(6),          row.number(7), row.text(8), {}};
  auto tool = opened(sealer, row.bytes(3), part_place("operations.tool", operation));
  const auto places = opened(sealer, row.bytes(9), places_place(operation));
  if (!tool || !places) return altered_value(database);
  operation.tool = *std::move(tool);
  if (const auto json = parse_json(*places)) operation.places = change_places_from(*json);
  return operation;
}

Result<std::optional<std::string>> read_states(Database& database, const Sealer* sealer,
                                               std::int64_t operation) {
  Query query(database, "SELECT states, session, effect, began FROM operations WHERE id = ?1", operation);
  const auto row = query.next();
  if (!row) return fail(row.error());
  if (!*row || query.is_null(0)) return std::nullopt;
  FileOperation owner;
  owner.session = SessionId{query.text(1)};
  owner.effect = query.text(2);
  owner.began = query.number(3);
  if (query.bytes(0).empty()) return std::string();
  auto states = opened(sealer, query.bytes(0), part_place("operations.states", owner));
  if (!states) return altered_value(database);
  return states;
}

Status write_change(Database& database, const Sealer* sealer, std::int64_t operation,
                    const PathChange& change, SealSum& sum) {
  const std::string packed = sealer == nullptr ? change.path : packed_change(change);
  const SealedText path(sealer, std::string_view(packed), change_place(operation));
  const FileState before = state_in_columns(sealer, change.before),
                  after = state_in_columns(sealer, change.after);
  const auto kind = static_cast<std::int64_t>(before.kind), new_kind = static_cast<std::int64_t>(after.kind);
  const std::int64_t mode = before.mode, new_mode = after.mode;
  sum.change(path.sealed());
  return database.run("INSERT OR REPLACE INTO changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                      operation, path.value(), kind, mode, before.size, before.digest, new_kind, new_mode,
                      after.size, after.digest);
}

Result<std::vector<StoredChange>> read_changes(Database& database, const Sealer* sealer,
                                               std::int64_t operation) {
  Query query(database,
              "SELECT path, kind, mode, size, digest, new_kind, new_mode, new_size, new_digest FROM changes "
              "WHERE operation = ?1",
              operation);
  std::vector<StoredChange> found;
  for (;;) {
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return found;
    const std::string stored = query.text(0);
    if (sealer == nullptr) {
      found.push_back({stored, {stored, state_in(query, 1), state_in(query, 5)}});
      continue;
    }
    const auto packed = sealer->open(stored, change_place(operation));
    auto change = packed ? unpacked_change(*packed) : std::nullopt;
    if (!change) return altered_value(database);
    found.push_back({stored, *std::move(change)});
  }
}

Status drop_change(Database& database, std::int64_t operation, const std::string& path) {
  const auto changes = read_changes(database, database.sealer(), operation);
  if (!changes) return fail(changes.error());
  SealSum sum(database);
  for (const auto& [stored, change] : *changes) {
    if (change.path != path) continue;
    sum.change(stored);
    auto gone = database.run("DELETE FROM changes WHERE operation = ?1 AND path = ?2", operation,
                             StoredValue{stored, database.sealer() != nullptr});
    if (!gone) return gone;
  }
  return sum.store();
}

Status take_from_sum(Database& database, const SessionId& session) {
  if (database.sealer() == nullptr) return {};
  SealSum sum(database);
  Query query(database,
              "SELECT path FROM changes WHERE operation IN (SELECT id FROM operations WHERE session = ?1) "
              "UNION ALL SELECT places FROM operations WHERE session = ?1",
              session.str());
  for (auto row = query.next(); !row || *row; row = query.next()) {
    if (!row) return fail(row.error());
    sum.change(query.bytes(0));
  }
  return sum.store();
}

}  // namespace praxis
