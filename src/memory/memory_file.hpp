// Opens the SQLite file of a memory, and creates it, sealed if there is a key.
#pragma once

#include <string>

#include "praxis/base/result.hpp"
#include "praxis/memory/stores.hpp"
#include "store/sqlite_file.hpp"

namespace praxis {

/// What the file of a memory is.
const SqliteFileForm& memory_form();

/// Opens the file, or creates it with its folders. Errors as of `sqlite_memory`, and `key`.
Result<Database> open_memory_file(const std::string& path, MemoryUse use, const AskStoreSecret& secret);

/// As `sqlite_memory`, with the key of a sealed file. Error `kJournal` also `key`.
Result<MemoryClients> sealed_memory(const std::string& path, MemoryUse use, MemoryOptions options,
                                    const AskStoreSecret& secret);

}  // namespace praxis
