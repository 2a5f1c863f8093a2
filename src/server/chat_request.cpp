#include "server/chat_request.hpp"

#include <algorithm>
#include <utility>

#include "praxis/json/schema.hpp"
#include "server/external_calls.hpp"
#include "server/input_parts.hpp"
#include "server/problem.hpp"

namespace praxis::server {
namespace {

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

/// The calls of a message with their results, which are messages after it.
Status add_past_calls(const JsonArray& messages, std::size_t at, const std::string& param,
                      std::vector<Message>& before) {
  const auto* calls = json_at(messages[at], "tool_calls").if_array();
  if (calls == nullptr) return {};
  for (const Json& call : *calls) {
    const std::string id = json_string(call, "id");
    const auto answer = std::find_if(messages.begin() + static_cast<std::ptrdiff_t>(at), messages.end(),
                                     [&](const Json& each) { return json_text(each, "tool_call_id") == id; });
    if (id.empty() || answer == messages.end())
      return fail(field_error(param, "has a call without a message of the role tool that has its result"));
    auto text = content_text(json_at(*answer, "content"), param);
    if (!text) return fail(text.error());
    const Json& function = json_at(call, "function");
    add_call_with_result(before, id, json_string(function, "name"), json_string(function, "arguments"), *text,
                         false);
  }
  return {};
}

/// The messages of the role tool with which the conversation ends. Error `kInput`: not results of calls that
/// a run of ours asked for.
Status read_results(const JsonArray& messages, std::size_t first, ChatCompletionRequest& request) {
  for (std::size_t i = first; i < messages.size(); ++i) {
    const std::string param = "messages[" + std::to_string(i) + "]";
    const auto call = ExternalCallId::parse(json_text(messages[i], "tool_call_id"));
    if (!call || (!request.run.empty() && request.run != call->run))
      return fail(field_error(param, "has a tool_call_id that is not of a call which waits for its result"));
    auto text = content_text(json_at(messages[i], "content"), param);
    if (!text) return fail(text.error());
    request.run = call->run;
    request.results.push_back({.step = call->run.str() + "/" + call->step.str(),
                               .approves = true,
                               .text = text->empty() ? "(no output)" : *std::move(text)});
  }
  return {};
}

Error not_a_prompt(const std::string& param) {
  return field_error(param, "must be a message of the user with text, or the result of a call");
}

Status read_user_message(const Json& content, const std::string& param, bool is_last,
                         ChatCompletionRequest& request) {
  auto parts = input_parts(content, param);
  if (!parts) return fail(parts.error());
  if (is_last && parts->empty()) return fail(not_a_prompt(param));
  if (is_last) {
    request.content = *std::move(parts);
  } else if (!parts->empty()) {
    request.before.emplace_back().parts = *std::move(parts);
  }
  return {};
}

Status read_message(const JsonArray& messages, std::size_t at, ChatCompletionRequest& request) {
  const std::string param = "messages[" + std::to_string(at) + "]";
  const bool is_last = at + 1 == messages.size();
  const auto role = role_from(json_text(messages[at], "role"));
  if (!role) return fail(field_error(param, "must have the role system, developer, user, assistant or tool"));
  if (*role == Role::kTool) return {};  // with its call
  if (*role == Role::kUser)
    return read_user_message(json_at(messages[at], "content"), param, is_last, request);
  auto text = content_text(json_at(messages[at], "content"), param);
  if (!text) return fail(text.error());
  if (is_last) return fail(not_a_prompt(param));
  if (!text->empty()) request.before.push_back(text_message(*role, *std::move(text)));
  return add_past_calls(messages, at, param, request.before);
}

Status read_messages_of_chat(const Json& body, ChatCompletionRequest& request) {
  const auto* messages = json_at(body, "messages").if_array();
  if (messages == nullptr || messages->empty())
    return fail(field_error("messages", "must be a list of messages"));
  std::size_t results = messages->size();
  while (results > 0 && json_text((*messages)[results - 1], "role") == "tool") --results;
  if (results < messages->size()) return read_results(*messages, results, request);
  for (std::size_t i = 0; i < messages->size(); ++i) {
    if (auto read = read_message(*messages, i, request); !read) return read;
  }
  return {};
}

/// The schema that the answer must follow; null for free text.
Result<Json> schema_of_chat(const Json& body) {
  const Json& format = json_at(body, "response_format");
  if (json_text(format, "type") != "json_schema") return Json(nullptr);
  const Json& schema = json_at(json_at(format, "json_schema"), "schema");
  if (auto compiled = JsonSchema::compile(schema); !compiled)
    return fail(field_error("response_format", "has no valid schema: " + compiled.error().message));
  return schema;
}

Status read_tools(const Json& body, ChatCompletionRequest& request) {
  if (const auto* given = json_at(body, "functions").if_array(); given != nullptr && !given->empty())
    return fail(field_error("functions", "are not supported; use tools"));
  const Json& choice = json_at(body, "tool_choice");
  if (!choice.is_null() && choice != Json("auto") && choice != Json("none"))
    return fail(field_error("tool_choice", "can only be auto or none here: the agent decides"));
  const auto* tools = json_at(body, "tools").if_array();
  if (tools == nullptr || choice == Json("none")) return {};
  for (const Json& tool : *tools) {
    if (json_text(tool, "type") != "function")
      return fail(field_error("tools", "must have the type function; others belong to the agent"));
    auto definition = external_tool_of(json_at(tool, "function"), "tools");
    if (!definition) return fail(definition.error());
    request.tools.push_back(*std::move(definition));
  }
  return {};
}

}  // namespace

Result<ChatCompletionRequest> read_chat_completion(const Json& body) {
  ChatCompletionRequest request;
  if (auto read = read_tools(body, request); !read) return fail(read.error());
  if (auto read = read_messages_of_chat(body, request); !read) return fail(read.error());
  auto schema = schema_of_chat(body);
  if (!schema) return fail(schema.error());
  request.schema = *std::move(schema);
  request.model = json_string(body, "model");
  if (request.model.empty())
    return fail(field_error("model", "must name an agent; GET /v1/models lists them"));
  request.streams = json_bool(body, "stream");
  request.with_usage = json_bool(json_at(body, "stream_options"), "include_usage");
  return request;
}

}  // namespace praxis::server
