// The request of OpenAI's Responses, taken apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "praxis/domain/approval.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/json/json.hpp"
#include "server/responses_codec.hpp"

namespace praxis::server {

/// What the items of `input` are for us.
struct ResponsesInput {
  struct Decision {
    ApprovalRequestId request;
    bool approves = false;
    std::string reason;  ///< or the result of a call that the client has run
  };
  std::vector<Message> before;  ///< the conversation before the last message
  std::optional<Message> prompt;
  std::vector<Decision> decisions;
};

struct ResponsesRequest {
  ResponsesInput input;
  std::string model, instructions;
  std::optional<ResponseId> previous;
  std::string conversation;  ///< id of the conversation to which the response belongs; empty: none
  Json schema = nullptr;     ///< of the answer
  Json limits = nullptr;
  std::vector<ToolDefinition> tools;  ///< that the client runs
  bool streams = false, background = false;
  /// Members of the response that repeat the request; kept with the message.
  JsonObject kept;
};

/// Error `kInput`: names the member that is wrong, or that we cannot serve.
Result<ResponsesRequest> read_responses_request(const JsonObject& body);

/// The messages of items of a conversation; calls without a result are left out. Error `kInput` names the
/// item, of the list `field`.
Result<std::vector<Message>> messages_of(const JsonArray& items, const std::string& field);

/// The items of a message, as the list of input items shows them. `id` is that of the first.
JsonArray input_items_of(const Message& message, const std::string& id);

}  // namespace praxis::server
