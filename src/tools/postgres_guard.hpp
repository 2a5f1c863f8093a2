// What binds a statement of an agent on PostgreSQL: the settings of its connection, its transaction, and the
// role of the connection.
#pragma once

#include "tools/postgres_link.hpp"

namespace praxis {

enum class PostgresAccess { kRead, kWrite };

/// Sets what a statement cannot undo, begins the transaction and checks the role. Error `kPolicy` for a role
/// that the database does not bound: a superuser, one that may use files or programs of the server, or one
/// that may touch tables that are not listed.
Status begin_guarded(PostgresLink& link, const SqlOptions& options, PostgresAccess access);

}  // namespace praxis
