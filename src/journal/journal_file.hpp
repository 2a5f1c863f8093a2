// The file of a SQLite journal: making it, and telling whether a file is one (docs/journal-format.md).
#pragma once

#include <string>

#include "praxis/base/result.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// Makes an empty journal at `path` (mode 0600) and its missing folders (mode 0700), durably; does nothing
/// when there is a file. The file appears complete or not at all. Errors `full`, `io`.
Status create_journal_file(const std::string& path);

/// Gives a journal of an older format what the newer ones added, all or nothing; does nothing to a current
/// one. Errors `version`, `full`, `io`.
Status upgrade_journal_file(Database& database);

/// Lets a connection see a journal of an older format, which it may not change, as if it were brought up to
/// date.
Status show_as_latest(Database& database);

/// Whether this Praxis can use the file, told from its header without locks and without changing anything.
/// Errors `not_found`, `corrupt` (not a journal), `version` (of a newer format), `io`.
Status check_journal_file(const std::string& path);

}  // namespace praxis
