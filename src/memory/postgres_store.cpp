// A memory in a PostgreSQL database. All statements are constants: names, words and values are parameters.
// Names and values are `bytea`, which holds any byte; what is searched is text without NUL.
#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "journal/postgres_connection.hpp"
#include "memory/note_store.hpp"
#include "memory/postgres_vectors.hpp"
#include "memory/words.hpp"

namespace praxis {
namespace {

// `id` is the order of writing: writers hold the row of `praxis_memory_totals`, so that it is also the order
// of commits. A name may be larger than what an index holds, so digests of names are indexed.
const std::string kMemoryTables = R"sql(
CREATE TABLE praxis_memory_totals (
  version bigint NOT NULL, notes bigint NOT NULL, bytes bigint NOT NULL, next_id bigint NOT NULL);
INSERT INTO praxis_memory_totals VALUES (1, 0, 0, 1);
CREATE TABLE praxis_memory_notes (
  id bigint PRIMARY KEY, space bigint NOT NULL, collection bytea NOT NULL, key bytea NOT NULL,
  written bigint NOT NULL, bytes bigint NOT NULL, value bytea NOT NULL, text text NOT NULL, words text[] NOT NULL);
CREATE UNIQUE INDEX praxis_memory_by_name ON praxis_memory_notes (space, sha256(collection), sha256(key));
CREATE INDEX praxis_memory_by_word ON praxis_memory_notes USING gin (words);
CREATE TABLE praxis_memory_effects (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key bytea NOT NULL UNIQUE, result boolean NOT NULL);
)sql";
constexpr std::int64_t kMemoryVersion = 1;

/// An index holds at most some 2,700 bytes for each word. A longer run of letters is no word that a person
/// looks for.
constexpr std::size_t kMaxIndexedWord = 1000;

std::int64_t number_of_space(NoteSpace space) { return static_cast<std::int64_t>(space); }

/// Text of PostgreSQL holds no NUL.
std::string without_nul(std::string text) {
  std::ranges::replace(text, '\0', ' ');
  return text;
}

/// A note as its row.
struct NoteRow {
  std::string value, text;
  std::vector<std::string> words;
};

NoteRow row_of(const Note& note) {
  NoteRow row{to_json_text(note.value), without_nul(folded(searchable_text(note.key, note.value))), {}};
  for (const std::string& word : words_of(row.text)) {
    if (word.size() <= kMaxIndexedWord) row.words.push_back(stem_of(word));
  }
  return row;
}

Error damaged_value(const std::string& why) {
  return make_error(ErrorCode::kJournal, ErrorKind::kCorrupt, "a value of the memory is damaged: " + why);
}

/// The note in columns `key, value, written` from `first` on.
Result<Note> note_at(const PostgresRows& rows, int row, int first, std::string collection) {
  auto value = parse_json(rows.bytes(row, first + 1));
  if (!value) return fail(damaged_value(value.error().message));
  return Note{
      std::move(collection), rows.text(row, first), *std::move(value), {rows.integer(row, first + 2)}};
}

class PostgresStore final : public NoteStore {
 public:
  PostgresStore(std::string address, PostgresConnection connection, MemoryLimits limits)
      : address_(std::move(address)), connection_(std::move(connection)), limits_(limits) {}

  Result<bool> put(NoteSpace space, const Note& note, const std::string& once) override {
    return changed(once, false, [&]() -> Result<bool> {
      auto done = take_out(space, note.collection, note.key);
      if (!done) return done;
      if (auto added = add(space, note); !added) return fail(std::move(added.error()));
      return true;
    });
  }

  Result<std::optional<Note>> get(NoteSpace space, const std::string& collection,
                                  const std::string& key) override {
    const auto rows = asked(
        "SELECT key, value, written FROM praxis_memory_notes "
        "WHERE space = $1 AND sha256(collection) = sha256($2::bytea) AND sha256(key) = sha256($3::bytea)",
        {number_of_space(space), collection, key});
    if (!rows) return fail(rows.error());
    if (rows->size() == 0) return std::nullopt;
    auto note = note_at(*rows, 0, 0, collection);
    if (!note) return fail(std::move(note.error()));
    return *std::move(note);
  }

  Status visit_keys(NoteSpace space, const std::string& collection, const std::string& after,
                    const Visit& visit) override {
    std::string last = after;
    return pages(collection, visit, [&](const PostgresRows* before) {
      if (before != nullptr) last = before->text(before->size() - 1, 0);
      return asked(
          "SELECT key, value, written FROM praxis_memory_notes "
          "WHERE space = $1 AND sha256(collection) = sha256($2::bytea) AND key > $3::bytea ORDER BY key "
          "LIMIT 500",
          {number_of_space(space), collection, last});
    });
  }

