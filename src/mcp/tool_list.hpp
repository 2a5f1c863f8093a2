// What a server says of its tools, taken over within the bounds.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "praxis/mcp/mcp_client.hpp"

namespace praxis {

/// Collects the pages of a list of tools.
class McpListReader {
 public:
  explicit McpListReader(const McpBounds& bounds) : bounds_(bounds) {}

  /// Adds the result of one `tools/list`. Error `kTool`: it has no tools, or its cursor does not advance.
  Status add(const Json& page);
  /// The cursor of the next page; empty if the list is complete or the bounds are reached.
  const std::string& cursor() const { return cursor_; }
  McpToolList take() { return std::move(list_); }
  /// The tools whose calls may be tasks (versions with a handshake), by name.
  const std::set<std::string, std::less<>>& task_tools() const { return task_tools_; }

 private:
  void add_tool(const Json& tool);
  void leave_out(std::string_view name, std::string why);

  const McpBounds& bounds_;
  McpToolList list_;
  std::set<std::string, std::less<>> task_tools_;
  std::string cursor_;
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
};

/// The result of `tools/call` within the bounds. Error `kTool`: not a result, or one that asks for further
/// input where the caller gives none.
Result<McpResult> read_mcp_result(const Json& result, const McpBounds& bounds);
/// The result of `resources/read` within the bounds. Errors likewise.
Result<McpResult> read_mcp_contents(const Json& result, const McpBounds& bounds);
/// The messages of a `prompts/get`. Errors likewise.
Result<std::vector<std::pair<Role, std::string>>> read_mcp_messages(const Json& result,
                                                                    const McpBounds& bounds);
/// An item of `resources/list` or `resources/templates/list`.
McpResource read_mcp_resource(const Json& item, bool is_template, const McpBounds& bounds);
/// An item of `prompts/list`.
McpPrompt read_mcp_prompt(const Json& item, const McpBounds& bounds);

}  // namespace praxis
