#include "mcp/tool_list.hpp"

#include <algorithm>
#include <utility>

#include "mcp/connection.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxCursorBytes = 64UL * 1024;
constexpr std::size_t kMaxLeftOut = 100;

std::size_t depth_of(const Json& value) {
  std::size_t deepest = 0;
  if (const auto* object = value.if_object()) {
    for (const auto& [key, member] : *object) deepest = std::max(deepest, depth_of(member));
    return deepest + 1;
  }
  if (const auto* array = value.if_array()) {
    for (const Json& item : *array) deepest = std::max(deepest, depth_of(item));
    return deepest + 1;
  }
  return 0;
}

/// Why a schema cannot be used; empty if it can.
std::string why_unusable(const Json& schema, std::size_t bytes, const McpBounds& bounds) {
  if (json_string(schema, "type") != "object") return "its input schema is not of type object";
  if (bytes > bounds.schema_bytes)
    return "its input schema has more than " + std::to_string(bounds.schema_bytes) + " bytes";
  if (depth_of(schema) > bounds.schema_depth)
    return "its input schema is more than " + std::to_string(bounds.schema_depth) + " levels deep";
  const auto compiled = JsonSchema::compile(schema);
  return compiled ? std::string()
                  : "its input schema is invalid: " + mcp_shown(compiled.error().message, 200);
}

}  // namespace

void McpListReader::leave_out(std::string_view name, std::string why) {
  if (list_.left_out.size() < kMaxLeftOut)
    list_.left_out.push_back({mcp_shown(name, kMaxNameBytes), std::move(why)});
}

Status McpListReader::add(const Json& page) {
  const JsonArray* tools = json_at(page, "tools").if_array();
  if (tools == nullptr)
    return fail(ErrorCode::kTool, ErrorKind::kProtocol, "the server's list of tools has no \"tools\"");
  ++pages_;
  for (const Json& tool : *tools) add_tool(tool);
  std::string next = json_string(page, "nextCursor");
  if (!next.empty() && (next == cursor_ || next.size() > kMaxCursorBytes))
    return fail(ErrorCode::kTool, ErrorKind::kProtocol,
                "the server's list of tools does not end: a cursor repeats or is too long");
  if (!next.empty() && (pages_ >= bounds_.pages || list_.tools.size() >= bounds_.tools)) {
    leave_out("", "the list continues after " + std::to_string(pages_) + " pages with " +
                      std::to_string(list_.tools.size()) + " tools; the rest is left out");
    next.clear();
  }
  cursor_ = std::move(next);
  return {};
}

void McpListReader::add_tool(const Json& tool) {
  McpTool made;
  made.name = json_string(tool, "name");
  if (made.name.empty() || made.name.size() > kMaxNameBytes)
    return leave_out(made.name, "its name is empty or has more than 128 bytes");
  if (list_.tools.size() >= bounds_.tools)
    return leave_out(made.name, "the server has more than " + std::to_string(bounds_.tools) + " tools");
  const auto same = [&](const McpTool& other) { return other.name == made.name; };
  if (std::ranges::any_of(list_.tools, same)) return leave_out(made.name, "the server lists this name twice");
  std::string_view text = json_text(tool, "description");
  if (text.empty()) text = json_text(tool, "title");
  made.description = mcp_shown(text, bounds_.description_bytes);
  made.parameters = json_at(tool, "inputSchema");
  const std::size_t bytes = to_json_text(made.parameters).size();
  if (std::string why = why_unusable(made.parameters, bytes, bounds_); !why.empty())
    return leave_out(made.name, std::move(why));
  bytes_ += bytes + made.description.size();
  if (bytes_ > bounds_.list_bytes)
    return leave_out(made.name, "the descriptions of all tools have more than " +
                                    std::to_string(bounds_.list_bytes) + " bytes");
  const std::string tasks = json_string(json_at(tool, "execution"), "taskSupport");
  if (tasks == "required" || tasks == "optional") task_tools_.insert(made.name);
  list_.tools.push_back(std::move(made));
}

}  // namespace praxis