  Status visit_newest(NoteSpace space, const std::string& collection, const Visit& visit) override {
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    return pages(collection, visit, [&](const PostgresRows* before) {
      if (before != nullptr) last = before->integer(before->size() - 1, 3);
      return asked(
          "SELECT key, value, written, id FROM praxis_memory_notes "
          "WHERE space = $1 AND sha256(collection) = sha256($2::bytea) AND id < $3::bigint ORDER BY id DESC "
          "LIMIT 500",
          {number_of_space(space), collection, last});
    });
  }

  Status visit_oldest(NoteSpace space, const std::string& collection, const Visit& visit) override {
    return visit_after(space, collection, 0, visit);
  }

  Status visit_written(NoteSpace space, const std::string& collection, const std::string& after,
                       const Visit& visit) override {
    const auto start = asked(
        "SELECT id FROM praxis_memory_notes "
        "WHERE space = $1 AND sha256(collection) = sha256($2::bytea) AND sha256(key) = sha256($3::bytea)",
        {number_of_space(space), collection, after});
    if (!start) return fail(start.error());
    if (start->size() == 0) return fail(ErrorCode::kInput, "the stream has no entry \"" + after + '"');
    return visit_after(space, collection, start->integer(0, 0), visit);
  }

  Result<std::vector<FoundNote>> find(NoteSpace space, const std::string& collection,
                                      const std::vector<std::string>& words, const MeaningQuery* meaning,
                                      const Keep& keep, std::size_t limit) override {
    std::vector<std::string> stems, pieces;
    for (const std::string& word : words) {
      if (std::string stem = stem_of(word); std::ranges::find(stems, stem) == stems.end())
        stems.push_back(std::move(stem));
      if (has_pieces(word)) pieces.push_back(word);
    }
    // BM25, as `bm25` of ranking.hpp has it, in millionths.
    const auto by_words = asked(
        "WITH used AS (SELECT count(*)::float8 AS texts, greatest(avg(cardinality(words)), 1)::float8 AS "
        "mean "
        "FROM praxis_memory_notes), "
        "terms AS (SELECT t.term, (SELECT count(*) FROM praxis_memory_notes WHERE words @> "
        "ARRAY[t.term])::float8 AS has "
        "FROM unnest($1::text[]) AS t(term)) "
        "SELECT n.id, (1e6 * (SELECT sum(greatest(ln((texts - has + 0.5) / (has + 0.5)), 1e-6) * f.here * "
        "2.2 / "
        "(f.here + 1.2 * (0.25 + 0.75 * cardinality(n.words) / mean))) FROM terms, used, "
        "LATERAL (SELECT cardinality(array_positions(n.words, term))::float8 AS here) f WHERE f.here > "
        "0))::bigint "
        "AS score FROM praxis_memory_notes n WHERE n.words && $1::text[] AND space = $2 "
        "AND ($3::bytea = '' OR collection = $3::bytea) ORDER BY score DESC, id DESC",
        {PostgresValue::array(stems), number_of_space(space), collection});
    const auto by_pieces = asked(
        "WITH used AS (SELECT count(*)::float8 AS texts, greatest(avg(octet_length(text)), 1)::float8 AS "
        "mean "
        "FROM praxis_memory_notes), "
        "terms AS (SELECT t.term, (SELECT count(*) FROM praxis_memory_notes WHERE strpos(text, t.term) > "
        "0)::float8 AS has "
        "FROM unnest($1::text[]) AS t(term)), "
        "scores AS (SELECT n.id, (SELECT sum(greatest(ln((texts - has + 0.5) / (has + 0.5)), 1e-6) * f.here "
        "* 2.2 / "
        "(f.here + 1.2 * (0.25 + 0.75 * octet_length(n.text) / mean))) FROM terms, used, "
        "LATERAL (SELECT (length(n.text) - length(replace(n.text, term, '')))::float8 / length(term) AS "
        "here) f "
        "WHERE f.here > 0) AS score FROM praxis_memory_notes n WHERE space = $2 "
        "AND ($3::bytea = '' OR collection = $3::bytea)) "
        "SELECT id, (1e6 * score)::bigint FROM scores WHERE score IS NOT NULL ORDER BY score DESC, id DESC",
        {PostgresValue::array(pieces), number_of_space(space), collection});
    std::map<std::int64_t, FoundNote> found;
    Status done = rank_by(by_words, keep, limit, &Scored::words, found);
    if (done) done = rank_by(by_pieces, keep, limit, &Scored::pieces, found);
    if (done && meaning != nullptr && space == NoteSpace::kCollection)
      done = rank_by_meaning(*meaning, collection, keep, limit, found);
    if (!done) return fail(std::move(done.error()));
    std::vector<FoundNote> result;
    for (auto& [id, each] : found) result.push_back(std::move(each));
    return result;
  }

