// Recorded requests read back into what a caller of ours would have asked for.
#pragma once

#include <string>
#include <vector>

#include "wire/endpoint.hpp"

namespace praxis::wire {

/// The conversation a request carries. Assistant messages are read by the codec itself, as if they were
/// answers, so that they hold the vendor's state wherever it holds any.
struct RecordedConversation {
  std::string instructions;
  std::vector<Message> messages;
  std::vector<ToolDefinition> tools;
  std::vector<std::string> unread;  ///< kinds of parts that have no neutral form here
};

/// `body` is a JSON object in the endpoint's protocol.
RecordedConversation read_request(const RecordedEndpoint& endpoint, const Json& body);

}  // namespace praxis::wire
