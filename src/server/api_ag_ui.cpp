// AG-UI: its input in, its events out.
#include <algorithm>
#include <utility>

#include "app/shown_run.hpp"
#include "server/ag_ui.hpp"
#include "server/client_conversation.hpp"
#include "server/handlers.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kLongestThread = 255;

struct AgUiRequest {
  std::string thread, run_id;
  std::vector<Message> messages;
  std::vector<ClientDecision> decisions;
};

Result<std::string> content_of(const Json& message, const std::string& param) {
  const Json& content = json_at(message, "content");
  if (content.is_null()) return std::string();
  if (content.is_string()) return to_plain_text(content);
  const auto* parts = content.if_array();
  if (parts == nullptr) return fail(field_error(param + ".content", "must be a string or a list of parts"));
  std::string text;
  for (const Json& part : *parts) {
    if (json_text(part, "type") != "text")
      return fail(
          field_error(param + ".content", "has a part that is not text, which is not supported here"));
    text += json_string(part, "text");
  }
  return text;
}

void add_calls(const JsonArray& all, const Json& message, std::vector<Message>& messages) {
  const auto* calls = json_at(message, "toolCalls").if_array();
  if (calls == nullptr) return;
  for (const Json& call : *calls) {
    const std::string id = json_string(call, "id");
    const auto answer = std::ranges::find_if(all, [&](const Json& each) {
      return json_text(each, "role") == "tool" && json_text(each, "toolCallId") == id;
    });
    if (answer == all.end()) continue;
    const Json& function = json_at(call, "function");
    const Json& content = json_at(*answer, "content");
    add_call_with_result(messages, id, json_string(function, "name"), json_string(function, "arguments"),
                         content.is_string() ? to_plain_text(content) : to_json_text(content),
                         !json_at(*answer, "error").is_null());
  }
}

Status read_messages(const JsonArray& all, std::vector<Message>& messages) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string param = "messages[" + std::to_string(i) + "]";
    const std::string role = json_string(all[i], "role");
    if (role == "tool" || role == "activity" || role == "reasoning") continue;  // calls have their results
    const auto known = role_from(role);
    if (!known) return fail(field_error(param + ".role", "is not one of the protocol"));
    auto text = content_of(all[i], param);
    if (!text) return fail(text.error());
    if (!text->empty()) {
      messages.push_back(text_message(*known, *std::move(text)));
      if (const std::string id = json_string(all[i], "id"); *known == Role::kUser && !id.empty())
        messages.back().metadata = JsonObject{{"client_id", id}};
    }
    add_calls(all, all[i], messages);
  }
  return {};
}

Result<ClientDecision> decision_of(const Json& entry) {
  const std::string status = json_string(entry, "status");
  ClientDecision decision{
      .step = json_string(entry, "interruptId"), .approves = status == "resolved", .text = {}};
  if (status != "resolved" && status != "cancelled")
    return fail(field_error("resume", "has a status that is neither resolved nor cancelled"));
  const Json& payload = json_at(entry, "payload");
  if (status == "cancelled" || payload.is_null()) return decision;
  if (payload.is_bool()) {
    decision.approves = payload.get_bool();
  } else if (payload.is_string()) {
    decision.text = to_plain_text(payload);
  } else if (const Json& approved = json_at(payload, "approved"); approved.is_bool()) {
    decision.approves = approved.get_bool();
    decision.text = json_string(payload, "reason");
    if (const Json& edited = json_at(payload, "arguments"); edited.is_object())
      decision.arguments = to_json_text(edited);
  } else {
    return fail(field_error("resume", "has a payload that does not fit the responseSchema of its interrupt"));
  }
  return decision;
}

/// The members that are not read further have the type that the protocol says.
Status check_types(const JsonObject& body) {
  if (auto version = text_of(body, "protocolVersion"); !version) return fail(version.error());
  const Json* state = body.if_contains("state");
  if (state != nullptr && !state->is_null() && !state->is_object())
    return fail(field_error("state", "must be an object"));
  const Json* resume = body.if_contains("resume");
  if (resume != nullptr && !resume->is_null() && !resume->is_array())
    return fail(field_error("resume", "must be a list of answers to interrupts"));
  return {};
}

