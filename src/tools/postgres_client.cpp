// The SQL connector on PostgreSQL. Each call has a connection and one transaction of its own, in which one
// statement runs.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "journal/postgres_connection.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "tools/postgres_guard.hpp"
#include "tools/postgres_text.hpp"
#include "tools/postgres_values.hpp"
#include "tools/sql_bounds.hpp"

namespace praxis {
namespace {

/// The grammar allows only statements after this that read or change rows, and the protocol only one of them.
constexpr std::string_view kPrepare = "PREPARE praxis AS ";
constexpr const char* kPrepared = "praxis";

constexpr const char* kDescribe =
    "SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || "
    "c.relname "
    "END, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' WHEN 'f' THEN 'virtual' ELSE 'table' END, "
    "a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, EXISTS (SELECT FROM "
    "pg_catalog.pg_constraint p WHERE p.conrelid = c.oid AND p.contype = 'p' AND a.attnum = ANY (p.conkey)), "
    "(SELECT f.confrelid::pg_catalog.regclass || '(' || t.attname || ')' FROM pg_catalog.pg_constraint f "
    "JOIN pg_catalog.pg_attribute t ON t.attrelid = f.confrelid AND t.attnum = "
    "f.confkey[pg_catalog.array_position(f.conkey, a.attnum)] WHERE f.conrelid = c.oid AND f.contype = 'f' "
    "AND a.attnum = ANY (f.conkey) ORDER BY f.conname LIMIT 1) "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
    "AND n.nspname NOT LIKE 'pg\\_toast%' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') "
    "AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE') "
    "AND ($1::text IS NULL OR pg_catalog.lower($1) IN (pg_catalog.lower(c.relname), "
    "pg_catalog.lower(n.nspname || '.' || c.relname))) "
    "ORDER BY 1, n.nspname, a.attnum LIMIT 20000";

Error explained(const SqlStatement& statement, Error error) {
  if (json_string(error.detail(), "sqlstate") != "42601") return error;
  std::size_t place = 0;
  const std::string position = json_string(error.detail(), "position");
  if (position.empty()) return make_error(ErrorCode::kInput, "one statement at a time; this text has more");
  std::from_chars(position.data(), position.data() + position.size(), place);
  const std::size_t first = statement.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || place > kPrepare.size() + statement.text.size())
    return make_error(ErrorCode::kTool, "there is no whole statement in this text: " + error.message);
  if (place == kPrepare.size() + first + 1)
    error.message += "; only SELECT, VALUES, TABLE, WITH, INSERT, UPDATE, DELETE and MERGE can run here";
  return error;
}

Status check_text(const std::string& text) {
  if (text.size() > kMaxSqlBytes) {
    return fail(ErrorCode::kLimit, "the statement has more than " + std::to_string(kMaxSqlBytes) +
                                       " bytes; pass large values as parameters");
  }
  if (text.find('\0') != std::string::npos) return fail(ErrorCode::kInput, "the statement has a NUL");
  if (text.find_first_not_of("; \t\r\n") == std::string::npos)
    return fail(ErrorCode::kInput, "there is no statement in this text");
  if (const auto name = refused_name_in(text)) {
    return fail(ErrorCode::kPolicy,
                "not allowed on this connection: " + *name +
                    ", which no transaction bounds; a text that has it can be a parameter");
  }
  return {};
}

/// One statement in the transaction of a link, which has begun. Used by one thread.
class PostgresStatement {
 public:
  PostgresStatement(PostgresLink& link, const SqlOptions& options, PostgresAccess access)
      : link_(link), options_(options), access_(access) {}

  Result<SqlRows> run(const SqlStatement& statement) {
    auto prepared = link_.ask(std::string(kPrepare) + statement.text);
    if (!prepared) return fail(explained(statement, std::move(prepared.error())));
    const auto described = link_.describe(kPrepared);
    if (!described) return fail(described.error());
    const auto values = postgres_parameters(link_.library(), *described, statement.parameters);
    if (!values) return fail(values.error());
    SqlRows result;
    const int columns = link_.library().nfields(described->get());
    for (int i = 0; i < columns; ++i) result.columns.emplace_back(link_.library().fname(described->get(), i));
    if (auto started = link_.start(kPrepared, *values); !started) return fail(std::move(started.error()));
    if (auto read = read_rows(result); !read) return fail(std::move(read.error()));
    if (result.is_cut && result.rows.empty() && access_ == PostgresAccess::kRead) {
      return fail(ErrorCode::kLimit, "the first row has more than " + std::to_string(options_.max_bytes) +
                                         " bytes; select fewer columns, or parts with substr()");
    }
    return result;
  }

 private:
  Status read_rows(SqlRows& result) {
    while (true) {
      auto answer = link_.next();
      if (!answer) return fail(std::move(answer.error()));
      if (*answer == nullptr) return {};
      if (link_.library().resultStatus(answer->get()) != pq::kSingleTuple) {
        if (auto noted = note_end(*answer, result); !noted) return noted;
        continue;
      }
      // A change is complete only after its last row (RETURNING).
      if (result.is_cut) continue;
      if (result.rows.size() < options_.max_rows && add_row(*answer, result)) continue;
      result.is_cut = true;
      if (access_ == PostgresAccess::kWrite) continue;
      link_.cancel();
      return {};
    }
  }

