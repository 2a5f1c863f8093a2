// The tables of a PostgreSQL journal (docs/scale-out.md) and the processes that own its sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "journal/postgres_connection.hpp"

namespace praxis {

/// Creates the tables, or adds what newer formats have. Error `version`: a newer Praxis made them.
Status upgrade_tables(PostgresConnection& connection, const std::string& address);
/// Errors `not_found` without tables, `version` for those of a newer Praxis.
Status check_tables(PostgresConnection& connection, const std::string& address);

/// A process as other processes see it: on the same machine by its number and start, on others by its signs
/// of life.
struct PostgresOwner {
  std::string host;  ///< the machine since its start, and the name space of process numbers
  std::int64_t pid = 0;
  std::string started;  ///< tells a process from a later one with the same number
  std::string name;     ///< of the machine, for messages

  /// This process.
  static PostgresOwner self();
  /// Whether it runs on this machine and has ended.
  bool is_known_dead(const PostgresOwner& self) const;
};

/// Registers a process, which must show signs of life more often than every `patience`; returns its number.
/// Forgets owners that have been silent for a day.
Result<std::int64_t> add_owner(PostgresConnection& connection, const PostgresOwner& self,
                               std::chrono::milliseconds patience);
/// Shows that the owner lives, by the clock of the database.
Status show_life(PostgresConnection& connection, std::int64_t number, const PostgresOwner& self,
                 std::chrono::milliseconds patience);
/// Releases all leases of the owner.
Status remove_owner(PostgresConnection& connection, std::int64_t number);

}  // namespace praxis
