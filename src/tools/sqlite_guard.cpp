#include "tools/sqlite_guard.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace praxis {
namespace {

/// Instructions between two looks at the clock and the stop token: some 20 microseconds.
constexpr int kInstructions = 1000;

constexpr std::pair<int, int> kSqliteLimits[] = {
    {SQLITE_LIMIT_LENGTH, kMaxSqlValue}, {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_WORKER_THREADS, 0},    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 16},    {SQLITE_LIMIT_COMPOUND_SELECT, 64},
    {SQLITE_LIMIT_COLUMN, 500},          {SQLITE_LIMIT_EXPR_DEPTH, 200},
    {SQLITE_LIMIT_VDBE_OP, 250'000},     {SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
};

constexpr std::pair<int, int> kSqliteSettings[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
};

constexpr std::array<std::string_view, 4> kRefusedFunctions{"load_extension", "fts3_tokenizer", "sqlite_log",
                                                            "optimize"};
/// Virtual tables that show the file itself, or what other statements do.
constexpr std::array<std::string_view, 5> kRawTables{"sqlite_dbpage", "sqlite_stmt", "dbstat", "bytecode",
                                                     "tables_used"};
constexpr std::array<std::string_view, 2> kTableFunctions{"json_each", "json_tree"};
/// What a virtual table keeps its content in: its name with one of these.
constexpr std::array<std::string_view, 12> kShadows{"_data",   "_idx",      "_content", "_docsize",
                                                    "_config", "_segments", "_segdir",  "_stat",
                                                    "_node",   "_rowid",    "_parent",  "_rowids"};

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view each) { return is_same_name(each, name); });
}

bool is_of_schema(std::string_view table) {
  return is_same_name(table, "sqlite_master") || is_same_name(table, "sqlite_schema");
}

bool is_own_to_sqlite(std::string_view table) {
  constexpr std::string_view kPrefix = "sqlite_";
  return is_same_name(table.substr(0, kPrefix.size()), kPrefix);
}

const char* name_of_action(int action) {
  switch (action) {
    case SQLITE_INSERT:
      return "INSERT into ";
    case SQLITE_UPDATE:
      return "UPDATE of ";
    case SQLITE_DELETE:
      return "DELETE from ";
    case SQLITE_PRAGMA:
      return "PRAGMA ";
    case SQLITE_ATTACH:
      return "ATTACH ";
    case SQLITE_DETACH:
      return "DETACH ";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction of your own: ";
    case SQLITE_FUNCTION:
      return "the function ";
    case SQLITE_READ:
      return "reading ";
    default:
      return "a change of the schema: ";
  }
}

std::string_view view_of(const char* text) { return text == nullptr ? std::string_view() : text; }

}  // namespace

SqliteGuard::SqliteGuard(sqlite3* connection, const SqlOptions& options, Access access, const SqlStop& stop)
    : options_(options),
      access_(access),
      stop_(stop),
      deadline_(std::chrono::steady_clock::now() + options.timeout) {
  if (stop.deadline != std::chrono::steady_clock::time_point{})
    deadline_ = std::min(deadline_, stop.deadline);
  for (const auto& [limit, value] : kSqliteLimits) sqlite3_limit(connection, limit, value);
  for (const auto& [setting, value] : kSqliteSettings) sqlite3_db_config(connection, setting, value, nullptr);
  sqlite3_set_authorizer(
      connection,
      [](void* guard, int action, const char* first, const char* second, const char* schema, const char*) {
        return static_cast<SqliteGuard*>(guard)->authorise(action, first, second, schema);
      },
      this);
  sqlite3_progress_handler(
      connection, kInstructions,
      [](void* guard) { return static_cast<int>(static_cast<SqliteGuard*>(guard)->must_end()); }, this);
  sqlite3_busy_handler(
      connection,
      [](void* guard, int) {
        if (static_cast<SqliteGuard*>(guard)->must_end()) return 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return 1;
      },
      this);
}

int SqliteGuard::authorise(int action, const char* first, const char* second, const char* schema) {
  std::string why = why_refused(action, view_of(first), view_of(second), view_of(schema));
  if (why.empty()) return SQLITE_OK;
  if (refused_.empty()) refused_ = std::move(why);
  return SQLITE_DENY;
}

std::string SqliteGuard::why_refused(int action, std::string_view first, std::string_view second,
                                     std::string_view schema) const {
  std::string what = name_of_action(action) + std::string(action == SQLITE_FUNCTION ? second : first);
  const bool is_main = schema.empty() || is_same_name(schema, "main");
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return {};
    case SQLITE_FUNCTION:
      return is_among(kRefusedFunctions, second) ? what : "";
    case SQLITE_PRAGMA: {
      // Full-text search asks for it before each search.
      const bool is_harmless = is_same_name(first, "data_version") && second.empty();
      return is_harmless || is_own_ ? "" : what;
    }
    case SQLITE_READ: {
      const bool is_declaration = is_of_schema(first) && is_same_name(second, "ROWID");  // see below
      // SQLite asks so for what a statement mentions without reading a column: a table, or one of its own
      // (WITH).
      const bool is_mention = second.empty() && schema.empty();
      const bool is_of_statement = is_mention && !is_among(known_, first) && !is_own_to_sqlite(first);
      return is_main && (is_declaration || is_of_statement || may_touch(first)) ? "" : what;
    }
    case SQLITE_UPDATE:
    case SQLITE_INSERT:
      // SQLite declares virtual tables, such as `json_each`, by a statement that only seems to change the
      // schema. A real change of this table fails in any case.
      if (is_of_schema(first)) return {};
      [[fallthrough]];
    case SQLITE_DELETE: {
      const bool may_write = access_ == Access::kWrite && is_main && !is_own_to_sqlite(first);
      return may_write && may_touch(first) ? "" : what;
    }
    default:
      return what;
  }
}

bool SqliteGuard::may_touch(std::string_view table) const {
  if (is_among(kRawTables, table)) return false;
  if (is_own_ || options_.tables.empty() || is_among(kTableFunctions, table)) return true;
  return std::ranges::any_of(options_.tables, [&](const std::string& allowed) {
    if (is_same_name(allowed, table)) return true;
    return table.size() > allowed.size() && is_same_name(table.substr(0, allowed.size()), allowed) &&
           is_among(kShadows, table.substr(allowed.size()));
  });
}

}  // namespace praxis
