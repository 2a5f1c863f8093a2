// The vectors of the notes in a memory file. The tables appear with the first embedder; a trigger removes the
// vector with its note, also when an older Praxis removes it. Used under the lock of the store.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/note_store.hpp"
#include "memory/sqlite_sealed.hpp"
#include "memory/vector_index.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// The script that creates the tables in a schema of the connection, `main` or `temp`, unless they are there.
std::string vector_tables(const std::string& schema);

class SqliteVectors {
 public:
  /// Both must outlive this.
  SqliteVectors(Database& database, SealedNotes& sealed) : database_(database), sealed_(sealed) {}

  Result<std::vector<PlainNote>> missing(const std::string& model, std::size_t limit);
  Result<std::optional<std::vector<float>>> known(const std::string& model, const std::string& hash);
  /// Adds vectors of notes that still exist and have none. Call it in a transaction that writes.
  Status add(const std::string& model, std::span<const NoteVector> vectors);
  /// Gives the notes with the most similar vectors to `visit`, the best first, until it returns false.
  Status visit_best(const MeaningQuery& query,
                    const std::function<bool(std::int64_t id, double score)>& visit);

 private:
  Status prepare();
  /// Which changes a connection has seen: how often others have changed the file, and its own rows.
  struct Seen {
    std::int64_t others = -1, own = -1;
    bool operator==(const Seen&) const = default;
  };
  Result<Seen> seen_now();
  /// Reads into the index what others and this process have changed. Without a change it costs nothing: to
  /// know what was removed, it counts all vectors.
  Status refresh(const std::string& model);
  Status read_new(const std::string& model);
  Status drop_removed(const std::string& model);

  Database& database_;
  SealedNotes& sealed_;
  bool is_prepared_ = false;
  std::string complete_model_;
  std::int64_t complete_up_to_ = 0;  // all notes up to this one have a vector of this model
  std::string indexed_model_;
  Seen indexed_;                 // the index has the vectors of then
  std::int64_t last_place_ = 0;  // of the vectors in the index
  VectorIndex index_;
};

}  // namespace praxis
