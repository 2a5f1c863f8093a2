// SQL databases for agents: parameterised statements under bounds that the database itself enforces. A
// connector reads only, unless its options say that it may write.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/json/json.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// One statement and the values of its parameters, which are never part of its text.
struct SqlStatement {
  std::string text;
  /// An array for `?` and `?1`, or an object for `:name`; null: no parameters. Values are null, booleans,
  /// numbers, strings, and `{"base64": "..."}` for bytes.
  Json parameters = {};
};

struct SqlRows {
  std::vector<std::string> columns;
  /// Values as in `SqlStatement::parameters`; an infinite number is a string.
  std::vector<JsonArray> rows;
  bool is_cut = false;        ///< there are more rows, beyond `SqlOptions::max_rows` or `max_bytes`
  std::uint64_t changed = 0;  ///< rows that the statement inserted, changed or removed
};

/// When a statement ends early.
struct SqlStop {
  std::stop_token stop = {};
  std::chrono::steady_clock::time_point deadline = {};  ///< in addition to the time limit; zero: none
};

/// A column as the database describes it.
struct SqlColumn {
  std::string name;
  std::string type;
  bool is_required = false;  ///< NOT NULL
  bool is_key = false;       ///< part of the primary key
  std::string references;    ///< `table(column)` of a foreign key; empty: none
};

/// A table or view.
struct SqlTable {
  std::string name;
  std::string kind;  ///< `table`, `view` or `virtual`
  std::vector<SqlColumn> columns;
};

/// What a connector may do, and its bounds.
struct SqlOptions {
  bool write = false;  ///< whether `execute` may insert, change and remove rows; never the schema
  /// The only tables that statements may touch; empty: all. A view needs the tables that it reads.
  std::vector<std::string> tables = {};
  std::chrono::milliseconds timeout{10'000};  ///< for one statement, waiting for locks included
  std::size_t max_rows = 200;
  std::size_t max_bytes = std::size_t{64} * 1024;              ///< of all rows as JSON
  std::size_t max_memory = std::size_t{64} * 1024 * 1024;      ///< of the database's code for one statement
  std::size_t max_temporary = std::size_t{128} * 1024 * 1024;  ///< of scratch files of one statement
  std::vector<std::string> hide = {};                          ///< files never opened, under any name
};

/// A database. Implementations are thread-safe; a call blocks until the statement has ended. Errors:
/// `kInput` for parameters that do not fit, `kPolicy` for what the connector may not do, `kLimit` beyond a
/// bound, `kCancelled` after a stop, `kTool` for a mistake in the statement and for failures of the database.
/// A statement that fails or is stopped has changed nothing.
class SqlClient {
 public:
  virtual ~SqlClient() = default;
  /// Runs one statement that only reads.
  virtual Result<SqlRows> query(const SqlStatement& statement, const SqlStop& stop = {}) = 0;
  /// Runs one statement that may change rows, as a transaction. Error `kPolicy` unless the options allow it.
  virtual Result<SqlRows> execute(const SqlStatement& statement, const SqlStop& stop = {}) = 0;
  /// The tables and views, by name; all, or the one that is named.
  virtual Result<std::vector<SqlTable>> schema(const std::optional<std::string>& table = std::nullopt,
                                               const SqlStop& stop = {}) = 0;
  virtual bool may_write() const = 0;  ///< whether `execute` is allowed
};

/// The SQLite database in a file, which must exist when a statement runs. Each statement has its own
/// connection. Error `kInput` for bounds that are zero or beyond those of SQLite.
Result<std::shared_ptr<SqlClient>> sqlite_client(const std::string& path, SqlOptions options = {});
/// The PostgreSQL database at `postgres://USER@HOST/DATABASE`, without a password; parameters are `$1` or
/// `:name`. Loads libpq. Errors `kInput`, `kJournal` without libpq (docs/sql.md).
Result<std::shared_ptr<SqlClient>> postgres_client(const std::string& address, SqlOptions options = {});

/// `sql_query` and `sql_schema`, which are safe by default, because the connector bounds what they read. If
/// the connector may write, also `sql_execute`, which is neither safe by default nor idempotent.
std::vector<Tool> sql_tools(const std::shared_ptr<SqlClient>& client);

}  // namespace praxis
#pragma GCC visibility pop
