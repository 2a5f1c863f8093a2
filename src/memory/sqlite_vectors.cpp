#include "memory/sqlite_vectors.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace praxis {
namespace {

std::string_view bytes_of_vector(const std::vector<float>& vector) {
  return {reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)};
}

std::vector<float> vector_of_bytes(std::string_view bytes) {
  std::vector<float> vector(bytes.size() / sizeof(float));
  std::memcpy(vector.data(), bytes.data(), vector.size() * sizeof(float));
  return vector;
}

}  // namespace

// `place` is the order in which vectors were added, so that the index reads only what is new.
std::string vector_tables(const std::string& schema) {
  return "CREATE TABLE IF NOT EXISTS " + schema +
         ".vectors (place INTEGER PRIMARY KEY AUTOINCREMENT, note INTEGER NOT NULL, model TEXT NOT NULL, "
         "hash TEXT NOT NULL, vector BLOB NOT NULL, UNIQUE (model, note));"
         "CREATE INDEX IF NOT EXISTS " +
         schema + ".vectors_by_place ON vectors (model, place);CREATE INDEX IF NOT EXISTS " + schema +
         ".vectors_by_hash ON vectors (model, hash);CREATE INDEX IF NOT EXISTS " + schema +
         ".vectors_by_note ON vectors (note);CREATE TRIGGER IF NOT EXISTS " + schema +
         ".forget_vectors AFTER DELETE ON notes BEGIN DELETE FROM vectors WHERE note = OLD.id; END;";
}

Status SqliteVectors::prepare() {
  if (is_prepared_ || database_.sealer() != nullptr) return {};
  if (sqlite3_exec(database_.handle(), vector_tables("main").c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return fail(database_.error());
  is_prepared_ = true;
  return {};
}

Result<std::vector<PlainNote>> SqliteVectors::missing(const std::string& model, std::size_t limit) {
  if (auto ready = prepare(); !ready) return fail(std::move(ready.error()));
  if (model != std::exchange(complete_model_, model)) complete_up_to_ = 0;
  Query last(database_, "SELECT max(id) FROM notes");
  if (auto row = last.next(); !row) return fail(std::move(row.error()));
  Query query(database_,
              "SELECT id, text FROM notes WHERE id > ?1 AND space = ?2 AND NOT EXISTS "
              "(SELECT 1 FROM vectors WHERE model = ?3 AND note = notes.id) ORDER BY id LIMIT ?4",
              complete_up_to_, static_cast<std::int64_t>(NoteSpace::kCollection), model,
              std::uint64_t{limit});
  std::vector<PlainNote> notes;
  for (;;) {
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) break;
    notes.push_back({query.integer(0), query.text(1)});
  }
  complete_up_to_ = notes.empty() ? last.integer(0) : notes.front().id - 1;
  return notes;
}

Result<std::optional<std::vector<float>>> SqliteVectors::known(const std::string& model,
                                                               const std::string& hash) {
  if (auto ready = prepare(); !ready) return fail(std::move(ready.error()));
  Query query(database_, "SELECT vector FROM vectors WHERE model = ?1 AND hash = ?2 LIMIT 1", model, hash);
  const auto row = query.next();
  if (!row) return fail(row.error());
  if (!*row) return std::nullopt;
  return vector_of_bytes(query.bytes(0));
}

Status SqliteVectors::add(const std::string& model, std::span<const NoteVector> vectors) {
  if (auto ready = prepare(); !ready) return ready;
  for (const NoteVector& each : vectors) {
    auto added = database_.run(
        "INSERT OR IGNORE INTO vectors (note, model, hash, vector) SELECT id, ?2, ?3, CAST(?4 AS BLOB) "
        "FROM notes WHERE id = ?1",
        each.note, model, each.hash, bytes_of_vector(each.vector));
    if (added && sqlite3_changes(database_.handle()) > 0)
      added = sealed_.write_vector(sqlite3_last_insert_rowid(database_.handle()));
    if (!added) return added;
  }
  return {};
}

Status SqliteVectors::visit_best(const MeaningQuery& query,
                                 const std::function<bool(std::int64_t id, double score)>& visit) {
  if (auto ready = prepare(); !ready) return ready;
  if (auto fresh = refresh(query.model); !fresh) return fresh;
  index_.visit_best(query.vector, [&](const VectorIndex::Match& match) {
    return visit(match.id, static_cast<double>(match.score));
  });
  return {};
}

Result<SqliteVectors::Seen> SqliteVectors::seen_now() {
  Query query(database_, "PRAGMA main.data_version");
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return Seen{query.integer(0), sqlite3_total_changes64(database_.handle())};
}

Status SqliteVectors::refresh(const std::string& model) {
  if (model != indexed_model_) {
    index_.clear();
    indexed_model_ = model;
    indexed_ = {};
    last_place_ = 0;
  }
  const auto now = seen_now();
  if (!now) return fail(now.error());
  if (*now == indexed_) return {};
  auto read = read_new(model);
  if (read) read = drop_removed(model);
  if (read) indexed_ = *now;
  return read;
}

Status SqliteVectors::read_new(const std::string& model) {
  Query fresh(database_,
              "SELECT place, note, vector FROM vectors WHERE model = ?1 AND place > ?2 ORDER BY place", model,
              last_place_);
  for (;;) {
    auto row = fresh.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return {};
    last_place_ = fresh.integer(0);
    index_.add(fresh.integer(1), vector_of_bytes(fresh.bytes(2)));
  }
}

Status SqliteVectors::drop_removed(const std::string& model) {
  {
    Query count(database_, "SELECT count(*) FROM vectors WHERE model = ?1", model);
    if (auto row = count.next(); !row) return fail(std::move(row.error()));
    if (count.number(0) == index_.size()) return {};
  }
  std::vector<std::int64_t> notes;
  Query query(database_, "SELECT note FROM vectors WHERE model = ?1 ORDER BY note", model);
  for (;;) {
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) break;
    notes.push_back(query.integer(0));
  }
  index_.keep_only([&](std::int64_t id) { return std::ranges::binary_search(notes, id); });
  return {};
}

}  // namespace praxis
