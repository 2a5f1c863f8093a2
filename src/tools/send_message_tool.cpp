#include "praxis/tools/send_message_tool.hpp"

#include "domain/agent_message.hpp"
#include "praxis/tools/sub_agent.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/message_scope.hpp"

namespace praxis {
namespace {

constexpr const char* kSendDescription =
    "Sends a text to another agent that works with you: the one above you, a sub-agent, or one next to you. "
    "It "
    "reads the text before its next step. You get no answer here: it may send a message in return.";
constexpr std::size_t kMostMessageBytes = 16 * 1024;

struct SendRequest {
  arg<std::string, "The id or path of the agent, such as lead/research"> agent;
  arg<std::string, "What it is to know"> text;
};
PRAXIS_FIELDS(SendRequest, agent, text)

}  // namespace

Tool send_message_tool(MessageBounds bounds) {
  Tool tool = make_tool(std::string(kSendMessage), kSendDescription,
                        [](const SendRequest&) { return std::string(); });
  tool.handler = [bounds](ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    auto* const scope = dynamic_cast<MessageScope*>(context.scope.get());
    if (scope == nullptr) return fail(ErrorCode::kInput, "messages can be sent within a session only");
    const std::string text = json_string(arguments, "text");
    if (text.empty()) return fail(ErrorCode::kInput, "\"text\" is empty: what is the agent to know?");
    if (text.size() > kMostMessageBytes)
      return fail(ErrorCode::kInput, "\"text\" is longer than 16 KiB: send a summary");
    auto sent = scope->send_message(json_string(arguments, "agent"), text, bounds);
    if (!sent) return fail(std::move(sent.error()));
    ToolOutput output;
    output.text = *std::move(sent);
    return output;
  };
  return tool;
}

}  // namespace praxis
