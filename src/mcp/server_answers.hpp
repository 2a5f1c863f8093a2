// What an MCP server answers, however its messages travel: version 2026-07-28 and, for clients that begin
// with a handshake, 2025-11-25 and earlier. Plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/message.hpp"
#include "mcp/served_reading.hpp"
#include "mcp/served_tasks.hpp"
#include "praxis/domain/trace.hpp"

namespace praxis {

/// The version without a handshake.
inline constexpr std::string_view kStatelessMcp = "2026-07-28";
/// The versions with one, the newest first.
std::span<const std::string_view> mcp_versions_with_handshake();

/// A tool as clients see it.
struct ServedTool {
  std::string name;
  std::string description;
  Json parameters;
};

/// What a server has for one client.
struct McpServed {
  std::string version;  ///< of the program
  std::string instructions;
  bool has_tools = true;  ///< for this client, even while the list is empty
  std::vector<ServedTool> tools;
  McpReading reading;
  McpServedTasks tasks;
};

/// A call that a client asks for, of a tool that is there, with arguments that fit.
struct McpCallRequest {
  std::string tool;
  Json arguments;
  Json progress_token;   ///< null: the client does not want to know what happens
  TraceContext caller;   ///< the client's span; empty if it named none
  bool as_task = false;  ///< the client gets a task, and fetches the answer
};

/// The version that a request names; empty for one of a client with a handshake.
std::string mcp_version_of(const McpMessage& request);
/// The answer to a request, or the call that has to be carried out for it.
std::variant<McpAnswer, McpCallRequest> answer_mcp(const McpServed& offer, const McpMessage& request);
/// The answer to a call. `stateless`: in version 2026-07-28.
McpAnswer mcp_call_answer(const McpServed& offer, const ServedAnswer& given, bool stateless);
/// The answer to a call that is a task, once that is durable.
McpAnswer mcp_task_answer(const McpServed& offer, const ServedTask& task);
/// The message that tells the client which has sent `token` what happens in its call; `count` grows.
std::string mcp_progress(const Json& token, std::int64_t count, const std::string& text);
/// The message with an answer.
std::string mcp_answer_text(const Json& id, const McpAnswer& answer);

}  // namespace praxis
