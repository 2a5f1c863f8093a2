// Creates the file of a SQLite journal, and checks whether a file is one (docs/journal-format.md).
#pragma once

#include <functional>
#include <string>

#include "praxis/base/result.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// Creates an empty journal at `path` (mode 0600) and its missing folders (mode 0700), durably; no-op if the
/// file exists. The file appears complete or not at all; with `finish`, which is called in the transaction
/// that fills it, as that leaves it. Waits while another process creates it, says so
/// once, and ends the wait when `waits` asks for it. Errors `full`, `io`.
Status create_journal_file(const std::string& path, const LockWaits& waits,
                           const std::function<Status(Database&)>& finish = {});

/// Gives the journal the format of sealed ones, within the caller's transaction; whether it has it.
Status mark_as_sealed(Database& database);
Result<bool> is_marked_as_sealed(Database& database);

/// Upgrades a journal of an older format to the latest, all or nothing; no-op for a current one. Errors
/// `version`, `full`, `io`.
Status upgrade_journal_file(Database& database);

/// Creates temporary views through which a read-only connection sees a journal of an older format as if it
/// were upgraded.
Status show_as_latest(Database& database);

/// Whether this version of Praxis can use the file, decided from its header without locks or changes. Errors
/// `not_found`, `corrupt` (not a journal), `version` (of a newer format), `io`.
Status check_journal_file(const std::string& path);
/// Whether the header of the file says that the journal is sealed, likewise. A process may be about to seal
/// it. Error `io`.
Result<bool> is_sealed_journal(const std::string& path);

}  // namespace praxis
