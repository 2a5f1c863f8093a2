#include "memory/memory_file.hpp"

#include "memory/sqlite_sealed.hpp"

namespace praxis {
namespace {

// `notes.id` is the order of writing. The indexes for the search read their text from `notes`, and get it
// again when a row is removed, so that no second copy is kept. `totals` saves counting all rows for each
// write. Diacritics are kept so that the words found are those of `words_of`. The parts of an index are
// merged sixteen at a time, not step by step with each write: that costs a third less.
constexpr const char* kTables = R"(
CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, collection TEXT NOT NULL, key TEXT NOT NULL,
  written INTEGER NOT NULL, bytes INTEGER NOT NULL, value TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (space, collection, key));
CREATE INDEX notes_by_collection ON notes (space, collection);
CREATE VIRTUAL TABLE words USING fts5(text, content = 'notes', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE pieces USING fts5(text, content = 'notes', content_rowid = 'id', tokenize = 'trigram');
CREATE TABLE effects (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, result INTEGER NOT NULL);
CREATE TABLE totals (notes INTEGER NOT NULL, bytes INTEGER NOT NULL, unclean INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0, 0);
INSERT INTO words (words, rank) VALUES ('automerge', 0);
INSERT INTO pieces (pieces, rank) VALUES ('automerge', 0);
)";

}  // namespace

const SqliteFileForm& memory_form() {
  static constexpr SqliteFileForm kForm{
      "memory",
      0x5052584D,  // "PRXM"
      1,
      kTables,
      2,
      "SELECT substr(value, 1, 25) FROM main.notes UNION ALL SELECT substr(vector, 1, 25) FROM main.vectors",
      reseal_memory};
  return kForm;
}

Result<Database> open_memory_file(const std::string& path, MemoryUse use, const AskStoreSecret& secret) {
  auto database = open_sqlite_file(path, memory_form(), use == MemoryUse::kCreate, secret);
  if (!database) return database;
  // What is removed is overwritten with zeros, also in pages that become free.
  if (auto set = database->run("PRAGMA secure_delete = ON"); !set) return fail(std::move(set.error()));
  return database;
}

}  // namespace praxis
