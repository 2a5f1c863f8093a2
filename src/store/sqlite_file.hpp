// Creates and opens SQLite files with tables of their own: complete or not at all, for the user alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// What a file of one kind is.
struct SqliteFileForm {
  std::string_view what;            ///< what messages call it; a literal
  std::int64_t application_id = 0;  ///< tells it from other SQLite files
  std::int64_t format = 0;
  std::string_view tables;  ///< the script that creates them; a literal
};

/// Opens the file for reading and writing; with `create` makes it (mode 0600) and its folders (mode 0700) if
/// it is missing. Errors `kJournal`: `not_found`, `corrupt` (of another kind), `version` (of a newer Praxis),
/// `full`, `io`.
Result<Database> open_sqlite_file(const std::string& path, const SqliteFileForm& form, bool create = true);

}  // namespace praxis
