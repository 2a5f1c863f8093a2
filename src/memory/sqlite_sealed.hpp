// A sealed memory file. Its rows are sealed, so SQLite cannot search them: they are opened into tables of the
// connection (`temp`), which are in memory only and hide those of the file, so that all statements that read
// are the same for both. What is written to these tables is written, sealed, to the file as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "memory/note_store.hpp"
#include "store/sqlite_seal.hpp"

namespace praxis {

/// For `SqliteFileForm::reseal`.
Status reseal_memory(Database& database, const Sealer* from, const Sealer& to);

/// Used under the lock of the store. Without effect on a plain file, whose connection has no sealer.
class SealedNotes {
 public:
  /// `database` must outlive this.
  explicit SealedNotes(Database& database) : database_(database) {}

  /// Creates the tables in memory. Before any other call.
  Status prepare();
  /// Reads what other connections have changed, and at first everything. Before each use of the tables.
  Status refresh();
  /// After a rollback: what was read within the transaction is gone.
  void forget_version() { version_ = kNever; }

  /// The id for the next note; 0: the table of the file gives it.
  Result<std::int64_t> next_id();
  /// Writes to the file a note or a vector that the tables in memory have, within the transaction.
  Status write_note(std::int64_t id);
  Status write_vector(std::int64_t place);
  /// Removes a note with its vectors from the file, likewise.
  Status remove(std::int64_t id);

 private:
  static constexpr std::int64_t kNever = -1;

  bool is_plain() const { return database_.sealer() == nullptr; }
  Status read_changes();
  Status read_new_notes();
  Status read_new_vectors();
  Status drop_removed_notes();

  Database& database_;
  std::int64_t version_ = kNever;  // of the file, as the tables have it
};

/// Removes the row of a note, and its words from the indexes for the search.
Status delete_note_row(Database& database, std::int64_t id);

}  // namespace praxis
