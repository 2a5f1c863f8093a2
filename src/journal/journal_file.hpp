// Creates the file of a SQLite journal, and checks whether a file is one (docs/journal-format.md).
#pragma once

#include <string>

#include "praxis/base/result.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// Creates an empty journal at `path` (mode 0600) and its missing folders (mode 0700), durably; no-op if the
/// file exists. The file appears complete or not at all. Waits while another process creates it, says so
/// once, and ends the wait when `waits` asks for it. Errors `full`, `io`.
Status create_journal_file(const std::string& path, const LockWaits& waits);

/// Upgrades a journal of an older format to the latest, all or nothing; no-op for a current one. Errors
/// `version`, `full`, `io`.
Status upgrade_journal_file(Database& database);

/// Creates temporary views through which a read-only connection sees a journal of an older format as if it
/// were upgraded.
Status show_as_latest(Database& database);

/// Whether this version of Praxis can use the file, decided from its header without locks or changes. Errors
/// `not_found`, `corrupt` (not a journal), `version` (of a newer format), `io`.
Status check_journal_file(const std::string& path);

}  // namespace praxis
