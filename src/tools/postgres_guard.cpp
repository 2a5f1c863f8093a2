#include "tools/postgres_guard.hpp"

#include <string>
#include <utility>

#include "journal/postgres_connection.hpp"

namespace praxis {
namespace {

/// `$1`: whether the transaction only reads, `$2`: the time limit of a statement.
constexpr const char* kSettings =
    "SELECT pg_catalog.set_config('default_transaction_read_only', $1, false), "
    "pg_catalog.set_config('statement_timeout', $2, false), "
    "pg_catalog.set_config('lock_timeout', $2, false), "
    "pg_catalog.set_config('idle_in_transaction_session_timeout', $2, false), "
    "pg_catalog.set_config('standard_conforming_strings', 'on', false), "
    "pg_catalog.set_config('bytea_output', 'hex', false), "
    "pg_catalog.set_config('DateStyle', 'ISO, YMD', false), "
    "pg_catalog.set_config('IntervalStyle', 'iso_8601', false), "
    "pg_catalog.set_config('extra_float_digits', '1', false)";

/// A statement may take on each role that its role is a member of.
constexpr const char* kRole =
    "SELECT session_user, EXISTS (SELECT FROM pg_catalog.pg_roles o "
    "WHERE (o.rolsuper OR o.rolreplication OR o.rolname IN ('pg_execute_server_program', "
    "'pg_read_server_files', 'pg_write_server_files')) AND pg_catalog.pg_has_role(session_user, o.oid, "
    "'MEMBER'))";

/// The tables outside of the list `$1` that the role may touch.
constexpr const char* kUnlisted =
    "SELECT n.nspname || '.' || c.relname FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
    "AND n.nspname NOT LIKE 'pg\\_toast%' AND c.oid NOT IN (SELECT t.oid FROM pg_catalog.unnest($1::text[]) "
    "AS l(name), LATERAL (SELECT pg_catalog.to_regclass(l.name)::oid) AS t(oid) WHERE t.oid IS NOT NULL) "
    "AND EXISTS (SELECT FROM pg_catalog.pg_roles o WHERE pg_catalog.pg_has_role(session_user, o.oid, "
    "'MEMBER') AND pg_catalog.has_schema_privilege(o.oid, n.oid, 'USAGE') AND "
    "(pg_catalog.has_table_privilege(o.oid, c.oid, 'SELECT, INSERT, UPDATE, DELETE') OR "
    "pg_catalog.has_any_column_privilege(o.oid, c.oid, 'SELECT, INSERT, UPDATE'))) ORDER BY 1 LIMIT 4";

Status check_role(PostgresLink& link) {
  auto answer = link.ask(kRole);
  if (!answer) return fail(std::move(answer.error()));
  if (link.text(*answer, 0, 1) != "t") return {};
  return fail(ErrorCode::kPolicy,
              "the role " + link.text(*answer, 0, 0) +
                  " of the database has the rights of a superuser, of a replica, or on files and programs of "
                  "the server, which no transaction bounds; name a role with rights on tables only");
}

Status check_tables(PostgresLink& link, const std::vector<std::string>& listed) {
  if (listed.empty()) return {};
  auto answer = link.ask(kUnlisted, {{PostgresValue::array(listed).text}});
  if (!answer) return fail(std::move(answer.error()));
  const int count = link.library().ntuples(answer->get());
  if (count == 0) return {};
  std::string names;
  for (int row = 0; row < count && row < 3; ++row)
    names += (row > 0 ? ", " : "") + link.text(*answer, row, 0);
  if (count > 3) names += " and more";
  return fail(ErrorCode::kPolicy,
              "the role of the connection may also touch " + names +
                  ", and PostgreSQL enforces \"tables\" by the rights of the role: revoke these, or name a "
                  "role that has rights on the listed tables only");
}

}  // namespace

Status begin_guarded(PostgresLink& link, const SqlOptions& options, PostgresAccess access) {
  const bool reads = access == PostgresAccess::kRead;
  const std::string limit = std::to_string(options.timeout.count()) + "ms";
  if (auto set = link.ask(kSettings, {{reads ? "on" : "off"}, {limit}}); !set)
    return fail(std::move(set.error()));
  auto begun = link.ask(reads ? "BEGIN TRANSACTION READ ONLY" : "BEGIN TRANSACTION READ WRITE");
  if (!begun) return fail(std::move(begun.error()));
  // Also takes the snapshot, after which the server refuses to make the transaction one that writes.
  if (auto checked = check_role(link); !checked) return checked;
  return check_tables(link, options.tables);
}

}  // namespace praxis
