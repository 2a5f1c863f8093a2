#include "server/openai.hpp"

#include <chrono>
#include <set>
#include <utility>

#include "praxis/json/schema.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

std::int64_t seconds(UnixMillis time) { return time.value / 1000; }

Json usage_json(const Usage& usage) {
  return JsonObject{{"prompt_tokens", usage.input},
                    {"completion_tokens", usage.output},
                    {"total_tokens", usage.total()},
                    {"prompt_tokens_details", JsonObject{{"cached_tokens", usage.cache_read}}},
                    {"completion_tokens_details", JsonObject{{"reasoning_tokens", usage.reasoning}}}};
}

/// Why the answer ends, in OpenAI's names.
std::string finish_of(const AgentResult& result) {
  if (result.success) return "stop";
  return result.reason == StopReason::kCancelled ? "stop" : "length";
}

// ---- the request

/// The text of a message's content: a string, or parts that are all text. Error `kInput`.
Result<std::string> content_text(const Json& content, const std::string& param) {
  if (content.is_null()) return std::string();
  if (content.is_string()) return to_plain_text(content);
  std::string text;
  const auto* parts = content.if_array();
  if (parts == nullptr) return fail(field_error(param, "must be a string or a list of parts"));
  for (const Json& part : *parts) {
    if (json_text(part, "type") != "text") {
      return fail(field_error(param, "has a part that is not text, which is not supported here"));
    }
    text += json_string(part, "text");
  }
  return text;
}

/// The messages of a request: those before the last, and the last, which is the user's.
struct Dialogue {
  std::vector<Message> before;
  std::string prompt;
};

Result<Dialogue> dialogue_of(const Json& body) {
  const auto* messages = json_at(body, "messages").if_array();
  if (messages == nullptr || messages->empty())
    return fail(field_error("messages", "must be a list of messages"));
  Dialogue dialogue;
  for (std::size_t i = 0; i < messages->size(); ++i) {
    const std::string param = "messages[" + std::to_string(i) + "]";
    const Json& message = (*messages)[i];
    const auto role = role_from(json_text(message, "role"));
    if (!role || *role == Role::kTool || json_at(message, "tool_calls").is_array()) {
      return fail(field_error(param,
                              "must have the role system, developer, user or assistant and no tool calls: an "
                              "agent runs its own tools"));
    }
    auto text = content_text(json_at(message, "content"), param);
    if (!text) return fail(text.error());
    const bool is_last = i + 1 == messages->size();
    if (!is_last) {
      dialogue.before.push_back(text_message(*role, *std::move(text)));
    } else if (*role != Role::kUser || text->empty()) {
      return fail(field_error(param, "must be a message of the user with text"));
    } else {
      dialogue.prompt = *std::move(text);
    }
  }
  return dialogue;
}

/// The schema that the answer must follow; null for free text.
Result<Json> schema_of(const Json& body) {
  const Json& format = json_at(body, "response_format");
  if (json_text(format, "type") != "json_schema") return Json(nullptr);
  const Json& schema = json_at(json_at(format, "json_schema"), "schema");
  if (auto compiled = JsonSchema::compile(schema); !compiled)
    return fail(field_error("response_format", "has no valid schema: " + compiled.error().message));
  return schema;
}

Result<NewRun> run_of(const Json& body) {
  for (const char* key : {"tools", "functions"}) {
    const auto* given = json_at(body, key).if_array();
    if (given != nullptr && !given->empty())
      return fail(field_error(key, "are not supported: an agent runs its own tools"));
  }
  auto dialogue = dialogue_of(body);
  if (!dialogue) return fail(dialogue.error());
  auto schema = schema_of(body);
  if (!schema) return fail(schema.error());
  NewRun run;
  run.agent = json_string(body, "model");
  if (run.agent.empty()) return fail(field_error("model", "must name an agent; GET /v1/models lists them"));
  run.prompt = std::move(dialogue->prompt);
  run.before = std::move(dialogue->before);
  run.schema = *std::move(schema);
  return run;
}

// ---- the whole answer

HttpAnswer whole_answer(const ChatSink::Head& head, const Result<AgentResult>& result) {
  if (!result) return openai_error(problem(result.error()));
  if (!result->pending.empty()) {
    return openai_error(
        problem(409, make_error(ErrorCode::kPolicy, ErrorKind::kAwaitingUser,
                                "the run waits for a person to decide a step; " + result->session.str())));
  }
  if (!result->success && result->error) return openai_error(problem(*result->error));
  const JsonObject message{{"role", "assistant"}, {"content", result->text}, {"refusal", nullptr}};
  return json_answer(JsonObject{{"id", head.id},
                                {"object", "chat.completion"},
                                {"created", head.created},
                                {"model", head.model},
                                {"choices", JsonArray{JsonObject{{"index", 0},
                                                                 {"message", message},
                                                                 {"logprobs", nullptr},
                                                                 {"finish_reason", finish_of(*result)}}}},
                                {"usage", usage_json(result->usage + result->usage_children)}});
}

Json model_json(const std::string& name) {
  return JsonObject{{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "praxis"}};
}

}  // namespace

