// A2A 1.0: what requests say, in the JSON form of its messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/json/json.hpp"
#include "server/client_conversation.hpp"

namespace praxis::server {

/// A `SendMessageRequest`.
struct A2aMessage {
  std::string id, task, context;
  std::string text;                       ///< of all parts that decide nothing
  std::vector<ClientDecision> decisions;  ///< of parts with data that name a step
  bool returns_immediately = false;
  std::optional<std::size_t> history;  ///< most messages in the answer; nothing: all
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

/// Errors: `kInput` with the field; `CONTENT_TYPE_NOT_SUPPORTED`; `PUSH_NOTIFICATION_NOT_SUPPORTED`.
Result<A2aMessage> read_a2a_message(const Json& params);
/// Error `kInput` with the field.
Result<A2aList> read_a2a_list(const Json& params);
/// The member `id`. Error `kInput`.
Result<std::string> read_a2a_task(const Json& params);
/// The member `historyLength`; nothing if it is missing. Error `kInput`: negative, or not a number.
Result<std::optional<std::size_t>> read_a2a_history(const Json& params, const std::string& where = {});
/// The decision that a text alone makes on a step: `allow`, or `deny` with a reason. Nothing: neither.
std::optional<ClientDecision> a2a_decision(const std::string& step, const std::string& text);

}  // namespace praxis::server
