#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>
#include <utility>

#include "praxis/base/base64.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/tools/sql_tool.hpp"
#include "store/scratch_vfs.hpp"
#include "store/sqlite_memory.hpp"
#include "tools/sqlite_guard.hpp"
#include "tools/sqlite_values.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

/// What every connection gets before its first statement: sorters and joins spill to files early, and damaged
/// files are noticed.
constexpr const char* kPrepareConnection =
    "PRAGMA temp_store = FILE; PRAGMA cache_size = -8192; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;";
constexpr const char* kPrepareToRead = "PRAGMA query_only = ON;";
constexpr std::string_view kNames = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')";
constexpr std::string_view kTables =
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND (?1 IS NULL OR name = ?1 COLLATE NOCASE) ORDER BY name";
constexpr std::string_view kColumns =
    "SELECT c.name, c.type, c.\"notnull\", c.pk > 0, (SELECT f.\"table\" || coalesce('(' || f.\"to\" || ')', "
    "'') "
    "FROM pragma_foreign_key_list(?1) f WHERE f.\"from\" = c.name) "
    "FROM pragma_table_xinfo(?1) c WHERE c.hidden <> 1 ORDER BY c.cid";

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat one = {}, other = {};
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

struct CloseConnection {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, EndStatement>;

/// One connection for one call, and the bounds on it. Used by one thread.
class GuardedConnection {
 public:
  using Access = SqliteGuard::Access;

  GuardedConnection(const std::string& path, const SqlOptions& options, Access access, const SqlStop& stop)
      : path_(path),
        options_(options),
        access_(access),
        memory_(options.max_memory),
        scratch_(options.max_temporary) {
    const int mode = access == Access::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    sqlite3* opened = nullptr;
    // Links are refused: a program that writes a folder on the way cannot lead the connection elsewhere.
    status_ = sqlite3_open_v2(path.c_str(), &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
                              scratch_vfs());
    connection_.reset(opened);
    if (opened == nullptr) return;
    sqlite3_extended_result_codes(opened, 1);
    guard_.emplace(opened, options, access, stop);
    guard_->set_own(true);
    if (status_ == SQLITE_OK) status_ = sqlite3_exec(opened, kPrepareConnection, nullptr, nullptr, nullptr);
    if (status_ == SQLITE_OK && access == Access::kRead)
      status_ = sqlite3_exec(opened, kPrepareToRead, nullptr, nullptr, nullptr);
    guard_->set_own(false);
    is_open_ = status_ == SQLITE_OK;
  }

  /// Learns the names of the tables, which the guard needs if not all of them may be read.
  Status learn_tables() {
    if (options_.tables.empty()) return {};
    auto statement = prepare_own(kNames);
    if (!statement) return fail(std::move(statement.error()));
    std::vector<std::string> names;
    while ((status_ = sqlite3_step(statement->get())) == SQLITE_ROW)
      names.push_back(to_plain_text(sqlite_value(statement->get(), 0)));
    if (status_ != SQLITE_DONE) return fail(failure());
    guard_->set_known(std::move(names));
    return {};
  }

  /// The only statement of a text.
  Result<StatementHandle> prepare(std::string_view text) {
    if (!is_open_) return fail(failure());
    if (text.size() > kMaxSqlBytes) {
      return fail(ErrorCode::kLimit, "the statement has " + std::to_string(text.size()) + " bytes, at most " +
                                         std::to_string(kMaxSqlBytes) +
                                         " are allowed; pass data as parameters");
    }
    if (text.find('\0') != std::string_view::npos)
      return fail(ErrorCode::kInput, "the statement contains a NUL; pass data as parameters");
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int size = static_cast<int>(text.size());
    status_ = sqlite3_prepare_v2(handle(), text.data(), size, &prepared, &rest);
    StatementHandle statement(prepared);
    if (status_ != SQLITE_OK) return fail(failure());
    if (!statement) return fail(ErrorCode::kInput, "there is no statement in this text");
    if (auto single = check_rest(text.substr(static_cast<std::size_t>(rest - text.data()))); !single)
      return fail(std::move(single.error()));
    if (access_ == Access::kRead && sqlite3_stmt_readonly(prepared) == 0)
      return fail(ErrorCode::kPolicy, "this connection only reads");
    return statement;
  }

