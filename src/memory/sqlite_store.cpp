// A memory in a SQLite file. All statements are constants: names, words and values are bound.
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "memory/memory_file.hpp"
#include "memory/note_store.hpp"
#include "memory/sqlite_vectors.hpp"
#include "memory/sqlite_words.hpp"
#include "memory/words.hpp"

namespace praxis {
namespace {

/// The words as a query of FTS5: any of them. A word has letters and digits only, so that it needs no escape.
std::string any_of_words(const std::vector<std::string>& words, bool only_long) {
  std::string query;
  for (const std::string& word : words) {
    if (only_long && !has_pieces(word)) continue;
    query.append(query.empty() ? "\"" : " OR \"").append(word).append("\"");
  }
  return query;
}

std::int64_t number_of(NoteSpace space) { return static_cast<std::int64_t>(space); }

class SqliteStore final : public NoteStore {
 public:
  SqliteStore(Database database, MemoryLimits limits) : database_(std::move(database)), limits_(limits) {}

  Result<bool> put(NoteSpace space, const Note& note, const std::string& once) override {
    const std::string value = to_json_text(note.value), text = searchable_text(note.key, note.value);
    return in_transaction([&]() -> Result<bool> {
      const auto known = result_of(once);
      if (!known) return fail(known.error());
      if (*known) return false;
      if (auto gone = take_out(space, note.collection, note.key); !gone) return fail(gone.error());
      auto done = add(space, note, value, text);
      if (done) done = know(once, true);
      if (!done) return fail(std::move(done.error()));
      return true;
    });
  }

  Result<std::optional<Note>> get(NoteSpace space, const std::string& collection,
                                  const std::string& key) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    std::optional<Note> found;
    auto read = rows(
        collection,
        [&](Note note) {
          found = std::move(note);
          return false;
        },
        "SELECT key, value, written FROM notes WHERE space = ?1 AND collection = ?2 AND key = ?3",
        number_of(space), collection, key);
    if (!read) return fail(std::move(read.error()));
    return found;
  }

  Status visit_keys(NoteSpace space, const std::string& collection, const std::string& after,
                    const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    return rows(collection, visit,
                "SELECT key, value, written FROM notes WHERE space = ?1 AND collection = ?2 AND key > ?3 "
                "ORDER BY key",
                number_of(space), collection, after);
  }

  Status visit_newest(NoteSpace space, const std::string& collection, const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    return rows(collection, visit,
                "SELECT key, value, written FROM notes WHERE space = ?1 AND collection = ?2 ORDER BY id DESC",
                number_of(space), collection);
  }

  Status visit_oldest(NoteSpace space, const std::string& collection, const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    return rows(collection, visit,
                "SELECT key, value, written FROM notes WHERE space = ?1 AND collection = ?2 ORDER BY id",
                number_of(space), collection);
  }

  Status visit_written(NoteSpace space, const std::string& collection, const std::string& after,
                       const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    const auto start = id_of(space, collection, after);
    if (!start) return fail(start.error());
    if (*start == 0) return fail(ErrorCode::kInput, "the stream has no entry \"" + after + '"');
    return rows(collection, visit,
                "SELECT key, value, written FROM notes WHERE space = ?1 AND collection = ?2 AND id > ?3 "
                "ORDER BY id",
                number_of(space), collection, *start);
  }

  Result<std::vector<FoundNote>> find(NoteSpace space, const std::string& collection,
                                      const std::vector<std::string>& words, const MeaningQuery* meaning,
                                      const Keep& keep, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    const Wanted wanted{space, collection, keep, limit};
    std::map<std::int64_t, FoundNote> found;
    auto done = take_best(words_, any_of_words(words, false), wanted, &Scored::words, found);
    if (done) done = take_best(pieces_, any_of_words(words, true), wanted, &Scored::pieces, found);
    if (done && meaning != nullptr && space == NoteSpace::kCollection)
      done = take_best(vectors_, *meaning, wanted, &Scored::meaning, found);
    if (!done) return fail(std::move(done.error()));
    std::vector<FoundNote> result;
    for (auto& [id, each] : found) result.push_back(std::move(each));
    return result;
  }

  Result<std::vector<PlainNote>> without_vector(const std::string& model, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    return vectors_.missing(model, limit);
  }

  Result<std::optional<std::vector<float>>> known_vector(const std::string& model,
                                                         const std::string& hash) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    return vectors_.known(model, hash);
  }

