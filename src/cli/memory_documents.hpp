// `memory add --files` and `memory sweep`.
#pragma once

#include "cli/console.hpp"
#include "cli/options.hpp"
#include "praxis/memory/database_client.hpp"

namespace praxis::cli {

/// Stores the documents that have changed, and removes those that are gone from a given folder.
Result<ExitStatus> add_documents(const MemoryCommandOptions& options, DatabaseClient& memory,
                                 Console& console);
/// Removes the oldest notes of the collection.
Result<ExitStatus> sweep_notes(const MemoryCommandOptions& options, DatabaseClient& memory, Console& console);

}  // namespace praxis::cli
