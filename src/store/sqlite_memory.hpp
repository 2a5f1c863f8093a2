// An upper bound on what SQLite allocates for one statement of a stranger. SQLite itself bounds only the
// memory of the whole process, and nothing at all while it prepares a statement: a page of SQL can take
// gigabytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace praxis {

/// Lets `SqliteMemoryLimit` bound allocations from now on. Call it before anything else uses SQLite; later
/// calls do nothing. False if the program used SQLite earlier: then the limits have no effect. Thread-safe.
bool watch_sqlite_memory();

/// Bounds what this thread allocates through SQLite, from its construction to its destruction: beyond the
/// limit SQLite reports `SQLITE_NOMEM`. Open and close the connection in between. One at a time in each
/// thread.
class SqliteMemoryLimit {
 public:
  explicit SqliteMemoryLimit(std::size_t bytes);
  ~SqliteMemoryLimit();
  SqliteMemoryLimit(const SqliteMemoryLimit&) = delete;
  SqliteMemoryLimit& operator=(const SqliteMemoryLimit&) = delete;

  /// Whether an allocation was refused.
  bool was_reached() const { return was_reached_; }

 private:
  friend struct LimitedAllocator;
  std::int64_t left_;
  bool was_reached_ = false;
};

}  // namespace praxis
