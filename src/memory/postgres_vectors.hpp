// The vectors of the notes in a PostgreSQL memory. The table appears with the first embedder; a note that is
// removed takes its vectors along, also when an older Praxis removes it. Used under the lock of the store.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "journal/postgres_connection.hpp"
#include "memory/note_store.hpp"
#include "memory/vector_index.hpp"

namespace praxis {

/// Where the similarity of vectors is computed.
enum class VectorScan : std::uint8_t {
  kServer,   ///< by the type `vector` of pgvector
  kProcess,  ///< by an index of this process, over the newest vectors of the table
};

class PostgresVectors {
 public:
  /// What the process holds at most. A server without pgvector sends these bytes once to each process that
  /// searches.
  static constexpr std::size_t kMaxHeldBytes = std::size_t{256} << 20U;

  explicit PostgresVectors(std::size_t max_held_bytes = kMaxHeldBytes) : max_held_bytes_(max_held_bytes) {}

  /// Notes that have no vector of this model, the first written first.
  Result<std::vector<PlainNote>> missing(PostgresConnection& connection, const std::string& model,
                                         std::size_t limit);
  Result<std::optional<std::vector<float>>> known(PostgresConnection& connection, const std::string& model,
                                                  const std::string& hash);
  /// Adds vectors of notes that still exist and have none. Call it in a transaction that writes.
  Status add(PostgresConnection& connection, const std::string& model, std::span<const NoteVector> vectors);
  /// The `limit` notes of a collection, or with an empty name of all, with the most similar vectors, the best
  /// first. The process may not know yet that a note was removed.
  Result<std::vector<VectorIndex::Match>> nearest(PostgresConnection& connection, const MeaningQuery& query,
                                                  const std::string& collection, std::size_t limit);

 private:
  Status prepare(PostgresConnection& connection);
  Result<std::vector<VectorIndex::Match>> nearest_here(PostgresConnection& connection,
                                                       const MeaningQuery& query,
                                                       const std::string& collection, std::size_t limit);
  /// Reads into the index what was added since.
  Status refresh(PostgresConnection& connection, const std::string& model);
  /// The place before the newest vectors that fit.
  Result<std::int64_t> first_place(PostgresConnection& connection, const std::string& model);
  void clear_index(const std::string& model);

  const std::size_t max_held_bytes_;
  std::optional<VectorScan> scan_;  ///< empty: the table has not been looked for
  std::string indexed_model_;
  std::int64_t last_place_ = 0;  ///< of the vectors in the index
  VectorIndex index_;
  std::unordered_map<std::int64_t, std::string> collections_;  ///< of the notes in the index
};

}  // namespace praxis
