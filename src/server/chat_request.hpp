// The request of OpenAI's Chat Completions, taken apart.
#pragma once

#include <string>
#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "server/client_conversation.hpp"

namespace praxis::server {

struct ChatCompletionRequest {
  std::string model;
  std::vector<Message> before;  ///< the conversation before the last message
  std::vector<Part> content;    ///< of the last message
  /// Instead of it: the results of calls that the run waits for.
  std::vector<ClientDecision> results;
  SessionId run;  ///< of these calls
  std::vector<ToolDefinition> tools;
  Json schema = nullptr;  ///< of the answer
  bool streams = false, with_usage = false;
};

/// Error `kInput` names the member.
Result<ChatCompletionRequest> read_chat_completion(const Json& body);

}  // namespace praxis::server