  /// Runs a statement to its end, or to the bounds of a read.
  Result<SqlRows> run(sqlite3_stmt* statement) {
    SqlRows result;
    const int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; ++i) result.columns.emplace_back(sqlite3_column_name(statement, i));
    std::size_t bytes = 0;
    while ((status_ = sqlite3_step(statement)) == SQLITE_ROW) {
      // A change is complete before its first row (RETURNING), and is committed at the end.
      if (result.is_cut) continue;
      if (result.rows.size() < options_.max_rows && add_row(statement, columns, bytes, result)) continue;
      result.is_cut = true;
      if (access_ == Access::kRead) break;
    }
    if (status_ != SQLITE_DONE && status_ != SQLITE_ROW) return fail(failure());
    if (result.is_cut && result.rows.empty() && access_ == Access::kRead) {
      return fail(ErrorCode::kLimit, "the first row has more than " + std::to_string(options_.max_bytes) +
                                         " bytes; select fewer columns, or parts with substr()");
    }
    if (access_ == Access::kWrite) result.changed = static_cast<std::uint64_t>(sqlite3_changes64(handle()));
    return result;
  }

  /// Runs a statement of this program with one parameter.
  Result<SqlRows> run_own(std::string_view text, const std::optional<std::string>& parameter) {
    auto statement = prepare_own(text);
    if (!statement) return fail(std::move(statement.error()));
    const Json values = JsonArray{parameter ? Json(*parameter) : Json()};
    if (auto bound = bind_sqlite_values(statement->get(), values); !bound)
      return fail(std::move(bound.error()));
    guard_->set_own(true);  // its functions run statements too
    auto rows = run(statement->get());
    guard_->set_own(false);
    return rows;
  }

 private:
  Result<StatementHandle> prepare_own(std::string_view text) {
    if (!is_open_) return fail(failure());
    guard_->set_own(true);
    auto statement = prepare(text);
    guard_->set_own(false);
    return statement;
  }

  sqlite3* handle() const { return connection_.get(); }

  /// Comments may follow a statement, another statement may not.
  Status check_rest(std::string_view rest) {
    if (rest.find_first_not_of("; \t\r\n") == std::string_view::npos) return {};
    sqlite3_stmt* second = nullptr;
    const int code =
        sqlite3_prepare_v2(handle(), rest.data(), static_cast<int>(rest.size()), &second, nullptr);
    const StatementHandle unused(second);
    if (code == SQLITE_OK && second == nullptr) return {};
    return fail(ErrorCode::kInput, "one statement at a time; this text has more");
  }

  /// False if the row does not fit any more.
  bool add_row(sqlite3_stmt* statement, int columns, std::size_t& bytes, SqlRows& result) const {
    std::size_t raw = 0;
    for (int i = 0; i < columns; ++i) raw += static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
    if (bytes + raw > options_.max_bytes) return false;
    JsonArray row;
    for (int i = 0; i < columns; ++i) row.push_back(sqlite_value(statement, i));
    bytes += to_json_text(row).size();
    if (bytes > options_.max_bytes) return false;
    result.rows.push_back(std::move(row));
    return true;
  }

  Error failure() const {
    const auto limit = [](std::string text) { return make_error(ErrorCode::kLimit, std::move(text)); };
    if (memory_.was_reached()) {
      return limit("the statement needs more than " + std::to_string(options_.max_memory) +
                   " bytes of memory; simplify it");
    }
    if (scratch_.was_reached()) {
      return limit("the statement needs more than " + std::to_string(options_.max_temporary) +
                   " bytes of temporary files; sort or join fewer rows");
    }
    const int code = connection_ ? sqlite3_extended_errcode(handle()) & 0xff : status_ & 0xff;
    const bool can_have_ended = code == SQLITE_INTERRUPT || code == SQLITE_BUSY;
    if (can_have_ended && guard_ && guard_->was_stopped())
      return with_reach(make_error(ErrorCode::kCancelled, "the statement was stopped; it changed nothing"),
                        Reach::kNotSent);
    if (can_have_ended && guard_ && guard_->is_late()) {
      return with_reach(
          make_error(ErrorCode::kTool, ErrorKind::kTimeout,
                     code == SQLITE_BUSY
                         ? "the database stayed locked by another process; nothing was changed"
                         : "the statement took too long and was stopped; it changed nothing. Select less"),
          Reach::kNotSent);
    }
    if (guard_ && !guard_->refused().empty() && code == SQLITE_AUTH)
      return make_error(ErrorCode::kPolicy, "not allowed on this connection: " + guard_->refused());
    if (code == SQLITE_READONLY) return make_error(ErrorCode::kPolicy, "this connection only reads");
    const std::string text = connection_ ? sqlite3_errmsg(handle()) : sqlite3_errstr(status_);
    if (code == SQLITE_TOOBIG)
      return limit(text + ": no value may have more than " + std::to_string(kMaxSqlValue) + " bytes");
    if (code == SQLITE_CANTOPEN) return make_error(ErrorCode::kTool, "cannot open " + path_ + ": " + text);
    return make_error(ErrorCode::kTool, text);
  }