  Status add_vectors(const std::string& model, const std::vector<NoteVector>& vectors) override {
    auto added = in_transaction([&]() -> Result<bool> {
      if (auto done = vectors_.add(model, vectors); !done) return fail(std::move(done.error()));
      return true;
    });
    if (!added) return fail(std::move(added.error()));
    return {};
  }

  Result<bool> remove(NoteSpace space, const std::string& collection, const std::optional<std::string>& key,
                      const std::string& once) override {
    auto removed = in_transaction([&]() -> Result<bool> {
      auto known = result_of(once);
      if (!known) return fail(known.error());
      if (*known) return **known;
      auto gone = key ? take_out(space, collection, *key) : take_out_all(space, collection);
      if (!gone) return gone;
      auto done = know(once, *gone);
      if (done && *gone) done = forget_words();
      if (!done) return fail(std::move(done.error()));
      return gone;
    });
    if (!removed) return removed;
    if (auto cleaned = clean(); !cleaned) return fail(std::move(cleaned.error()));
    return removed;
  }

  Result<std::vector<CollectionInfo>> collections(NoteSpace space) override {
    const std::lock_guard lock(mutex_);
    if (auto fresh = sealed_.refresh(); !fresh) return fail(std::move(fresh.error()));
    std::vector<CollectionInfo> all;
    Query query(database_,
                "SELECT collection, count(*), sum(bytes), max(written) FROM notes WHERE space = ?1 "
                "GROUP BY collection ORDER BY collection",
                number_of(space));
    for (;;) {
      auto row = query.next();
      if (!row) return fail(std::move(row.error()));
      if (!*row) return all;
      all.push_back({query.text(0), query.number(1), query.number(2), {query.integer(3)}});
    }
  }

  Status change(NoteSpace space, const std::string& collection, const std::vector<Note>& writes,
                const std::vector<std::string>& removals, const std::string& once) override {
    auto changed = in_transaction([&]() -> Result<bool> {
      const auto known = result_of(once);
      if (!known) return fail(known.error());
      if (*known) return false;
      bool leaves_words = false;
      const auto take = [&](const std::string& key) -> Status {
        auto gone = take_out(space, collection, key);
        if (!gone) return fail(std::move(gone.error()));
        leaves_words = leaves_words || *gone;
        return {};
      };
      for (const std::string& key : removals) {
        if (auto gone = take(key); !gone) return fail(std::move(gone.error()));
      }
      for (const Note& note : writes) {
        auto done = take(note.key);
        if (done) done = add(space, note, to_json_text(note.value), searchable_text(note.key, note.value));
        if (!done) return fail(std::move(done.error()));
      }
      auto done = know(once, true);
      if (done && leaves_words) done = database_.run("UPDATE totals SET unclean = unclean | ?1", kHasWords);
      if (!done) return fail(std::move(done.error()));
      return true;
    });
    if (!changed) return fail(std::move(changed.error()));
    return {};
  }

  Status purge() override {
    const auto merged = in_transaction([&]() -> Result<bool> {
      const auto now = totals();
      if (!now) return fail(now.error());
      if ((now->unclean & kHasWords) == 0) return false;
      if (auto done = forget_words(); !done) return fail(std::move(done.error()));
      return true;
    });
    if (!merged) return fail(merged.error());
    return clean();
  }

  /// Before any other call.
  Status prepare() {
    auto done = sealed_.prepare();
    if (done) done = words_.prepare();
    return done ? pieces_.prepare() : done;
  }

  /// Makes up for a process that was killed between removing notes and cleaning the log.
  Status clean() {
    const std::lock_guard lock(mutex_);
    const auto unclean = totals();
    if (!unclean) return fail(unclean.error());
    if ((unclean->unclean & kHasLog) == 0) return {};
    if (auto emptied = empty_log(); !emptied) return emptied;
    return database_.run("UPDATE totals SET unclean = unclean & ?1", kHasWords);
  }

 private:
  /// Where content that was removed may still be: in the log, and in the indexes of the search.
  static constexpr std::int64_t kHasLog = 1, kHasWords = 2;

  struct Totals {
    std::size_t notes = 0, bytes = 0;
    std::int64_t unclean = 0;  ///< `kHasLog`, `kHasWords`
  };

  template <class Change>
  Result<bool> in_transaction(Change change) {
    const std::lock_guard lock(mutex_);
    const auto turn = database_.begin();
    if (!turn) return fail(turn.error());
    auto fresh = sealed_.refresh();
    Result<bool> changed = fresh ? change() : fail(std::move(fresh.error()));
    auto ended = database_.run(changed ? "COMMIT" : "ROLLBACK");
    if (!changed || !ended) sealed_.forget_version();
    if (changed && !ended) {
      std::ignore = database_.run("ROLLBACK");
      return fail(std::move(ended.error()));
    }
    return changed;
  }

