#include "app/sql_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "app/setting_key.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "praxis/tools/sql_tool.hpp"

namespace praxis::app {
namespace {

constexpr const char* kSqlTable = "tools.sql";

/// The client of the database that the table names.
Result<std::shared_ptr<SqlClient>> client_of(const TomlDocument& document, const AgentFileOptions& options,
                                             const std::filesystem::path& folder, SqlOptions bounds) {
  const std::string address = json_string(document.at(kSqlTable), "database");
  if (is_postgres_address(address)) {
    // libpq would send the user's password to a host that the project names.
    if (!options.within.empty())
      return document.mistake("tools.sql.database",
                              "an agent of a project reaches no database server; keep this agent in your own "
                              "agent folder");
    auto client = postgres_client(address, std::move(bounds));
    if (!client) return document.mistake("tools.sql.database", client.error().message);
    return client;
  }
  const std::string file = database_of(document, folder);
  if (file.empty())
    return document.mistake(kSqlTable,
                            "[tools.sql] needs the file of a database or the address of a server in "
                            "\"database\"");
  auto client = sqlite_client(file, std::move(bounds));
  if (!client) return document.mistake(kSqlTable, client.error().message);
  return client;
}

}  // namespace

std::string database_of(const TomlDocument& document, const std::filesystem::path& folder) {
  const std::string database = json_string(document.at(kSqlTable), "database");
  if (database.empty() || is_postgres_address(database)) return "";
  return (folder / database).lexically_normal().string();
}

Result<std::vector<Tool>> tools_of_sql(const TomlDocument& document, const AgentFileOptions& options,
                                       const std::filesystem::path& folder) {
  const Json& table = document.at(kSqlTable);
  if (table.is_null()) return std::vector<Tool>{};
  SqlOptions bounds;
  bounds.write = json_bool(table, "write");
  bounds.tables = texts_of(json_at(table, "tables"));
  bounds.hide = options.hide;
  if (const Millis timeout = praxis::duration_of(json_at(table, "timeout")); timeout > Millis{0})
    bounds.timeout = timeout;
  const auto bound = [&](const char* key, std::size_t otherwise) {
    return static_cast<std::size_t>(json_int(table, key, static_cast<std::int64_t>(otherwise)));
  };
  bounds.max_rows = bound("max_rows", bounds.max_rows);
  bounds.max_bytes = bound("max_bytes", bounds.max_bytes);
  auto client = client_of(document, options, folder, bounds);
  if (!client) return fail(std::move(client.error()));
  std::vector<Tool> tools = sql_tools(*client);
  // The connector ends a statement itself; the tool must not end before it.
  for (Tool& tool : tools) tool.definition.timeout = std::max(tool.definition.timeout, 2 * bounds.timeout);
  return tools;
}

}  // namespace praxis::app
