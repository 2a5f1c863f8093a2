#include "evals/sql_check.hpp"

#include <algorithm>
#include <filesystem>

#include "praxis/tools/sql_tool.hpp"

namespace praxis::evals {
namespace {

constexpr std::size_t kMostShownRows = 300;  // bytes

/// SQLite has one kind of number where JSON writes 2 and 2.0.
bool same_value(const Json& a, const Json& b) {
  return a.is_number() && b.is_number() ? a.to_number<double>() == b.to_number<double>() : a == b;
}

bool same_row(const JsonArray& a, const Json& b) {
  const JsonArray* const row = b.if_array();
  return row != nullptr && std::ranges::equal(a, *row, same_value);
}

std::string shown(const Json& rows) {
  std::string text = to_json_text(rows);
  if (text.size() <= kMostShownRows) return text;
  text.resize(kMostShownRows);
  return repair_utf8(text) + "...";
}

}  // namespace

Result<std::optional<std::string>> problem_by_sql(const checks::Sql& check, const ProgramPlace& place) {
  SqlOptions options;
  options.hide = place.hide;
  options.max_rows = check.rows.size() + 1;
  options.max_bytes = std::size_t{4} << 20U;
  const auto client = sqlite_client((std::filesystem::path(place.folder) / check.database).string(), options);
  if (!client) return fail(client.error());
  const auto found = (*client)->query({check.statement});
  if (!found) return fail(found.error());
  if (!found->is_cut && std::ranges::equal(found->rows, check.rows, same_row)) return std::nullopt;
  JsonArray rows;
  for (const JsonArray& row : found->rows) rows.emplace_back(row);
  return "sql: the rows are " + shown(rows) + (found->is_cut ? " and more" : "") + ", expected " +
         shown(check.rows);
}

}  // namespace praxis::evals