  /// Gives the rows `key, value, written` of a statement to `visit`.
  template <class... Values>
  Status rows(const std::string& collection, const Visit& visit, std::string_view sql,
              const Values&... values) {
    Query query(database_, sql, values...);
    for (;;) {
      auto row = query.next();
      if (!row) return fail(std::move(row.error()));
      if (!*row) return {};
      auto note = note_in(query, collection, 0);
      if (!note) return fail(std::move(note.error()));
      if (!visit(*std::move(note))) return {};
    }
  }

  Result<Note> note_in(const Query& query, std::string collection, int first) const {
    auto value = parse_json(query.bytes(first + 1));
    if (!value) {
      return fail(
          make_error(ErrorCode::kJournal, ErrorKind::kCorrupt,
                     "memory " + database_.path() + ": a value is damaged: " + value.error().message));
    }
    return Note{std::move(collection), query.text(first), *std::move(value), {query.integer(first + 2)}};
  }

  /// Which notes of a ranking take part.
  struct Wanted {
    NoteSpace space;
    const std::string& collection;  ///< empty: all
    const Keep& keep;
    std::size_t limit = 0;
  };

  /// Adds the best of one ranking to `found`.
  template <class Ranking, class Text>
  Status take_best(Ranking& ranking, const Text& query, const Wanted& wanted,
                   std::optional<double> Scored::* score, std::map<std::int64_t, FoundNote>& found) {
    Status read;
    std::size_t taken = 0;
    auto visited = ranking.visit_best(query, [&](std::int64_t id, double value) {
      auto place = found.find(id);
      if (place == found.end()) {
        auto note = note_if_wanted(id, wanted);
        if (!note) {
          read = fail(std::move(note.error()));
          return false;
        }
        if (!*note) return true;
        place = found.emplace(id, FoundNote{**std::move(note), {id, {}, {}}}).first;
      }
      place->second.scores.*score = value;
      return ++taken < wanted.limit;
    });
    return visited ? read : visited;
  }

  /// Nothing also if another process has removed it.
  Result<std::optional<Note>> note_if_wanted(std::int64_t id, const Wanted& wanted) {
    Query query(database_,
                "SELECT collection, key, value, written FROM notes WHERE id = ?1 AND space = ?2 AND "
                "(?3 = '' OR collection = ?3)",
                id, number_of(wanted.space), wanted.collection);
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return std::nullopt;
    auto note = note_in(query, query.text(0), 1);
    if (!note) return fail(std::move(note.error()));
    if (!wanted.keep(note->value)) return std::nullopt;
    return std::optional(*std::move(note));
  }

  /// The result of a change with this key, if there was one.
  Result<std::optional<bool>> result_of(const std::string& once) {
    if (once.empty()) return std::nullopt;
    Query query(database_, "SELECT result FROM effects WHERE key = ?1", once);
    const auto row = query.next();
    if (!row) return fail(row.error());
    return *row ? std::optional(query.integer(0) != 0) : std::nullopt;
  }

  Status know(const std::string& once, bool result) {
    if (once.empty()) return {};
    auto added = database_.run("INSERT INTO effects (key, result) VALUES (?1, ?2)", once,
                               std::int64_t{result ? 1 : 0});
    if (!added) return added;
    return database_.run("DELETE FROM effects WHERE id <= (SELECT max(id) FROM effects) - ?1", kKnownEffects);
  }

  /// 0 if there is no such note.
  Result<std::int64_t> id_of(NoteSpace space, const std::string& collection, const std::string& key) {
    Query query(database_, "SELECT id FROM notes WHERE space = ?1 AND collection = ?2 AND key = ?3",
                number_of(space), collection, key);
    const auto row = query.next();
    if (!row) return fail(row.error());
    return *row ? query.integer(0) : std::int64_t{0};
  }

  Result<Totals> totals() {
    Query query(database_, "SELECT notes, bytes, unclean FROM totals");
    if (auto row = query.next(); !row) return fail(std::move(row.error()));
    return Totals{query.number(0), query.number(1), query.integer(2)};
  }