HttpAnswer openai_error(const HttpAnswer& problem) {
  const Json body = parse_json(problem.body).value_or(nullptr);
  const std::string type = problem.status == 401   ? "authentication_error"
                           : problem.status == 404 ? "not_found_error"
                           : problem.status == 429 ? "rate_limit_error"
                           : problem.status >= 500 ? "server_error"
                                                   : "invalid_request_error";
  const Json& field = json_at(body, "field");
  HttpAnswer answer = json_answer(JsonObject{{"error", JsonObject{{"message", json_string(body, "detail")},
                                                                  {"type", type},
                                                                  {"param", field},
                                                                  {"code", json_at(body, "kind")}}}},
                                  problem.status);
  for (const auto& [name, value] : problem.headers) {
    if (name == "WWW-Authenticate" || name == "Retry-After" || name == "Allow")
      answer.headers.emplace_back(name, value);
  }
  return answer;
}

Result<HttpAnswer> list_models(Service& service, const Call&) {
  JsonArray models;
  for (const std::string& name : app::agent_names(*service.workspace)) models.push_back(model_json(name));
  return json_answer(JsonObject{{"object", "list"}, {"data", std::move(models)}});
}

Result<HttpAnswer> show_model(Service& service, const Call& call) {
  const auto names = app::agent_names(*service.workspace);
  if (std::ranges::find(names, call.name("model")) == names.end())
    return fail(not_found("model", call.name("model")));
  return json_answer(model_json(call.name("model")));
}

Status complete_chat(Service& service, const Call& call, const HttpReply& reply) {
  const auto body = parse_json(call.body);
  if (!body || !body->is_object()) return fail(ErrorCode::kInput, "the body must be a JSON object");
  auto run = run_of(*body);
  if (!run) return fail(run.error());
  const bool streams = json_bool(*body, "stream");
  ChatSink::Head head{"", run->agent, seconds(service.runtime->environment().now()),
                      json_bool(json_at(*body, "stream_options"), "include_usage")};
  const auto position = service.journal->last_position();
  if (!position) return fail(position.error());
  if (!streams) {
    run->done = [head, reply](const Result<AgentResult>& result) mutable {
      if (result) head.id = "chatcmpl-" + result->session.str();
      reply.send(whole_answer(head, result));
    };
  }
  const auto made = service.runs->create(*std::move(run), call.principal);
  if (!made) return fail(made.error());
  ++service.counters.runs_created;
  if (!streams) return {};
  head.id = "chatcmpl-" + made->id.str();
  begin_events(reply);
  service.feed->subscribe({.session = made->id, .below = false}, Position{*position, UINT32_MAX},
                          std::make_shared<ChatSink>(reply, made->id, std::move(head)));
  return {};
}

// ---- the stream

bool ChatSink::write_chunk(const Frame& frame, JsonArray choices, Json usage) {
  JsonObject chunk{{"id", head_.id},
                   {"object", "chat.completion.chunk"},
                   {"created", head_.created},
                   {"model", head_.model},
                   {"choices", std::move(choices)}};
  if (head_.with_usage) chunk["usage"] = std::move(usage);
  return write(frame, std::make_shared<const std::string>("data: " + to_json_text(chunk) + "\n\n"));
}

bool ChatSink::write_text(const Frame& frame, const std::string& text) {
  JsonObject delta{{"content", text}};
  if (!std::exchange(has_begun_, true)) delta["role"] = "assistant";
  return write_chunk(
      frame, JsonArray{JsonObject{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", nullptr}}},
      nullptr);
}

bool ChatSink::end(const Frame& frame, const AgentResult& result) {
  if (!result.success && result.error) {
    const HttpAnswer error = openai_error(problem(*result.error));
    std::string text = error.body;
    text.pop_back();  // the line end
    write(frame, std::make_shared<const std::string>("data: " + text + "\n\n"));
  } else {
    write_chunk(
        frame,
        JsonArray{JsonObject{{"index", 0}, {"delta", JsonObject{}}, {"finish_reason", finish_of(result)}}},
        nullptr);
    if (head_.with_usage) write_chunk(frame, JsonArray{}, usage_json(result.usage + result.usage_children));
  }
  write(frame, std::make_shared<const std::string>("data: [DONE]\n\n"));
  reply().finish();
  return false;
}

bool ChatSink::on_frame(const Frame& frame) {
  if (frame.event->agent.id != session_) return true;
  return std::visit(match{[&](const events::TextDelta& e) {
                            has_pieces_ = true;
                            return write_text(frame, e.text);
                          },
                          [&](const events::AssistantText& e) {
                            // Pieces were dropped, or came before the client was listening: the text is whole
                            // here.
                            return std::exchange(has_pieces_, false) || write_text(frame, e.text);
                          },
                          [&](const events::TurnCompleted& e) { return end(frame, e.result); },
                          [&](const events::TurnFailed& e) { return end(frame, e.result); },
                          [&](const events::TurnTimedOut& e) { return end(frame, e.result); },
                          [&](const events::TurnCancelled& e) { return end(frame, e.result); },
                          [](const auto&) { return true; }},
                    frame.event->body);
}

void ChatSink::on_end() { reply().finish(); }

}  // namespace praxis::server
