#include "praxis/tools/sql_tool.hpp"

#include <string_view>
#include <utility>

#include "praxis/tools/typed_tool.hpp"

namespace praxis {
namespace {

constexpr std::string_view kQuery =
    "Runs one SQL statement that only reads. Put values into `parameters`, not into the statement: an array "
    "for `?` (on PostgreSQL `$1`, `$2`), an object for `:name`. Returns the names of the columns, then one "
    "JSON array for each row.";
constexpr std::string_view kExecute =
    "Runs one INSERT, UPDATE or DELETE as a transaction. Put values into `parameters`, not into the "
    "statement: an array for `?` (on PostgreSQL `$1`, `$2`), an object for `:name`.";
constexpr std::string_view kSchema = "Describes the tables and views of the database, or one of them.";

constexpr const char* kRequestSchema = R"({"type": "object", "additionalProperties": false,
  "properties": {
    "statement": {"type": "string", "description": "One SQL statement"},
    "parameters": {"description": "Values: an array, or an object by name",
      "anyOf": [{"type": "array", "items": {"type": ["null", "boolean", "number", "string", "object"]}},
                {"type": "object"}]}},
  "required": ["statement"]})";

struct SchemaRequest {
  arg<std::optional<std::string>, "The name of a table or view; all if absent"> table;
};
PRAXIS_FIELDS(SchemaRequest, table)

SqlStop stop_of(const ToolContext& context) { return {context.stop, context.deadline}; }

ToolOutput output_of(const SqlRows& rows, bool is_change) {
  ToolOutput output;
  if (is_change) output.text = std::to_string(rows.changed) + " rows changed\n";
  JsonArray names, lines;
  for (const std::string& column : rows.columns) names.emplace_back(column);
  if (!names.empty()) output.text += to_json_text(names) + '\n';
  for (const JsonArray& row : rows.rows) {
    append_json(output.text, row);
    output.text += '\n';
    lines.emplace_back(row);
  }
  if (rows.is_cut) output.text += "[there are more rows; select fewer, or count or group them]\n";
  if (!is_change && rows.rows.empty()) output.text += "[no rows]\n";
  output.value = {{"columns", std::move(names)}, {"rows", std::move(lines)}, {"is_cut", rows.is_cut}};
  if (is_change) output.value.get_object()["changed"] = rows.changed;
  return output;
}

std::string line_of(const SqlTable& table) {
  std::string line = table.name + " (" + table.kind + "): ";
  for (const SqlColumn& column : table.columns) {
    if (&column != &table.columns.front()) line += ", ";
    line += column.name;
    if (!column.type.empty()) line += ' ' + column.type;
    if (column.is_key) line += " primary key";
    if (column.is_required) line += " not null";
    if (!column.references.empty()) line += " references " + column.references;
  }
  return line + '\n';
}

Json value_of(const SqlTable& table) {
  JsonArray columns;
  for (const SqlColumn& column : table.columns) {
    JsonObject each{{"name", column.name}, {"type", column.type}};
    if (column.is_required) each["required"] = true;
    if (column.is_key) each["key"] = true;
    if (!column.references.empty()) each["references"] = column.references;
    columns.emplace_back(std::move(each));
  }
  return {{"name", table.name}, {"kind", table.kind}, {"columns", std::move(columns)}};
}

Result<ToolOutput> described(const std::vector<SqlTable>& tables) {
  constexpr std::size_t kMaxText = std::size_t{64} * 1024;
  ToolOutput output;
  JsonArray values;
  for (const SqlTable& table : tables) {
    const std::string line = line_of(table);
    if (output.text.size() + line.size() > kMaxText) {
      output.text +=
          "[there are " + std::to_string(tables.size() - values.size()) + " more tables; name one]\n";
      break;
    }
    output.text += line;
    values.push_back(value_of(table));
  }
  if (tables.empty()) output.text = "there is no such table";
  output.value = {{"tables", std::move(values)}};
  return output;
}

Tool statement_tool(const char* name, std::string_view description,
                    std::function<Result<ToolOutput>(const ToolContext&, const SqlStatement&)> run) {
  Tool tool;
  tool.definition.name = name;
  tool.definition.description = description;
  tool.definition.parameters = parse_json(kRequestSchema).value();
  tool.handler = [run = std::move(run)](ToolContext& context, const Json& arguments) {
    return run(context, {json_string(arguments, "statement"), json_at(arguments, "parameters")});
  };
  return tool;
}

}  // namespace

std::vector<Tool> sql_tools(const std::shared_ptr<SqlClient>& client) {
  std::vector<Tool> tools;
  tools.push_back(statement_tool(
      "sql_query", kQuery,
      [client](const ToolContext& context, const SqlStatement& statement) -> Result<ToolOutput> {
        auto rows = client->query(statement, stop_of(context));
        if (!rows) return fail(std::move(rows.error()));
        return output_of(*rows, false);
      }));
  tools.push_back(
      make_tool("sql_schema", std::string(kSchema),
                [client](ToolContext& context, const SchemaRequest& request) -> Result<ToolOutput> {
                  const auto tables = client->schema(request.table, stop_of(context));
                  if (!tables) return fail(tables.error());
                  return described(*tables);
                }));
  for (Tool& tool : tools) tool.definition.safe_by_default = tool.definition.idempotent = true;
  if (!client->may_write()) return tools;
  tools.push_back(statement_tool(
      "sql_execute", kExecute,
      [client](const ToolContext& context, const SqlStatement& statement) -> Result<ToolOutput> {
        auto rows = client->execute(statement, stop_of(context));
        if (!rows) return fail(std::move(rows.error()));
        return output_of(*rows, true);
      }));
  tools.back().definition.safe_by_default = false;
  return tools;
}

}  // namespace praxis
