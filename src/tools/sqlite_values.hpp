// JSON values as parameters and results of SQLite.
#pragma once

#include <sqlite3.h>

#include "praxis/json/json.hpp"

namespace praxis {

/// Binds an array to `?`, or an object to `:name`; null without parameters. `values` must outlive the
/// statement. Error `kInput`: names the parameter.
Status bind_sqlite_values(sqlite3_stmt* statement, const Json& values);

/// A column of the current row.
Json sqlite_value(sqlite3_stmt* statement, int column);

}  // namespace praxis
