// Reads recorded requests back into the requests that a caller would have made.
#pragma once

#include <string>
#include <vector>

#include "wire/endpoint.hpp"

namespace praxis::wire {

/// The conversation of a request. The codec itself reads assistant messages, as if they were responses, so
/// that they keep the vendor's state wherever they have any.
struct RecordedConversation {
  std::string instructions;
  std::vector<Message> messages;
  std::vector<ToolDefinition> tools;
  std::vector<std::string> unread;  ///< kinds of parts that have no neutral form here
};

/// `body` is a JSON object in the endpoint's protocol.
RecordedConversation read_request(const RecordedEndpoint& endpoint, const Json& body);

}  // namespace praxis::wire