  Result<std::vector<PlainNote>> without_vector(const std::string& model, std::size_t limit) override {
    return asked([&](PostgresConnection& server) { return vectors_.missing(server, model, limit); });
  }

  Result<std::optional<std::vector<float>>> known_vector(const std::string& model,
                                                         const std::string& hash) override {
    return asked([&](PostgresConnection& server) { return vectors_.known(server, model, hash); });
  }

  Status add_vectors(const std::string& model, const std::vector<NoteVector>& vectors) override {
    auto added = changed({}, false, [&]() -> Result<bool> {
      if (auto done = vectors_.add(connection_, model, vectors); !done) return fail(std::move(done.error()));
      return true;
    });
    return added ? Status{} : fail(std::move(added.error()));
  }

  Result<bool> remove(NoteSpace space, const std::string& collection, const std::optional<std::string>& key,
                      const std::string& once) override {
    return changed(once, std::nullopt, [&]() -> Result<bool> {
      return key ? take_out(space, collection, *key) : take_out_all(space, collection);
    });
  }

  Status change(NoteSpace space, const std::string& collection, const std::vector<Note>& writes,
                const std::vector<std::string>& removals, const std::string& once) override {
    auto done = changed(once, false, [&]() -> Result<bool> {
      for (const std::string& key : removals) {
        if (auto gone = take_out(space, collection, key); !gone) return gone;
      }
      for (const Note& note : writes) {
        if (auto gone = take_out(space, collection, note.key); !gone) return gone;
        if (auto added = add(space, note); !added) return fail(std::move(added.error()));
      }
      return true;
    });
    if (!done) return fail(std::move(done.error()));
    return {};
  }

  Result<std::vector<CollectionInfo>> collections(NoteSpace space) override {
    const auto rows = asked(
        "SELECT collection, count(*), sum(bytes)::bigint, max(written) FROM praxis_memory_notes WHERE space "
        "= $1 "
        "GROUP BY collection ORDER BY collection",
        {number_of_space(space)});
    if (!rows) return fail(rows.error());
    std::vector<CollectionInfo> all;
    for (int row = 0; row < rows->size(); ++row)
      all.push_back(
          {rows->text(row, 0), rows->number(row, 1), rows->number(row, 2), {rows->integer(row, 3)}});
    return all;
  }

 private:
  /// Makes sure of a connection. A lost one is replaced once, at the next call.
  Status connected() {
    if (!connection_.is_lost()) return {};
    auto again = PostgresConnection::open(address_, false, "memory");
    if (!again) return fail(std::move(again.error()));
    connection_ = *std::move(again);
    return {};
  }

  /// What `question` gets from the server. It changes nothing, so a lost connection is tried once more.
  template <class Question>
  std::invoke_result_t<Question, PostgresConnection&> asked(const Question& question) {
    const std::lock_guard lock(mutex_);
    for (bool is_first = true;; is_first = false) {
      if (auto ready = connected(); !ready) return fail(std::move(ready.error()));
      auto answer = question(connection_);
      if (answer || !connection_.is_lost() || !is_first) return answer;
    }
  }
  Result<PostgresRows> asked(std::string_view sql, std::initializer_list<PostgresValue> values) {
    return asked([&](PostgresConnection& server) { return server.run(sql, values); });
  }

  /// Gives the rows `key, value, written` of one page after the other to `visit`, until a page is empty.
  template <class Next>
  static Status pages(const std::string& collection, const Visit& visit, const Next& next) {
    std::optional<PostgresRows> page;
    for (;;) {
      auto rows = next(page ? &*page : nullptr);
      if (!rows) return fail(rows.error());
      if (rows->size() == 0) return {};
      for (int row = 0; row < rows->size(); ++row) {
        auto note = note_at(*rows, row, 0, collection);
        if (!note) return fail(std::move(note.error()));
        if (!visit(*std::move(note))) return {};
      }
      page = *std::move(rows);
    }
  }