  /// `SELECT INTO` can be prepared too: it gives no rows, and its command is that of a SELECT.
  Status note_end(const PostgresAnswer& answer, SqlRows& result) const {
    if (link_.library().resultStatus(answer.get()) != pq::kCommandOk) {
      note_changes(answer, result);
      return {};
    }
    const std::string_view command = link_.library().cmdStatus(answer.get());
    for (const std::string_view changes : {"INSERT", "UPDATE", "DELETE", "MERGE"}) {
      if (!command.starts_with(changes)) continue;
      note_changes(answer, result);
      return {};
    }
    return fail(ErrorCode::kPolicy,
                "not allowed on this connection: a statement that makes a table; it was undone");
  }

  void note_changes(const PostgresAnswer& answer, SqlRows& result) const {
    const std::string_view command = link_.library().cmdStatus(answer.get());
    if (access_ == PostgresAccess::kRead || command.starts_with("SELECT")) return;
    const std::string_view count = link_.library().cmdTuples(answer.get());
    std::from_chars(count.data(), count.data() + count.size(), result.changed);
  }

  /// False if the row does not fit any more.
  bool add_row(const PostgresAnswer& answer, SqlRows& result) {
    const int columns = link_.library().nfields(answer.get());
    std::size_t raw = 0;
    for (int i = 0; i < columns; ++i)
      raw += static_cast<std::size_t>(link_.library().getlength(answer.get(), 0, i));
    if (bytes_ + raw / 2 > options_.max_bytes) return false;  // bytes in hex take twice their size
    JsonArray row;
    for (int i = 0; i < columns; ++i) row.push_back(postgres_value_at(link_.library(), answer, 0, i));
    bytes_ += to_json_text(row).size();
    if (bytes_ > options_.max_bytes) return false;
    result.rows.push_back(std::move(row));
    return true;
  }

  PostgresLink& link_;
  const SqlOptions& options_;
  const PostgresAccess access_;
  std::size_t bytes_ = 0;
};

class PostgresClient final : public SqlClient {
 public:
  PostgresClient(std::string address, SqlOptions options)
      : address_(std::move(address)), options_(std::move(options)) {}

  Result<SqlRows> query(const SqlStatement& statement, const SqlStop& stop) override {
    return run(statement, PostgresAccess::kRead, stop);
  }

  Result<SqlRows> execute(const SqlStatement& statement, const SqlStop& stop) override {
    if (options_.write) return run(statement, PostgresAccess::kWrite, stop);
    return fail(ErrorCode::kPolicy, "this connector only reads");
  }

  Result<std::vector<SqlTable>> schema(const std::optional<std::string>& table,
                                       const SqlStop& stop) override {
    if (table && table->find('\0') != std::string::npos) return std::vector<SqlTable>{};
    const CallEnd end(stop, options_.timeout);
    auto link = begun(PostgresAccess::kRead, end);
    if (!link) return fail(std::move(link.error()));
    const auto rows = link->ask(kDescribe, {{table}});
    if (!rows) return fail(rows.error());
    std::vector<SqlTable> tables;
    const auto text = [&](int row, int column) { return repair_utf8(link->text(*rows, row, column)); };
    for (int row = 0; row < link->library().ntuples(rows->get()); ++row) {
      if (tables.empty() || tables.back().name != text(row, 0))
        tables.push_back({text(row, 0), text(row, 1), {}});
      tables.back().columns.push_back(
          {text(row, 2), text(row, 3), text(row, 4) == "t", text(row, 5) == "t", text(row, 6)});
    }
    return tables;
  }

  bool may_write() const override { return options_.write; }

 private:
  Result<PostgresLink> begun(PostgresAccess access, const CallEnd& end) const {
    auto link = PostgresLink::open(address_, access == PostgresAccess::kRead, end, options_.max_memory);
    if (!link) return link;
    if (auto guarded = begin_guarded(*link, options_, access); !guarded)
      return fail(std::move(guarded.error()));
    return link;
  }

  /// A read is rolled back by the end of its connection.
  Result<SqlRows> run(const SqlStatement& given, PostgresAccess access, const SqlStop& stop) const {
    if (auto checked = check_text(given.text); !checked) return fail(std::move(checked.error()));
    const auto statement = with_numbered_parameters(given);
    if (!statement) return fail(statement.error());
    CallEnd end(stop, options_.timeout);
    auto link = begun(access, end);
    if (!link) return fail(std::move(link.error()));
    auto rows = PostgresStatement(*link, options_, access).run(*statement);
    if (!rows || access == PostgresAccess::kRead) return rows;
    end.finish_within(options_.timeout);
    auto committed = link->ask("COMMIT");
    if (committed) return rows;
    // The server may end a connection after the commit, too.
    const std::string state = json_string(committed.error().detail(), "sqlstate");
    const bool is_refused = !state.empty() && !state.starts_with("08") && !state.starts_with("57P") &&
                            state != "40003";  // statement_completion_unknown
    if (is_refused) return fail(with_reach(std::move(committed.error()), Reach::kNotSent));
    return fail(
        with_reach(make_error(ErrorCode::kTool, ErrorKind::kIo,
                              "the connection to the database was lost while it committed the change; "
                              "whether it did is unknown"),
                   Reach::kSent));
  }

  const std::string address_;
  const SqlOptions options_;
};

}  // namespace

Result<std::shared_ptr<SqlClient>> postgres_client(const std::string& address, SqlOptions options) {
  const bool is_bounded =
      options.timeout.count() > 0 && options.max_rows > 0 && options.max_bytes > 0 && options.max_memory > 0;
  if (!is_bounded) return fail(ErrorCode::kInput, "the bounds of a SQL connector must be more than zero");
  if (auto checked = check_postgres_address(address, "database"); !checked)
    return fail(std::move(checked.error()));
  return std::make_shared<PostgresClient>(address, std::move(options));
}

}  // namespace praxis
