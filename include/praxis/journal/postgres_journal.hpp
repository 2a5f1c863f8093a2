// The journal of several machines: a PostgreSQL database (docs/scale-out.md).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "praxis/journal/journal.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Whether `journal` is the address of a PostgreSQL journal: `postgres://...` or `postgresql://...`.
bool is_postgres_address(std::string_view journal);
/// Whether such an address contains a password, which `postgres_journal` refuses.
bool has_password(std::string_view address);

struct PostgresJournalOptions {
  /// Create the tables, or add what newer formats have.
  bool create = true;
  /// Open for reading only: changes nothing, takes no lease, and may use a replica.
  bool read_only = false;
  /// How long a call waits for a server that cannot be reached, before it fails with `io`.
  std::chrono::milliseconds outage{20'000};
  /// For how long a process may show no sign of life until others may take its sessions, by the clock of the
  /// database. At least 100 ms. A process of the same machine that has ended loses them at once.
  std::chrono::milliseconds patience{10'000};
  /// Called on any thread with a sentence for the user when the server cannot be reached; once in a wait.
  std::function<void(const std::string&)> on_wait = {};
  /// After this is requested, calls do not wait for the server.
  std::stop_token stop_waiting = {};
};

/// Opens a journal in a database of PostgreSQL 13 or later; loads libpq, version 14 or later. The tables are
/// in the first schema of the search path. The address must not contain a password: libpq takes it from
/// ~/.pgpass or PGPASSWORD. Errors `kInput` for the address, `not_found` without tables, `version`, `io`.
Result<std::shared_ptr<Journal>> postgres_journal(const std::string& address,
                                                  PostgresJournalOptions options = {});

}  // namespace praxis
#pragma GCC visibility pop
