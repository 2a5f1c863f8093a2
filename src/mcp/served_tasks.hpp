// What the clients of an MCP server learn of tasks, which are runs: the extension of version 2026-07-28.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mcp/served_reading.hpp"
#include "praxis/base/time.hpp"

namespace praxis {

/// The answer to a call of a tool.
struct ServedAnswer {
  std::string text;
  Json structured;  ///< null: none
  bool is_error = false;
};

/// A call that the server works on.
struct ServedTask {
  enum class Status : std::uint8_t { kWorking, kInputRequired, kCompleted, kCancelled };
  std::string id;
  Status status = Status::kWorking;
  std::string message;  ///< what is to be said about the status; may be empty
  UnixMillis created, updated;
  JsonObject asks;      ///< of one that waits: requests to the client, by their names
  ServedAnswer result;  ///< of one that is completed
};

/// Functions that answer clients, one at a time. Null if calls are no tasks.
struct McpServedTasks {
  /// Error `kInput`: the client has no such task.
  std::function<Result<ServedTask>(const std::string& id)> find;
  /// Takes answers to requests of a task, by their names; ignores those that do not wait. Errors: of `find`,
  /// and that its caller may not answer.
  std::function<Status(const std::string& id, const JsonObject& answers)> answer;
  /// Stops a task, unless it has ended. Error: of `find`.
  std::function<Status(const std::string& id)> cancel;
};

/// The members that describe a task, without its outcome.
JsonObject mcp_task_members(const ServedTask& task);
/// The members of a result of a call.
JsonObject mcp_result_members(const ServedAnswer& given);
/// Answers `tasks/get`, `tasks/update` and `tasks/cancel`. A client that `takes_forms` is asked what a task
/// waits for; for others the task works.
McpAnswer answer_about_task(const McpServedTasks& tasks, std::string_view method, const Json& params,
                            bool takes_forms);

}  // namespace praxis