  Status add(NoteSpace space, const Note& note, const std::string& value, const std::string& text) {
    const std::size_t bytes = note.key.size() + value.size();
    const auto now = totals();
    if (!now) return fail(now.error());
    if (auto room = check_memory_room(limits_, now->notes + 1, now->bytes + bytes); !room) return room;
    const auto next = sealed_.next_id();
    if (!next) return fail(next.error());
    auto done = database_.run(
        "INSERT INTO notes (id, space, collection, key, written, bytes, value, text) "
        "VALUES (nullif(?8, 0), ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        number_of(space), note.collection, note.key, note.written.value, std::uint64_t{bytes}, value, text,
        *next);
    const std::int64_t id = sqlite3_last_insert_rowid(database_.handle());
    if (done) done = database_.run("INSERT INTO words (rowid, text) VALUES (?1, ?2)", id, text);
    if (done) done = database_.run("INSERT INTO pieces (rowid, text) VALUES (?1, ?2)", id, text);
    if (done) done = sealed_.write_note(id);
    if (!done) return done;
    // Without the row, SQLite takes the statement for one that writes several, and prepares to undo it alone:
    // for that, FTS5 ends the part of the index that it holds in memory, after each note of a change.
    return database_.run("UPDATE totals SET notes = notes + 1, bytes = bytes + ?1 WHERE rowid = 1",
                         std::uint64_t{bytes});
  }

  /// Removes a note from the tables. False if it is not there.
  Result<bool> take_out(NoteSpace space, const std::string& collection, const std::string& key) {
    const auto id = id_of(space, collection, key);
    if (!id) return fail(id.error());
    if (*id == 0) return false;
    if (auto gone = take_out(*id); !gone) return fail(std::move(gone.error()));
    return true;
  }

  Status take_out(std::int64_t id) {
    auto done = database_.run(
        "UPDATE totals SET notes = notes - 1, bytes = bytes - (SELECT n.bytes FROM notes n WHERE n.id = ?1) "
        "WHERE rowid = 1",
        id);
    if (done) done = delete_note_row(database_, id);
    return done ? sealed_.remove(id) : done;
  }

  Result<bool> take_out_all(NoteSpace space, const std::string& collection) {
    std::vector<std::int64_t> ids;
    {
      Query query(database_, "SELECT id FROM notes WHERE space = ?1 AND collection = ?2", number_of(space),
                  collection);
      for (auto row = query.next(); !row || *row; row = query.next()) {
        if (!row) return fail(std::move(row.error()));
        ids.push_back(query.integer(0));
      }
    }
    for (const std::int64_t id : ids) {
      if (auto gone = take_out(id); !gone) return fail(std::move(gone.error()));
    }
    return !ids.empty();
  }

  /// FTS5 only marks words as deleted; merging all its segments drops them.
  Status forget_words() {
    auto done = database_.run("INSERT INTO words (words) VALUES ('optimize')");
    if (done) done = database_.run("INSERT INTO pieces (pieces) VALUES ('optimize')");
    if (!done) return done;
    return database_.run("UPDATE totals SET unclean = ?1", kHasLog);
  }

  /// Copies the log into the file and cuts it to nothing: it holds pages from before the removal.
  Status empty_log() {
    Query query(database_, "PRAGMA wal_checkpoint(TRUNCATE)");
    if (auto row = query.next(); !row) return fail(std::move(row.error()));
    if (query.integer(0) == 0) return {};
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kIo,
                           "memory " + database_.path() +
                               ": forgotten, but another process keeps its log in use, which still has the "
                               "content; what is removed next, or opens the memory next, empties it",
                           true));
  }

  std::mutex mutex_;
  Database database_;
  SealedNotes sealed_{database_};
  SqliteWords words_{database_, "count_words", "SELECT count_words(words) FROM words WHERE words MATCH ?1"};
  SqliteWords pieces_{database_, "count_pieces",
                      "SELECT count_pieces(pieces) FROM pieces WHERE pieces MATCH ?1"};
  SqliteVectors vectors_{database_, sealed_};
  const MemoryLimits limits_;
};

}  // namespace

Result<MemoryClients> sealed_memory(const std::string& path, MemoryUse use, MemoryOptions options,
                                    const AskStoreSecret& secret) {
  auto database = open_memory_file(path, use, secret);
  if (!database) return fail(std::move(database.error()));
  auto store = std::make_shared<SqliteStore>(*std::move(database), options.limits);
  if (auto ready = store->prepare(); !ready) return fail(std::move(ready.error()));
  if (auto cleaned = store->purge(); !cleaned) return fail(std::move(cleaned.error()));
  return clients_of(std::move(store), options);
}

Result<MemoryClients> sqlite_memory(const std::string& path, MemoryUse use, MemoryOptions options) {
  return sealed_memory(path, use, std::move(options), {});
}

}  // namespace praxis