  Status visit_after(NoteSpace space, const std::string& collection, std::int64_t after, const Visit& visit) {
    return pages(collection, visit, [&](const PostgresRows* before) {
      if (before != nullptr) after = before->integer(before->size() - 1, 3);
      return asked(
          "SELECT key, value, written, id FROM praxis_memory_notes "
          "WHERE space = $1 AND sha256(collection) = sha256($2::bytea) AND id > $3::bigint ORDER BY id LIMIT "
          "500",
          {number_of_space(space), collection, after});
    });
  }

  /// Adds the best of one ranking, rows of `id` and a score in millionths, to `found`.
  Status rank_by(const Result<PostgresRows>& rows, const Keep& keep, std::size_t limit,
                 std::optional<double> Scored::* score, std::map<std::int64_t, FoundNote>& found) {
    if (!rows) return fail(rows.error());
    std::size_t taken = 0;
    for (int row = 0; row < rows->size() && taken < limit; ++row) {
      const auto kept = take_in(rows->integer(row, 0), keep, found);
      if (!kept) return fail(kept.error());
      if (*kept == nullptr) continue;
      (*kept)->scores.*score = static_cast<double>(rows->integer(row, 1)) / 1e6;
      ++taken;
    }
    return {};
  }

  Status rank_by_meaning(const MeaningQuery& meaning, const std::string& collection, const Keep& keep,
                         std::size_t limit, std::map<std::int64_t, FoundNote>& found) {
    constexpr std::size_t kMore = 8;  // the filter may reject most of them
    std::size_t taken = 0, seen = 0;
    for (std::size_t wanted = limit;; wanted *= kMore) {
      const auto nearest = asked(
          [&](PostgresConnection& server) { return vectors_.nearest(server, meaning, collection, wanted); });
      if (!nearest) return fail(nearest.error());
      for (; seen < nearest->size() && taken < limit; ++seen) {
        const auto kept = take_in((*nearest)[seen].id, keep, found);
        if (!kept) return fail(kept.error());
        if (*kept == nullptr) continue;
        (*kept)->scores.meaning = static_cast<double>((*nearest)[seen].score);
        ++taken;
      }
      if (taken == limit || nearest->size() < wanted) return {};
    }
  }

  /// The note in `found`, where it is put unless it is there. Null if `keep` rejects it, or another process
  /// removed it.
  Result<FoundNote*> take_in(std::int64_t id, const Keep& keep, std::map<std::int64_t, FoundNote>& found) {
    if (const auto there = found.find(id); there != found.end()) return &there->second;
    const auto rows =
        asked("SELECT key, value, written, collection FROM praxis_memory_notes WHERE id = $1", {id});
    if (!rows) return fail(rows.error());
    if (rows->size() == 0) return nullptr;
    auto note = note_at(*rows, 0, 0, rows->text(0, 3));
    if (!note) return fail(std::move(note.error()));
    if (!keep(note->value)) return nullptr;
    return &found.emplace(id, FoundNote{*std::move(note), {id, {}, {}}}).first->second;
  }

  /// Makes a change in a transaction. With a known key nothing is changed, and the result is `when_known`, or
  /// what the change with that key returned. A connection that is lost before the commit, or with a key, is
  /// tried once more.
  template <class Change>
  Result<bool> changed(const std::string& once, std::optional<bool> when_known, const Change& change) {
    const std::lock_guard lock(mutex_);
    for (bool is_first = true;; is_first = false) {
      if (auto ready = connected(); !ready) return fail(std::move(ready.error()));
      bool commits = false;
      auto result = try_change(once, when_known, change, commits);
      if (!result) connection_.roll_back();
      const bool may_repeat =
          is_first && !result && is_transient(result.error()) && (!commits || !once.empty());
      if (!may_repeat) return result;
    }
  }

  template <class Change>
  Result<bool> try_change(const std::string& once, std::optional<bool> when_known, const Change& change,
                          bool& commits) {
    if (auto begun = status_of(connection_.run("BEGIN")); !begun) return fail(std::move(begun.error()));
    const auto totals = connection_.run("SELECT notes, bytes, next_id FROM praxis_memory_totals FOR UPDATE");
    if (!totals) return fail(totals.error());
    notes_ = totals->integer(0, 0);
    bytes_ = totals->integer(0, 1);
    next_id_ = totals->integer(0, 2);
    const auto known =
        connection_.run("SELECT result FROM praxis_memory_effects WHERE key = $1::bytea", {once});
    if (!known) return fail(known.error());
    if (known->size() > 0) {
      connection_.roll_back();
      return when_known.value_or(known->boolean(0, 0));
    }
    auto result = change();
    if (!result) return result;
    if (auto noted = know(once, *result); !noted) return fail(std::move(noted.error()));
    commits = true;
    connection_.send("UPDATE praxis_memory_totals SET notes = $1, bytes = $2, next_id = $3",
                     {notes_, bytes_, next_id_});
    connection_.send("COMMIT");
    if (auto committed = connection_.finish(); !committed) return fail(std::move(committed.error()));
    return result;
  }