  const std::string& path_;
  const SqlOptions& options_;
  const Access access_;
  // The limits hold until the connection is closed.
  SqliteMemoryLimit memory_;
  ScratchLimit scratch_;
  std::optional<SqliteGuard> guard_;
  std::unique_ptr<sqlite3, CloseConnection> connection_;
  bool is_open_ = false;
  int status_ = SQLITE_OK;  // of the last call
};

class SqliteClient final : public SqlClient {
 public:
  SqliteClient(std::string path, SqlOptions options) : path_(std::move(path)), options_(std::move(options)) {}

  Result<SqlRows> query(const SqlStatement& statement, const SqlStop& stop) override {
    return run(statement, GuardedConnection::Access::kRead, stop);
  }

  Result<SqlRows> execute(const SqlStatement& statement, const SqlStop& stop) override {
    if (options_.write) return run(statement, GuardedConnection::Access::kWrite, stop);
    return fail(ErrorCode::kPolicy, "this connector only reads");
  }

  Result<std::vector<SqlTable>> schema(const std::optional<std::string>& table,
                                       const SqlStop& stop) override {
    if (auto checked = check_file(); !checked) return fail(std::move(checked.error()));
    GuardedConnection connection(path_, options_, GuardedConnection::Access::kRead, stop);
    auto names = connection.run_own(kTables, table);
    if (!names) return fail(std::move(names.error()));
    std::vector<SqlTable> tables;
    for (const JsonArray& row : names->rows) {
      SqlTable each{to_plain_text(row[0]), to_plain_text(row[1]), {}};
      if (!is_listed(each.name)) continue;
      auto columns = connection.run_own(kColumns, each.name);
      if (!columns) return fail(std::move(columns.error()));
      for (const JsonArray& column : columns->rows) {
        each.columns.push_back({to_plain_text(column[0]), to_plain_text(column[1]), column[2] != Json(0),
                                column[3] != Json(0), column[4].is_null() ? "" : to_plain_text(column[4])});
      }
      tables.push_back(std::move(each));
    }
    return tables;
  }

  bool may_write() const override { return options_.write; }

 private:
  Result<SqlRows> run(const SqlStatement& statement, GuardedConnection::Access access, const SqlStop& stop) {
    if (auto checked = check_file(); !checked) return fail(std::move(checked.error()));
    GuardedConnection connection(path_, options_, access, stop);
    if (auto learnt = connection.learn_tables(); !learnt) return fail(std::move(learnt.error()));
    auto prepared = connection.prepare(statement.text);
    if (!prepared) return fail(std::move(prepared.error()));
    if (auto bound = bind_sqlite_values(prepared->get(), statement.parameters); !bound)
      return fail(std::move(bound.error()));
    return connection.run(prepared->get());
  }

  bool is_listed(const std::string& table) const {
    return options_.tables.empty() || std::ranges::any_of(options_.tables, [&](const std::string& each) {
             return sqlite3_stricmp(each.c_str(), table.c_str()) == 0;
           });
  }

  Status check_file() const {
    std::error_code failed;
    if (!fs::is_regular_file(path_, failed)) {
      return fail(ErrorCode::kTool, ErrorKind::kNotFound,
                  "there is no database file " + path_ + "; create it first");
    }
    for (const std::string& hidden : options_.hide) {
      if (is_same_file(path_, hidden)) return fail(ErrorCode::kPolicy, path_ + " may not be read");
    }
    return {};
  }

  const std::string path_;
  const SqlOptions options_;
};

}  // namespace

Result<std::shared_ptr<SqlClient>> sqlite_client(const std::string& path, SqlOptions options) {
  const bool is_bounded = options.timeout.count() > 0 && options.max_rows > 0 && options.max_bytes > 0 &&
                          options.max_memory > 0 && options.max_temporary > 0;
  if (!is_bounded) return fail(ErrorCode::kInput, "the bounds of a SQL connector must be more than zero");
  watch_sqlite_memory();
  std::error_code failed;
  const fs::path full = fs::weakly_canonical(fs::absolute(path, failed), failed);
  if (failed) return fail(ErrorCode::kInput, "cannot find " + path + ": " + failed.message());
  return std::make_shared<SqliteClient>(full.string(), std::move(options));
}

}  // namespace praxis
