#include "memory/sqlite_sealed.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "memory/sqlite_vectors.hpp"
#include "memory/words.hpp"
#include "praxis/json/json.hpp"

namespace praxis {
namespace {

constexpr const char* kTablesInMemory = R"(
CREATE TEMP TABLE notes (
  id INTEGER PRIMARY KEY, space INTEGER NOT NULL, collection TEXT NOT NULL, key TEXT NOT NULL,
  written INTEGER NOT NULL, bytes INTEGER NOT NULL, value TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (space, collection, key));
CREATE INDEX temp.notes_by_collection ON notes (space, collection);
CREATE VIRTUAL TABLE temp.words USING fts5(text, content = 'notes', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE temp.pieces USING fts5(text, content = 'notes', content_rowid = 'id', tokenize = 'trigram');
)";

/// A row of `notes`; of a sealed file: opened.
struct NoteRow {
  std::int64_t id = 0, space = 0, written = 0, bytes = 0;
  std::string collection, key, value;
};

SealPlace note_place(const NoteRow& row) {
  return SealPlace("notes.value").add(row.id).add(row.space).add(row.written).add(row.bytes);
}

std::string packed_note(const NoteRow& row) {
  return to_json_text(JsonArray{row.collection, row.key}) + '\n' + row.value;
}

bool unpack_note(std::string_view packed, NoteRow& row) {
  const auto end = packed.find('\n');
  const auto names = end == std::string_view::npos ? Result<Json>(Json()) : parse_json(packed.substr(0, end));
  if (!names || !names->is_array() || names->get_array().size() != 2) return false;
  for (const Json& name : names->get_array()) {
    if (!name.is_string()) return false;
  }
  row.collection = std::string(names->get_array()[0].get_string());
  row.key = std::string(names->get_array()[1].get_string());
  row.value = packed.substr(end + 1);
  return true;
}

/// Reads `id, space, written, bytes, collection, key, value`. False: it does not open.
bool read_note(const Query& query, const Sealer* sealer, NoteRow& row) {
  row = {query.integer(0), query.integer(1), query.integer(2), query.integer(3),
         query.text(4),    query.text(5),    query.text(6)};
  if (sealer == nullptr) return true;
  const auto packed = sealer->open(row.value, note_place(row));
  return packed && unpack_note(*packed, row);
}

SealPlace vector_place(std::int64_t place, std::int64_t note, std::string_view model) {
  return SealPlace("vectors.vector").add(place).add(note).add(model);
}

std::string packed_vector(std::string_view hash, std::string_view bytes) {
  return std::string(hash).append(1, '\n').append(bytes);
}

/// A row of `vectors`, opened.
struct VectorRow {
  std::int64_t place = 0, note = 0;
  std::string model, hash, bytes;
};

/// Reads `place, note, model, hash, vector`. False: it does not open.
bool read_vector(const Query& query, const Sealer* sealer, VectorRow& row) {
  row = {query.integer(0), query.integer(1), query.text(2), query.text(3), query.text(4)};
  if (sealer == nullptr) return true;
  const auto packed = sealer->open(row.bytes, vector_place(row.place, row.note, row.model));
  const auto end = packed ? packed->find('\n') : std::string::npos;
  if (end == std::string::npos) return false;
  row.hash = packed->substr(0, end);
  row.bytes = packed->substr(end + 1);
  return true;
}

Status exec_script(Database& database, const std::string& script) {
  if (sqlite3_exec(database.handle(), script.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(database.error());
}

Result<std::vector<std::int64_t>> numbers_of(Database& database, std::string_view sql) {
  std::vector<std::int64_t> numbers;
  Query query(database, sql);
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return numbers;
    numbers.push_back(query.integer(0));
  }
}

Status reseal_note(Database& database, const Sealer* from, const Sealer& to, std::int64_t id) {
  NoteRow note;
  {
    Query query(database,
                "SELECT id, space, written, bytes, collection, key, value FROM main.notes WHERE id = ?1", id);
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!read_note(query, from, note)) return altered_value(database);
  }
  const std::string packed = packed_note(note);
  const SealedText value(&to, std::string_view(packed), note_place(note));
  return database.run("UPDATE main.notes SET collection = '', key = id, value = ?2, text = '' WHERE id = ?1",
                      id, value.value());
}

Status reseal_vector(Database& database, const Sealer* from, const Sealer& to, std::int64_t place) {
  VectorRow vector;
  {
    Query query(database, "SELECT place, note, model, hash, vector FROM main.vectors WHERE place = ?1",
                place);
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!read_vector(query, from, vector)) return altered_value(database);
  }
  const std::string packed = packed_vector(vector.hash, vector.bytes);
  const SealedText value(&to, std::string_view(packed), vector_place(place, vector.note, vector.model));
  return database.run("UPDATE main.vectors SET hash = '', vector = ?2 WHERE place = ?1", place,
                      value.value());
}

}  // namespace

