// The chat of the AI SDK: its messages in, its stream of chunks out.
#include <algorithm>
#include <iterator>
#include <utility>

#include "server/client_conversation.hpp"
#include "server/handlers.hpp"
#include "server/input_parts.hpp"
#include "server/ui_stream.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kLongestChat = 255;

HttpHeaders ui_stream_headers() { return {{"x-vercel-ai-ui-message-stream", "v1"}}; }

bool is_tool_part(const Json& part) {
  const std::string_view type = json_text(part, "type");
  return type == "dynamic-tool" || type.starts_with("tool-");
}

/// A call of the conversation with its outcome; one without is left out, because it never ran.
void add_tool_part(const Json& part, std::vector<Message>& messages) {
  const std::string state = json_string(part, "state");
  const bool failed = state == "output-error" || state == "output-denied";
  if (state != "output-available" && !failed) return;
  const std::string type = json_string(part, "type");
  const std::string name = type == "dynamic-tool" ? json_string(part, "toolName") : type.substr(5);
  const Json& output = json_at(part, "output");
  const std::string result = state == "output-error"    ? json_string(part, "errorText")
                             : state == "output-denied" ? "The call was denied."
                             : output.is_string()       ? to_plain_text(output)
                                                        : to_json_text(output);
  add_call_with_result(messages, json_string(part, "toolCallId"), name, to_json_text(json_at(part, "input")),
                       result, failed);
}

Status add_ui_message(const Json& given, const std::string& param, std::vector<Message>& messages) {
  const auto role = role_from(json_text(given, "role"));
  if (!role || *role == Role::kTool || *role == Role::kDeveloper)
    return fail(field_error(param + ".role", "must be system, user or assistant"));
  const auto* parts = json_at(given, "parts").if_array();
  if (parts == nullptr) return fail(field_error(param + ".parts", "must be a list"));
  std::string text;
  std::vector<Part> media;
  for (const Json& part : *parts) {
    const std::string_view type = json_text(part, "type");
    if (type == "text") {
      text += json_string(part, "text");
    } else if (*role == Role::kUser && type == "file") {
      auto file = media_part(json_string(part, "url"), json_string(part, "filename"), param + ".parts");
      if (!file) return fail(file.error());
      media.push_back(*std::move(file));
    } else if (*role == Role::kAssistant && is_tool_part(part)) {
      add_tool_part(part, messages);
    }
  }
  if (text.empty() && media.empty()) return {};
  Message message = text_message(*role, std::move(text));
  if (message.text().empty()) message.parts.clear();
  std::ranges::move(media, std::back_inserter(message.parts));
  messages.push_back(std::move(message));
  return {};
}

struct ChatRequest {
  std::string id, agent;
  std::vector<Message> messages;
  std::vector<ClientDecision> decisions;  ///< of the last message
};

/// The answers of the user to the approval requests of a message.
std::vector<ClientDecision> decisions_in(const Json& message) {
  std::vector<ClientDecision> decisions;
  const auto* parts = json_at(message, "parts").if_array();
  if (parts == nullptr || json_text(message, "role") != "assistant") return decisions;
  for (const Json& part : *parts) {
    const Json& approval = json_at(part, "approval");
    if (!is_tool_part(part) || json_text(part, "state") != "approval-responded") continue;
    decisions.push_back(
        {json_string(approval, "id"), json_bool(approval, "approved"), json_string(approval, "reason")});
  }
  return decisions;
}

