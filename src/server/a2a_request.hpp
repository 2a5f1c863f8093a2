// A2A 1.0: what requests say, in the JSON form of its messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/push_file.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/json/json.hpp"
#include "server/client_conversation.hpp"

namespace praxis::server {

/// Where a `SendMessageRequest` says who gets the changes of its task.
inline constexpr const char* kPushMember = "configuration.taskPushNotificationConfig";

/// A `SendMessageRequest`.
struct A2aMessage {
  std::string id, task, context;
  std::string text;                       ///< of all parts that decide nothing
  std::vector<ClientDecision> decisions;  ///< of parts with data that name a step
  bool returns_immediately = false;
  std::optional<std::size_t> history;    ///< most messages in the answer; nothing: all
  std::optional<app::PushAddress> push;  ///< without task; may lack an id
};

/// A `ListTasksRequest`.
struct A2aList {
  std::string context, state;
  std::size_t page_size = 50;
  std::string page_token;
  std::optional<std::size_t> history;
  UnixMillis after;
  bool with_artifacts = false;
};

/// Errors: `kInput` with the field; `CONTENT_TYPE_NOT_SUPPORTED`.
Result<A2aMessage> read_a2a_message(const Json& params);
/// Error `kInput` with the field.
Result<A2aList> read_a2a_list(const Json& params);
/// The member `id`. Error `kInput`.
Result<std::string> read_a2a_task(const Json& params);
/// The member `historyLength`; nothing if it is missing. Error `kInput`: negative, or not a number.
Result<std::optional<std::size_t>> read_a2a_history(const Json& params, const std::string& where = {});
/// A `TaskPushNotificationConfig`, without its task. The error never has a value of it. Error `kInput` with
/// the field, which begins with `where`.
Result<app::PushAddress> read_a2a_push(const Json& config, const std::string& where = {});
/// A member that names a task or what belongs to one, such as `taskId`. Error `kInput`: it is missing.
Result<std::string> read_a2a_id(const Json& params, std::string_view key);
/// The decision that a text alone makes on a step: `allow`, or `deny` with a reason. Nothing: neither.
std::optional<ClientDecision> a2a_decision(const std::string& step, const std::string& text);

}  // namespace praxis::server
