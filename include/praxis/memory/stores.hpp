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

/// A memory in PostgreSQL 13 or later, which several machines may use at the same time: in the first schema
/// of the search path. Loads libpq, which takes the password from ~/.pgpass or PGPASSWORD, never from the
/// address. Errors `kInput` for the address; `kJournal`: `not_found`, `version`, `io`.
Result<MemoryClients> postgres_memory(const std::string& address, MemoryUse use = MemoryUse::kCreate,
                                      MemoryOptions options = {});
/// The same in Redis 7 or later, through hiredis: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]` or
/// `redis+unix://[USER:PASSWORD@]/PATH[?db=DATABASE]`. It searches by words alone (docs/memory.md).
Result<MemoryClients> redis_memory(const std::string& address, MemoryUse use = MemoryUse::kCreate,
                                   MemoryOptions options = {});

}  // namespace praxis
#pragma GCC visibility pop