Result<ChatRequest> read_chat_request(const Call& call) {
  const auto body = call.object({"id", "messages", "trigger", "messageId", "agent"});
  if (!body) return fail(body.error());
  ChatRequest request;
  auto id = text_of(*body, "id"), agent = text_of(*body, "agent"), trigger = text_of(*body, "trigger"),
       message = text_of(*body, "messageId");
  for (const auto* text : {&id, &agent, &trigger, &message}) {
    if (!*text) return fail(text->error());
  }
  if (id->empty() || id->size() > kLongestChat)
    return fail(field_error("id", "must be the id of the chat, of at most 255 bytes"));
  if (!trigger->empty() && *trigger != "submit-message" && *trigger != "regenerate-message")
    return fail(field_error("trigger", "must be submit-message or regenerate-message"));
  request.id = *std::move(id);
  request.agent = *std::move(agent);
  const Json* messages = body->if_contains("messages");
  const auto* list = messages == nullptr ? nullptr : messages->if_array();
  if (list == nullptr || list->empty()) return fail(field_error("messages", "must be a list of messages"));
  request.decisions = decisions_in(list->back());
  if (!request.decisions.empty()) return request;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto added = add_ui_message((*list)[i], "messages[" + std::to_string(i) + "]", request.messages);
    if (!added) return fail(added.error());
  }
  if (json_text(list->back(), "role") != "user" || request.messages.empty() ||
      request.messages.back().role != Role::kUser)
    return fail(field_error("messages", "must end with a text of the user, or with decisions"));
  return request;
}

Status decide_in_chat(Service& service, const Call& call, const ChatRequest& request,
                      const HttpReply& reply) {
  const SessionId run = run_of_conversation(service, "ai", request.id, call.principal);
  if (run.empty()) return fail(not_found("chat", request.id));
  auto stored = service.runs->stored(run);
  if (!stored) return fail(stored.error());
  if (!stored->state.turn) return fail(field_error("messages", "decides a step of a turn that is over"));
  UiStreamCodec::Begin begin{.turn = stored->state.turn->id, .at_once = true, .decided = {}};
  for (const ClientDecision& decision : request.decisions) begin.decided.insert(decision.step);
  const auto following = std::make_shared<TurnFollower>(
      service, reply, std::make_shared<UiStreamCodec>(std::move(begin), run), TurnFollower::Gives::kStream);
  if (auto watched = following->watch(run); !watched) return watched;
  stored = service.runs->stored(run);  // with what came before it was watched
  if (!stored) return fail(stored.error());
  following->start_after(*stored);
  const auto decided = decide_for_client(service, run, request.decisions, call.principal, "messages");
  if (!decided) return fail(decided.error());
  following->follow(ui_stream_headers());
  return {};
}

}  // namespace

Status ai_sdk_chat(Service& service, const Call& call, const HttpReply& reply) {
  auto request = read_chat_request(call);
  if (!request) return fail(request.error());
  if (!request->decisions.empty()) return decide_in_chat(service, call, *request, reply);
  const auto codec = std::make_shared<UiStreamCodec>(UiStreamCodec::Begin{}, SessionId{});
  const auto following = std::make_shared<TurnFollower>(service, reply, codec, TurnFollower::Gives::kStream);
  start_client_turn(service, {"ai", request->id, request->agent, std::move(request->messages)}, call,
                    following, [codec, following](const SessionId& run) {
                      codec->set_run(run);
                      following->follow(ui_stream_headers());
                    });
  return {};
}

/// Of a turn that works the stream from its beginning, which the client takes as a replay; else 204.
Status ai_sdk_resume(Service& service, const Call& call, const HttpReply& reply) {
  const SessionId run = run_of_conversation(service, "ai", call.name("chat"), call.principal);
  auto stored = run.empty() ? Result<app::StoredSession>(fail(not_found("chat", call.name("chat"))))
                            : service.runs->stored(run);
  const bool works = stored && stored->state.turn && stored->state.status() != SessionStatus::kAwaitingUser;
  if (!works) {
    reply.send({204, {{"Cache-Control", "no-store"}}, ""});
    return {};
  }
  UiStreamCodec::Begin begin{.turn = stored->state.turn->id, .at_once = false, .decided = {}};
  const auto following = std::make_shared<TurnFollower>(
      service, reply, std::make_shared<UiStreamCodec>(std::move(begin), run), TurnFollower::Gives::kStream);
  if (auto watched = following->watch(run); !watched) return watched;
  stored = service.runs->stored(run);  // with what came before it was watched
  if (!stored) return fail(stored.error());
  following->replay(*stored);
  following->follow(ui_stream_headers());
  return {};
}

}  // namespace praxis::server
