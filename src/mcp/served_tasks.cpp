#include "mcp/served_tasks.hpp"

#include <utility>

#include "mcp/message.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kPollMs = 1000;

std::string_view name_of(ServedTask::Status status) {
  constexpr std::string_view kNames[] = {"working", "input_required", "completed", "cancelled"};
  return kNames[static_cast<std::size_t>(status)];
}

McpAnswer refused(const Error& error) {
  return {{}, error.code == ErrorCode::kInput ? kRpcInvalidParams : kRpcInternal, error.message, nullptr};
}

McpAnswer state_of(ServedTask task, bool takes_forms) {
  using Status = ServedTask::Status;
  if (task.status == Status::kInputRequired && !takes_forms) task.status = Status::kWorking;
  JsonObject members = mcp_task_members(task);
  if (task.status == Status::kInputRequired) members["inputRequests"] = std::move(task.asks);
  if (task.status == Status::kCompleted) members["result"] = mcp_result_members(task.result);
  return {std::move(members), 0, {}, nullptr};
}

}  // namespace

JsonObject mcp_task_members(const ServedTask& task) {
  JsonObject members{{"taskId", task.id},
                     {"status", name_of(task.status)},
                     {"createdAt", to_iso8601(task.created)},
                     {"lastUpdatedAt", to_iso8601(task.updated)},
                     {"ttlMs", nullptr},
                     {"pollIntervalMs", kPollMs}};
  if (!task.message.empty()) members["statusMessage"] = task.message;
  return members;
}

JsonObject mcp_result_members(const ServedAnswer& given) {
  JsonObject result{{"content", JsonArray{JsonObject{{"type", "text"}, {"text", given.text}}}},
                    {"isError", given.is_error}};
  if (!given.structured.is_null()) result["structuredContent"] = given.structured;
  return result;
}

McpAnswer answer_about_task(const McpServedTasks& tasks, std::string_view method, const Json& params,
                            bool takes_forms) {
  const std::string id = json_string(params, "taskId");
  if (method == "tasks/get") {
    auto task = tasks.find(id);
    return task ? state_of(*std::move(task), takes_forms) : refused(task.error());
  }
  if (method == "tasks/cancel") {
    const Status done = tasks.cancel(id);
    return done ? McpAnswer{} : refused(done.error());
  }
  if (method == "tasks/update") {
    const JsonObject* answers = json_at(params, "inputResponses").if_object();
    if (answers == nullptr) return {{}, kRpcInvalidParams, "\"inputResponses\": must be an object", nullptr};
    const Status done = tasks.answer(id, *answers);
    return done ? McpAnswer{} : refused(done.error());
  }
  return {{}, kRpcUnknownMethod, "this server has no method " + std::string(method), nullptr};
}

}  // namespace praxis
