#include "memory/postgres_vectors.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "journal/big_endian.hpp"

namespace praxis {
namespace {

// `real[]` is what every server has; pgvector casts it to `vector` without a copy on disk, whenever it is
// installed. Writers hold the row of the totals, so that `place` is the order of commits.
constexpr const char* kVectorTable = R"sql(
BEGIN;
SELECT pg_advisory_xact_lock(5788041);
CREATE TABLE IF NOT EXISTS praxis_memory_vectors (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  note bigint NOT NULL REFERENCES praxis_memory_notes (id) ON DELETE CASCADE,
  model text NOT NULL, hash text NOT NULL, numbers real[] NOT NULL, UNIQUE (model, note));
CREATE INDEX IF NOT EXISTS praxis_memory_vectors_by_place ON praxis_memory_vectors (model, place);
CREATE INDEX IF NOT EXISTS praxis_memory_vectors_by_hash ON praxis_memory_vectors (model, hash);
CREATE INDEX IF NOT EXISTS praxis_memory_vectors_by_note ON praxis_memory_vectors (note);
ALTER TABLE praxis_memory_vectors ALTER COLUMN numbers SET STORAGE EXTERNAL;
COMMIT)sql";

constexpr double kScores = 1e9;  // scores cross the wire as whole numbers

/// The numbers as an array of PostgreSQL, exact.
PostgresValue array_of(std::span<const float> numbers) {
  std::vector<std::string> texts;
  for (const float number : numbers) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    texts.emplace_back(text.data(), end);
  }
  return PostgresValue::array(texts);
}

/// The numbers of a `real[]` as PostgreSQL sends it: a head of 20 bytes, then each with its length.
std::vector<float> numbers_of(std::string_view array) {
  constexpr std::size_t kHead = 20, kLength = 4, kElement = kLength + sizeof(float);
  std::vector<float> numbers;
  for (std::size_t at = kHead; at + kElement <= array.size(); at += kElement) {
    const std::string_view bytes = array.substr(at + kLength, sizeof(float));
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(bytes))));
  }
  return numbers;
}

}  // namespace

Status PostgresVectors::prepare(PostgresConnection& connection) {
  if (scan_) return {};
  const auto there = connection.run(
      "SELECT to_regclass('praxis_memory_vectors') IS NOT NULL, to_regtype('vector') IS NOT NULL");
  if (!there) return fail(there.error());
  if (!there->boolean(0, 0)) {
    if (auto made = connection.execute(kVectorTable); !made) {
      connection.roll_back();
      return made;
    }
  }
  scan_ = there->boolean(0, 1) ? VectorScan::kServer : VectorScan::kProcess;
  return {};
}

Result<std::vector<PlainNote>> PostgresVectors::missing(PostgresConnection& connection,
                                                        const std::string& model, std::size_t limit) {
  if (auto ready = prepare(connection); !ready) return fail(std::move(ready.error()));
  const auto rows = connection.run(
      "SELECT n.id, n.text FROM praxis_memory_notes n WHERE n.space = $1 AND NOT EXISTS (SELECT 1 FROM "
      "praxis_memory_vectors v WHERE v.model = $2 AND v.note = n.id) ORDER BY n.id LIMIT $3",
      {static_cast<std::int64_t>(NoteSpace::kCollection), model, std::uint64_t{limit}});
  if (!rows) return fail(rows.error());
  std::vector<PlainNote> notes;
  for (int row = 0; row < rows->size(); ++row) notes.push_back({rows->integer(row, 0), rows->text(row, 1)});
  return notes;
}

Result<std::optional<std::vector<float>>> PostgresVectors::known(PostgresConnection& connection,
                                                                 const std::string& model,
                                                                 const std::string& hash) {
  if (auto ready = prepare(connection); !ready) return fail(std::move(ready.error()));
  const auto rows = connection.run(
      "SELECT numbers FROM praxis_memory_vectors WHERE model = $1 AND hash = $2 LIMIT 1", {model, hash});
  if (!rows) return fail(rows.error());
  if (rows->size() == 0) return std::nullopt;
  return numbers_of(rows->bytes(0, 0));
}

