// Notices that the files of a journal were moved, replaced, deleted or cut while a connection has them open.
// SQLite does not: it continues with files that no other process can find, or that do not belong together.
#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace praxis {

/// The database file, its log (`-wal`) and the index of the log (`-shm`). Thread-safe.
class FilePlaces {
 public:
  /// Notes which files have these names now. Does not watch a file that is missing.
  explicit FilePlaces(const std::string& database);

  /// Says what happened to the first of the files that is not in its place or shorter than it was; empty if
  /// all are in place. The log may become shorter: see `what_happened_to_log`.
  std::string what_happened();
  /// The same for the index alone.
  std::string what_happened_to_index() { return what_happened_to(index_, false); }
  /// Whether the index was cut: a process that touches the part that is gone is killed by SIGBUS.
  bool index_is_cut() const;

 private:
  struct Place {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;  ///< 0: not watched
    std::atomic<std::int64_t> size = 0;
  };

  static void note(Place& place, std::string path);
  static std::string what_happened_to(Place& place, bool may_shrink);

  Place file_, log_, index_;
};

/// Says whether the log that a connection has open was cut or overwritten: it must have the frames and the
/// salts that its index names. Empty if it is whole. Call it within a transaction that writes, or while no
/// other connection writes.
std::string what_happened_to_log(sqlite3* connection);

}  // namespace praxis
