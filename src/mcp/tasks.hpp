// Tasks: calls of tools that a server works on after their answer. In version 2026-07-28 they
// are an extension, and the server decides which call becomes one; in 2025-11-25 the client asks for them.
#pragma once

#include <functional>
#include <string>

#include "praxis/mcp/mcp_client.hpp"

namespace praxis {

/// Name of the extension.
inline constexpr const char* kMcpTasks = "io.modelcontextprotocol/tasks";

/// Whether the capabilities of a server have tasks for calls of tools.
bool offers_mcp_tasks(const Json& capabilities, bool modern);
/// Whether the result of a call is a task instead.
bool is_mcp_task(const Json& result);
/// The task in the result of a call. Error `kTool`: its id cannot be used.
Result<McpResult> mcp_task_result(const Json& result, const McpBounds& bounds);

/// How a server is asked about one task.
struct McpTaskServer {
  bool modern = false;  ///< version 2026-07-28
  /// Sends a request about the task, with further parameters.
  std::function<Result<Json>(const char* method, JsonObject params, const McpCallOptions& options)> ask;
  /// Waits for the result of the task, in versions with a handshake: the server may ask in the middle.
  std::function<Result<McpResult>(const McpCallOptions& options)> result;
};

/// As `McpClient::await_task`.
Result<McpResult> await_mcp_task(const McpTaskServer& server, const std::string& task,
                                 const McpCallOptions& options, const McpBounds& bounds);

}  // namespace praxis