  Status know(const std::string& once, bool result) {
    if (once.empty()) return {};
    connection_.send("INSERT INTO praxis_memory_effects (key, result) VALUES ($1::bytea, $2::bigint = 1)",
                     {once, std::int64_t{result ? 1 : 0}});
    connection_.send(
        "DELETE FROM praxis_memory_effects WHERE id <= (SELECT max(id) FROM praxis_memory_effects) - "
        "$1::bigint",
        {kKnownEffects});
    return connection_.finish();
  }

  Status add(NoteSpace space, const Note& note) {
    const NoteRow row = row_of(note);
    const auto bytes = static_cast<std::int64_t>(note.key.size() + row.value.size());
    if (auto room = check_memory_room(limits_, static_cast<std::size_t>(notes_ + 1),
                                      static_cast<std::size_t>(bytes_ + bytes));
        !room)
      return room;
    ++notes_;
    bytes_ += bytes;
    return status_of(connection_.run(
        "INSERT INTO praxis_memory_notes (id, space, collection, key, written, bytes, value, text, words) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::text[])",
        {next_id_++, number_of_space(space), note.collection, note.key, note.written.value, bytes, row.value,
         row.text, PostgresValue::array(row.words)}));
  }

  /// Counts what a statement that deletes returned of it: the bytes of each note.
  Result<bool> taken_out(const Result<PostgresRows>& gone) {
    if (!gone) return fail(gone.error());
    for (int row = 0; row < gone->size(); ++row) bytes_ -= gone->integer(row, 0);
    notes_ -= gone->size();
    return gone->size() > 0;
  }

  Result<bool> take_out(NoteSpace space, const std::string& collection, const std::string& key) {
    return taken_out(connection_.run(
        "DELETE FROM praxis_memory_notes WHERE space = $1 AND sha256(collection) = sha256($2::bytea) "
        "AND sha256(key) = sha256($3::bytea) RETURNING bytes",
        {number_of_space(space), collection, key}));
  }

  Result<bool> take_out_all(NoteSpace space, const std::string& collection) {
    return taken_out(
        connection_.run("DELETE FROM praxis_memory_notes WHERE space = $1 AND sha256(collection) = "
                        "sha256($2::bytea) RETURNING bytes",
                        {number_of_space(space), collection}));
  }

  const std::string address_;
  std::mutex mutex_;
  PostgresConnection connection_;
  PostgresVectors vectors_;
  std::int64_t notes_ = 0, bytes_ = 0, next_id_ = 1;  ///< the totals, in a transaction
  const MemoryLimits limits_;
};

/// Creates the tables unless they are there. Two processes may do so at once.
Status prepare_tables(PostgresConnection& connection, MemoryUse use, const std::string& address) {
  if (auto locked = status_of(connection.run("SELECT pg_advisory_lock(5788041)")); !locked) return locked;
  const auto there = connection.run("SELECT to_regclass('praxis_memory_totals') IS NOT NULL");
  if (!there) return fail(there.error());
  if (!there->boolean(0, 0)) {
    if (use == MemoryUse::kExisting)
      return fail(make_error(ErrorCode::kJournal, ErrorKind::kNotFound, "there is no memory in " + address));
    if (auto made = connection.execute("BEGIN; " + kMemoryTables + " COMMIT"); !made) return made;
  }
  const auto version = connection.run("SELECT version FROM praxis_memory_totals");
  if (!version) return fail(version.error());
  if (version->integer(0, 0) > kMemoryVersion)
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kVersion,
                           "the memory in " + address + " has a newer format; use a newer Praxis"));
  return status_of(connection.run("SELECT pg_advisory_unlock(5788041)"));
}

}  // namespace

Result<MemoryClients> postgres_memory(const std::string& address, MemoryUse use, MemoryOptions options) {
  if (auto checked = check_postgres_address(address, "memory"); !checked)
    return fail(std::move(checked.error()));
  auto connection = PostgresConnection::open(address, false, "memory");
  if (!connection) return fail(std::move(connection.error()));
  if (auto ready = prepare_tables(*connection, use, address); !ready) return fail(std::move(ready.error()));
  return clients_of(std::make_shared<PostgresStore>(address, *std::move(connection), options.limits),
                    options);
}

}  // namespace praxis