Result<AgUiRequest> read_ag_ui_request(const Call& call) {
  const auto body = call.object({"threadId", "runId", "protocolVersion", "parentRunId", "state", "messages",
                                 "tools", "context", "forwardedProps", "resume"});
  if (!body) return fail(body.error());
  if (auto checked = check_types(*body); !checked) return fail(checked.error());
  const Json all(*body);
  AgUiRequest request{.thread = json_string(all, "threadId"),
                      .run_id = json_string(all, "runId"),
                      .messages = {},
                      .decisions = {}};
  if (request.thread.empty() || request.thread.size() > kLongestThread)
    return fail(field_error("threadId", "must be the id of the conversation, of at most 255 bytes"));
  if (request.run_id.empty()) return fail(field_error("runId", "is missing"));
  for (const char* key : {"tools", "context", "forwardedProps", "parentRunId"}) {
    const Json& value = json_at(all, key);
    const bool is_empty = value.is_null() || value == Json(JsonArray{}) || value == Json(JsonObject{});
    if (!is_empty) return fail(field_error(key, "is not supported here"));
  }
  if (const auto* entries = json_at(all, "resume").if_array(); entries != nullptr && !entries->empty()) {
    for (const Json& entry : *entries) {
      auto decision = decision_of(entry);
      if (!decision) return fail(decision.error());
      request.decisions.push_back(*std::move(decision));
    }
    return request;
  }
  const auto* messages = json_at(all, "messages").if_array();
  if (messages == nullptr) return fail(field_error("messages", "must be a list"));
  if (auto read = read_messages(*messages, request.messages); !read) return fail(read.error());
  if (!messages->empty() && (json_text(messages->back(), "role") != "user" || request.messages.empty() ||
                             request.messages.back().role != Role::kUser))
    return fail(field_error("messages", "must end with a text of the user"));
  return request;
}

std::shared_ptr<TurnFollower> follower_of(Service& service, const HttpReply& reply,
                                          std::shared_ptr<AgUiCodec> codec) {
  return std::make_shared<TurnFollower>(service, reply, std::move(codec), TurnFollower::Gives::kStream);
}

/// Shows a conversation that exists: the messages, then the turn that is open, if any.
Status connect_ag_ui(Service& service, const Call& call, const AgUiRequest& request, const HttpReply& reply) {
  const SessionId run = run_of_conversation(service, "ag-ui", request.thread, call.principal);
  if (run.empty()) return fail(field_error("messages", "must end with a text of the user"));
  const auto codec =
      std::make_shared<AgUiCodec>(AgUiCodec::Begin{.thread = request.thread, .id = request.run_id}, run);
  const auto following = follower_of(service, reply, codec);
  if (auto watched = following->watch(run); !watched) return watched;
  auto stored = service.runs->stored(run);
  if (!stored) return fail(stored.error());
  const auto shown = app::shown_run(*std::move(stored), service.redactions);
  if (!shown) return fail(shown.error());
  const State& state = shown->state;
  const auto& messages = state.conversation.history().messages();
  std::size_t until = messages.size();
  if (state.turn && !state.marks.empty()) {
    until = state.marks.back().messages;
    while (until < messages.size() && messages[until]->role == Role::kUser) ++until;
  }
  codec->show(state.turn ? state.turn->id : TurnId{}, ag_ui_messages(run, messages, until));
  if (!state.turn) {
    begin_events(reply);
    reply.write(std::make_shared<const std::string>(codec->idle()));
    reply.finish();
    return {};
  }
  following->replay(*shown);
  following->follow();
  return {};
}

Status resume_ag_ui(Service& service, const Call& call, const AgUiRequest& request, const HttpReply& reply) {
  const SessionId run = run_of_conversation(service, "ag-ui", request.thread, call.principal);
  if (run.empty()) return fail(not_found("thread", request.thread));
  auto stored = service.runs->stored(run);
  if (!stored) return fail(stored.error());
  if (!stored->state.turn) return fail(field_error("resume", "decides a step of a turn that is over"));
  const auto following = follower_of(
      service, reply,
      std::make_shared<AgUiCodec>(
          AgUiCodec::Begin{request.thread, request.run_id, stored->state.turn->id, true, nullptr}, run));
  if (auto watched = following->watch(run); !watched) return watched;
  stored = service.runs->stored(run);  // with what came before it was watched
  if (!stored) return fail(stored.error());
  following->start_after(*stored);
  const auto decided = decide_for_client(service, run, request.decisions, call.principal, "resume");
  if (!decided) return fail(decided.error());
  following->follow();
  return {};
}

}  // namespace

Status ag_ui_run(Service& service, const Call& call, const HttpReply& reply) {
  auto request = read_ag_ui_request(call);
  if (!request) return fail(request.error());
  if (!request->decisions.empty()) return resume_ag_ui(service, call, *request, reply);
  if (request->messages.empty()) {
    if (auto may = check_right(call.principal, Right::kReadHistory); !may) return may;
    return connect_ag_ui(service, call, *request, reply);
  }
  const auto codec = std::make_shared<AgUiCodec>(
      AgUiCodec::Begin{.thread = request->thread, .id = request->run_id}, SessionId{});
  const auto following = follower_of(service, reply, codec);
  start_client_turn(service, {"ag-ui", request->thread, call.name("agent"), std::move(request->messages)},
                    call, following, [codec, following](const SessionId& run) {
                      codec->set_run(run);
                      following->follow();
                    });
  return {};
}

}  // namespace praxis::server