Status PostgresVectors::add(PostgresConnection& connection, const std::string& model,
                            std::span<const NoteVector> vectors) {
  for (const NoteVector& each : vectors) {
    connection.send(
        "INSERT INTO praxis_memory_vectors (note, model, hash, numbers) SELECT id, $2, $3, $4::real[] FROM "
        "praxis_memory_notes WHERE id = $1 ON CONFLICT DO NOTHING",
        {each.note, model, each.hash, array_of(each.vector)});
  }
  return connection.finish();
}

Result<std::vector<VectorIndex::Match>> PostgresVectors::nearest(PostgresConnection& connection,
                                                                 const MeaningQuery& query,
                                                                 const std::string& collection,
                                                                 std::size_t limit) {
  if (auto ready = prepare(connection); !ready) return fail(std::move(ready.error()));
  if (scan_ == VectorScan::kProcess) return nearest_here(connection, query, collection, limit);
  // The operator is the negative inner product; vectors of another length have none.
  const auto rows = connection.run(
      "SELECT note, score FROM (SELECT v.note, (-1e9 * (v.numbers::vector <#> $2::real[]::vector))::bigint "
      "AS score FROM praxis_memory_vectors v JOIN praxis_memory_notes n ON n.id = v.note WHERE v.model = $1 "
      "AND cardinality(v.numbers) = cardinality($2::real[]) AND ($3::bytea = '' OR n.collection = "
      "$3::bytea)) s WHERE score > 0 ORDER BY score DESC, note DESC LIMIT $4",
      {query.model, array_of(query.vector), collection, std::uint64_t{limit}});
  if (!rows) return fail(rows.error());
  std::vector<VectorIndex::Match> matches;
  for (int row = 0; row < rows->size(); ++row)
    matches.push_back(
        {rows->integer(row, 0), static_cast<float>(static_cast<double>(rows->integer(row, 1)) / kScores)});
  return matches;
}

Result<std::vector<VectorIndex::Match>> PostgresVectors::nearest_here(PostgresConnection& connection,
                                                                      const MeaningQuery& query,
                                                                      const std::string& collection,
                                                                      std::size_t limit) {
  if (auto fresh = refresh(connection, query.model); !fresh) return fail(std::move(fresh.error()));
  std::vector<VectorIndex::Match> matches;
  if (limit == 0) return matches;
  index_.visit_best(query.vector, [&](const VectorIndex::Match& match) {
    if (collection.empty() || collections_.at(match.id) == collection) matches.push_back(match);
    return matches.size() < limit;
  });
  return matches;
}

void PostgresVectors::clear_index(const std::string& model) {
  index_.clear();
  collections_.clear();
  indexed_model_ = model;
  last_place_ = 0;
}

Status PostgresVectors::refresh(PostgresConnection& connection, const std::string& model) {
  const std::size_t held = index_.size() * index_.dimensions() * sizeof(float);
  // Removed notes and those that no longer fit leave the index when it is read again.
  if (model != indexed_model_ || held > max_held_bytes_ + max_held_bytes_ / 4) clear_index(model);
  if (last_place_ == 0) {
    const auto first = first_place(connection, model);
    if (!first) return fail(first.error());
    last_place_ = *first;
  }
  for (;;) {
    const auto rows = connection.run(
        "SELECT v.place, v.note, v.numbers, n.collection FROM praxis_memory_vectors v JOIN "
        "praxis_memory_notes n ON n.id = v.note WHERE v.model = $1 AND v.place > $2 ORDER BY v.place LIMIT "
        "1000",
        {model, last_place_});
    if (!rows) return fail(rows.error());
    if (rows->size() == 0) return {};
    for (int row = 0; row < rows->size(); ++row) {
      last_place_ = rows->integer(row, 0);
      if (index_.add(rows->integer(row, 1), numbers_of(rows->bytes(row, 2))))
        collections_[rows->integer(row, 1)] = rows->text(row, 3);
    }
  }
}

Result<std::int64_t> PostgresVectors::first_place(PostgresConnection& connection, const std::string& model) {
  const auto rows = connection.run(
      "SELECT place FROM praxis_memory_vectors WHERE model = $1 ORDER BY place DESC LIMIT 1 OFFSET "
      "$2::bigint / "
      "(SELECT greatest(4 * cardinality(numbers), 1) FROM praxis_memory_vectors WHERE model = $1 ORDER BY "
      "place DESC LIMIT 1)",
      {model, std::uint64_t{max_held_bytes_}});
  if (!rows) return fail(rows.error());
  return rows->size() == 0 ? 0 : rows->integer(0, 0);
}

}  // namespace praxis