Status reseal_memory(Database& database, const Sealer* from, const Sealer& to) {
  if (auto made = exec_script(database, vector_tables("main")); !made) return made;
  // The indexes for the search hold the words; those of a sealed file stay empty.
  auto done = database.run("INSERT INTO main.words (words) VALUES ('delete-all')");
  if (done) done = database.run("INSERT INTO main.pieces (pieces) VALUES ('delete-all')");
  if (!done) return done;
  const auto notes = numbers_of(database, "SELECT id FROM main.notes");
  if (!notes) return fail(notes.error());
  for (const std::int64_t id : *notes) {
    if (done = reseal_note(database, from, to, id); !done) return done;
  }
  const auto vectors = numbers_of(database, "SELECT place FROM main.vectors");
  if (!vectors) return fail(vectors.error());
  for (const std::int64_t place : *vectors) {
    if (done = reseal_vector(database, from, to, place); !done) return done;
  }
  return {};
}

Status SealedNotes::prepare() {
  if (is_plain()) return {};
  // Otherwise SQLite could write what is in these tables, and what it sorts, to files of its own.
  if (auto set = database_.run("PRAGMA temp_store = MEMORY"); !set) return set;
  return exec_script(database_, kTablesInMemory + vector_tables("temp"));
}

Status SealedNotes::refresh() {
  if (is_plain()) return {};
  std::int64_t version = 0;
  {
    Query query(database_, "PRAGMA main.data_version");
    if (auto row = query.next(); !row) return fail(std::move(row.error()));
    version = query.integer(0);
  }
  if (version == version_) return {};
  const bool is_alone = !database_.in_transaction();
  if (auto begun = is_alone ? database_.run("BEGIN") : Status{}; !begun) return begun;
  auto read = read_changes();
  if (is_alone) {
    auto ended = database_.run(read ? "COMMIT" : "ROLLBACK");
    if (read) read = std::move(ended);
  }
  if (read) version_ = version;
  return read;
}

Status SealedNotes::read_changes() {
  auto read = drop_removed_notes();
  if (read) read = read_new_notes();
  return read ? read_new_vectors() : read;
}

Status SealedNotes::read_new_notes() {
  Query query(database_,
              "SELECT id, space, written, bytes, collection, key, value FROM main.notes WHERE id > (SELECT "
              "coalesce(max(id), 0) FROM temp.notes) ORDER BY id");
  NoteRow note;
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return {};
    if (!read_note(query, database_.sealer(), note)) return altered_value(database_);
    const auto json = parse_json(note.value);
    if (!json) return altered_value(database_);
    const std::string text = searchable_text(note.key, *json);
    auto done =
        database_.run("INSERT INTO temp.notes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", note.id, note.space,
                      note.collection, note.key, note.written, note.bytes, note.value, text);
    if (done) done = database_.run("INSERT INTO words (rowid, text) VALUES (?1, ?2)", note.id, text);
    if (done) done = database_.run("INSERT INTO pieces (rowid, text) VALUES (?1, ?2)", note.id, text);
    if (!done) return done;
  }
}

