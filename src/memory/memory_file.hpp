// Opens the SQLite file of a memory, and creates it.
#pragma once

#include <string>

#include "praxis/base/result.hpp"
#include "praxis/memory/stores.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// Opens the file, or creates it with its folders. Errors as of `sqlite_memory`.
Result<Database> open_memory_file(const std::string& path, MemoryUse use);

}  // namespace praxis
