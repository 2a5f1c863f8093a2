// Removes the blobs of a SQLite journal that no entry names.
#pragma once

#include <functional>

#include "praxis/journal/journal.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// Uses a connection: to read, or within a durable transaction. May call its argument more than once.
using WithDatabase = std::function<Status(const std::function<Status(Database&)>&)>;

/// As `Journal::sweep`. Entries that are appended meanwhile are looked at within the transaction that
/// removes, so a blob that one of them names stays.
Result<Swept> sweep_blobs(const WithDatabase& reading, const WithDatabase& writing);

}  // namespace praxis