Status SealedNotes::read_new_vectors() {
  Query query(database_,
              "SELECT place, note, model, hash, vector FROM main.vectors WHERE place > (SELECT "
              "coalesce(max(place), 0) FROM temp.vectors) ORDER BY place");
  VectorRow vector;
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return {};
    if (!read_vector(query, database_.sealer(), vector)) return altered_value(database_);
    auto done = database_.run("INSERT INTO temp.vectors VALUES (?1, ?2, ?3, ?4, CAST(?5 AS BLOB))",
                              vector.place, vector.note, vector.model, vector.hash, vector.bytes);
    if (!done) return done;
  }
}

Status SealedNotes::drop_removed_notes() {
  const auto gone =
      numbers_of(database_, "SELECT id FROM temp.notes WHERE id NOT IN (SELECT id FROM main.notes)");
  if (!gone) return fail(gone.error());
  for (const std::int64_t id : *gone) {
    if (auto done = delete_note_row(database_, id); !done) return done;
  }
  return {};
}

Result<std::int64_t> SealedNotes::next_id() {
  if (is_plain()) return 0;
  Query query(database_, "SELECT coalesce(max(seq), 0) + 1 FROM main.sqlite_sequence WHERE name = 'notes'");
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.integer(0);
}

Status SealedNotes::write_note(std::int64_t id) {
  if (is_plain()) return {};
  NoteRow note;
  {
    Query query(database_,
                "SELECT id, space, written, bytes, collection, key, value FROM temp.notes WHERE id = ?1", id);
    if (auto row = query.next(); !row) return fail(std::move(row.error()));
    read_note(query, nullptr, note);
  }
  const std::string packed = packed_note(note);
  const SealedText value(database_.sealer(), std::string_view(packed), note_place(note));
  SealSum sum(database_);
  sum.change(value.sealed());
  auto done = database_.run(
      "INSERT INTO main.notes (id, space, collection, key, written, bytes, value, text) VALUES (?1, ?2, '', "
      "?1, ?3, ?4, ?5, '')",
      note.id, note.space, note.written, note.bytes, value.value());
  return done ? sum.store() : done;
}

Status SealedNotes::write_vector(std::int64_t place) {
  if (is_plain()) return {};
  VectorRow vector;
  {
    Query query(database_, "SELECT place, note, model, hash, vector FROM temp.vectors WHERE place = ?1",
                place);
    if (auto row = query.next(); !row) return fail(std::move(row.error()));
    read_vector(query, nullptr, vector);
  }
  const std::string packed = packed_vector(vector.hash, vector.bytes);
  const SealedText value(database_.sealer(), std::string_view(packed),
                         vector_place(place, vector.note, vector.model));
  SealSum sum(database_);
  sum.change(value.sealed());
  auto done = database_.run("INSERT INTO main.vectors VALUES (?1, ?2, ?3, '', ?4)", place, vector.note,
                            vector.model, value.value());
  return done ? sum.store() : done;
}

Status SealedNotes::remove(std::int64_t id) {
  if (is_plain()) return {};
  SealSum sum(database_);
  {
    Query query(database_,
                "SELECT value FROM main.notes WHERE id = ?1 UNION ALL SELECT vector FROM main.vectors WHERE "
                "note = ?1",
                id);
    for (auto row = query.next(); !row || *row; row = query.next()) {
      if (!row) return fail(row.error());
      sum.change(query.bytes(0));
    }
  }
  // A trigger removes the vectors.
  auto done = database_.run("DELETE FROM main.notes WHERE id = ?1", id);
  return done ? sum.store() : done;
}

Status delete_note_row(Database& database, std::int64_t id) {
  auto done = database.run(
      "INSERT INTO words (words, rowid, text) SELECT 'delete', id, text FROM notes WHERE id = ?1", id);
  if (done) {
    done = database.run(
        "INSERT INTO pieces (pieces, rowid, text) SELECT 'delete', id, text FROM notes WHERE id = ?1", id);
  }
  return done ? database.run("DELETE FROM notes WHERE id = ?1", id) : done;
}

}  // namespace praxis
