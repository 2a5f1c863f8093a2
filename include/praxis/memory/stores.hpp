// Where a memory is kept. All places behave alike; `memory/stores_test.cpp` holds them to it.
#pragma once

#include <memory>
#include <string>

#include "praxis/memory/database_client.hpp"
#include "praxis/memory/memory_client.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The two views of one memory. They share its limits.
struct MemoryClients {
  std::shared_ptr<MemoryClient> memory;      ///< short-term: streams
  std::shared_ptr<DatabaseClient> database;  ///< long-term: collections
};

/// A memory of this process, for tests and for notes that need not last.
MemoryClients memory_in_process(MemoryOptions options = {});

enum class MemoryUse : bool { kExisting, kCreate };
/// A memory in a SQLite file, which several processes may use at the same time. `kCreate` makes the file
/// (mode 0600) and its folders (mode 0700) if they are missing. Errors `kJournal`: `not_found`, `corrupt`
/// (not a memory of Praxis), `version` (of a newer one), `full`, `io`.
Result<MemoryClients> sqlite_memory(const std::string& path, MemoryUse use = MemoryUse::kCreate,
                                    MemoryOptions options = {});

/// A memory in a database of PostgreSQL 13 or later, which several machines may use at the same time: in
/// tables of the first schema of the search path. Loads libpq. The address, `postgres://USER@HOST/DATABASE`,
/// must not contain a password: libpq takes it from ~/.pgpass or PGPASSWORD. Searches go by words, not by
/// vectors; what is removed leaves the files of the server when it vacuums. Errors `kInput` for the address;
/// `kJournal`: `not_found`, `version`, `io`.
Result<MemoryClients> postgres_memory(const std::string& address, MemoryUse use = MemoryUse::kCreate,
                                      MemoryOptions options = {});

}  // namespace praxis
#pragma GCC visibility pop
