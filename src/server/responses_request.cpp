#include "server/responses_request.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "praxis/json/schema.hpp"
#include "server/call.hpp"
#include "server/client_conversation.hpp"
#include "server/conversations.hpp"
#include "server/external_calls.hpp"
#include "server/input_parts.hpp"
#include "server/problem.hpp"

namespace praxis::server {
namespace {

/// Members that say nothing about the answer: for the books and the caches of a vendor.
constexpr std::array kWithoutEffect{"user",
                                    "safety_identifier",
                                    "prompt_cache_key",
                                    "prompt_cache_options",
                                    "prompt_cache_retention",
                                    "stream_options"};
constexpr std::array kServed{
    "input",      "model",    "instructions", "stream",  "previous_response_id", "conversation", "store",
    "background", "metadata", "text",         "include", "max_tool_calls",       "tools"};
/// The values with which other members ask for what happens anyway.
constexpr std::array<std::pair<const char*, std::string_view>, 4> kUsual{{{"tool_choice", R"("auto")"},
                                                                          {"parallel_tool_calls", "true"},
                                                                          {"truncation", R"("disabled")"},
                                                                          {"service_tier", R"("auto")"}}};

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_array() && value.get_array().empty()) ||
         (value.is_object() && value.get_object().empty());
}

/// Refuses members that would change the answer and that we cannot serve.
Status check_members(const JsonObject& body) {
  for (const auto& member : body) {
    const std::string key(member.key());
    const auto is_key = [&](const char* each) { return key == each; };
    if (std::ranges::any_of(kServed, is_key) || std::ranges::any_of(kWithoutEffect, is_key) ||
        is_empty(member.value()))
      continue;
    const auto usual = std::ranges::find(kUsual, key, [](const auto& each) { return each.first; });
    if (usual != kUsual.end() && to_json_text(member.value()) == usual->second) continue;
    if (usual != kUsual.end())
      return fail(field_error(key, "can only be " + std::string(usual->second) + " here"));
    return fail(field_error(key, "is not supported: the agent decides it, or there is no such thing here"));
  }
  return {};
}

// ---- items

Result<std::string> text_in(const Json& content, const std::string& param) {
  if (content.is_string()) return to_plain_text(content);
  const auto* parts = content.if_array();
  if (parts == nullptr) return fail(field_error(param + ".content", "must be a string or a list of parts"));
  std::string text;
  for (const Json& part : *parts) {
    const std::string_view type = json_text(part, "type");
    if (type != "input_text" && type != "output_text" && type != "text")
      return fail(field_error(param + ".content", "has a part of type \"" + std::string(type) +
                                                      "\"; only text is supported here"));
    text += json_string(part, "text");
  }
  return text;
}

Status add_message(const Json& item, const std::string& param, ResponsesInput& input) {
  const auto role = role_from(json_text(item, "role"));
  if (!role || *role == Role::kTool)
    return fail(field_error(param + ".role", "must be user, assistant, system or developer"));
  if (*role == Role::kUser) {
    auto parts = input_parts(json_at(item, "content"), param + ".content");
    if (!parts) return fail(parts.error());
    if (!parts->empty()) input.before.emplace_back().parts = *std::move(parts);
    return {};
  }
  auto text = text_in(json_at(item, "content"), param);
  if (!text) return fail(text.error());
  if (text->empty()) return {};
  input.before.push_back(text_message(*role, *std::move(text)));
  return {};
}

/// A call that we have shown as one of a server of tools, and that a client sends back with its conversation.
void add_past_call(const Json& item, ResponsesInput& input) {
  const bool failed = json_at(item, "output").is_null();
  add_call_with_result(input.before, json_string(item, "id"), json_string(item, "name"),
                       json_string(item, "arguments", "{}"),
                       failed ? to_json_text(json_at(item, "error")) : json_string(item, "output"), failed);
}

Status add_decision(const Json& item, const std::string& param, ResponsesInput& input) {
  const auto request = ApprovalRequestId::parse(json_text(item, "approval_request_id"));
  if (!request)
    return fail(field_error(param + ".approval_request_id", "must be the id of an mcp_approval_request"));
  if (!json_at(item, "approve").is_bool())
    return fail(field_error(param + ".approve", "must be true or false"));
  input.decisions.push_back({*request, json_bool(item, "approve"), json_string(item, "reason")});
  return {};
}

/// The result of a call that the client has run.
Status add_output(const Json& item, const std::string& param, ResponsesInput& input) {
  const auto call = ExternalCallId::parse(json_text(item, "call_id"));
  if (!call) return fail(field_error(param + ".call_id", "is not of a call that waits for its result"));
  const Json& output = json_at(item, "output");
  auto text = text_in(output, param);
  if (!text) return fail(text.error());
  input.decisions.push_back(
      {{call->run, call->run, call->step}, true, text->empty() ? "(no output)" : *std::move(text)});
  return {};
}

/// The result of a call among the items; the end without one.
JsonArray::const_iterator output_of(const JsonArray& items, const Json& call) {
  const std::string_view id = json_text(call, "call_id");
  return std::ranges::find_if(items, [&](const Json& each) {
    return json_text(each, "type") == "function_call_output" && json_text(each, "call_id") == id;
  });
}

/// A call of the conversation so far, with its result.
Status add_past_function(const JsonArray& items, const Json& call, const std::string& param,
                         ResponsesInput& input) {
  const std::string id = json_string(call, "call_id");
  const auto answer = output_of(items, call);
  if (answer == items.end()) return fail(field_error(param, "is a call without its function_call_output"));
  auto text = text_in(json_at(*answer, "output"), param);
  if (!text) return fail(text.error());
  add_call_with_result(input.before, id, json_string(call, "name"), json_string(call, "arguments"), *text,
                       false);
  return {};
}

/// Whether the item decides something that a run waits for, when the input ends with such items.
bool is_decision(const Json& item) {
  const std::string_view type = json_text(item, "type");
  return type == "mcp_approval_response" || type == "function_call_output";
}

Status add_item(const JsonArray& items, const Json& item, const std::string& param, ResponsesInput& input) {
  const std::string type = json_string(item, "type", "message");
  if (type == "message") return add_message(item, param, input);
  if (type == "function_call") return add_past_function(items, item, param, input);
  // What clients send back with a conversation, and what the model needs nothing of.
  if (type == "reasoning" || type == "mcp_list_tools" || type == "mcp_approval_request" || is_decision(item))
    return {};
  if (type == "mcp_call") {
    add_past_call(item, input);
    return {};
  }
  return fail(field_error(param + ".type", "is \"" + type + "\", which is not supported here"));
}

Result<ResponsesInput> read_input(const Json& given) {
  ResponsesInput input;
  if (given.is_string()) {
    input.prompt = text_message(Role::kUser, to_plain_text(given));
    if (input.prompt->text().empty()) return fail(field_error("input", "is empty"));
    return input;
  }
  const auto* items = given.if_array();
  if (items == nullptr || items->empty())
    return fail(field_error("input", "must be a string or a list of items"));
  std::size_t first = items->size();
  while (first > 0 && is_decision((*items)[first - 1])) --first;
  const bool decides = first < items->size();
  for (std::size_t i = decides ? first : 0; i < items->size(); ++i) {
    const Json& item = (*items)[i];
    const std::string param = "input[" + std::to_string(i) + "]";
    const bool is_output = json_text(item, "type") == "function_call_output";
    auto added = !decides    ? add_item(*items, item, param, input)
                 : is_output ? add_output(item, param, input)
                             : add_decision(item, param, input);
    if (!added) return fail(added.error());
  }
  if (decides) return input;
  if (input.before.empty() || input.before.back().role != Role::kUser)
    return fail(field_error("input", "must end with a message of the user"));
  input.prompt = std::move(input.before.back());
  input.before.pop_back();
  return input;
}

// ---- the other members

/// The id of a conversation, which is given alone or in an object.
Status read_conversation(const Json& given, ResponsesRequest& request) {
  if (given.is_null()) return {};
  const Json& id = given.is_object() ? json_at(given, "id") : given;
  if (!id.is_string() || id.get_string().empty())
    return fail(field_error("conversation", "must be the id of a conversation, or an object with it"));
  if (request.previous)
    return fail(
        field_error("previous_response_id",
                    "cannot be given with \"conversation\": give the one that the response continues"));
  request.conversation = to_plain_text(id);
  request.kept["conversation"] = JsonObject{{"id", request.conversation}};
  return {};
}

Result<Json> schema_of_text(const Json& text) {
  const Json& format = json_at(text, "format");
  const std::string type = json_string(format, "type", "text");
  if (const std::string verbosity = json_string(text, "verbosity", "medium"); verbosity != "medium")
    return fail(field_error("text.verbosity", "is not supported: the agent decides it"));
  if (type == "text") return Json(nullptr);
  if (type != "json_schema")
    return fail(field_error("text.format", "must have the type text or json_schema"));
  const Json& schema = json_at(format, "schema");
  if (auto compiled = JsonSchema::compile(schema); !compiled)
    return fail(field_error("text.format", "has no valid schema: " + compiled.error().message));
  return schema;
}

/// Data of items that never occur here is not missing when it is asked for.
Status check_include(const Json& include) {
  if (include.is_null()) return {};
  const auto* names = include.if_array();
  if (names == nullptr) return fail(field_error("include", "must be a list"));
  for (const Json& name : *names) {
    if (name == Json("message.output_text.logprobs"))
      return fail(field_error("include", "cannot have message.output_text.logprobs here"));
  }
  return {};
}

Status read_function_tools(const Json& all, ResponsesRequest& request) {
  const auto* tools = json_at(all, "tools").if_array();
  if (tools == nullptr || tools->empty()) return {};
  for (const Json& tool : *tools) {
    if (json_text(tool, "type") != "function")
      return fail(field_error("tools", "must have the type function; others belong to the agent"));
    auto definition = external_tool_of(tool, "tools");
    if (!definition) return fail(definition.error());
    request.tools.push_back(*std::move(definition));
  }
  request.kept["tools"] = *tools;
  return {};
}

Result<bool> flag_of(const JsonObject& body, const char* key, bool fallback) {
  const Json* value = body.if_contains(key);
  if (value == nullptr || value->is_null()) return fallback;
  if (!value->is_bool()) return fail(field_error(key, "must be true or false"));
  return value->get_bool();
}

Status read_flags(const JsonObject& body, ResponsesRequest& request) {
  const auto streams = flag_of(body, "stream", false), background = flag_of(body, "background", false),
             store = flag_of(body, "store", true);
  for (const auto* flag : {&streams, &background, &store}) {
    if (!*flag) return fail(flag->error());
  }
  if (*background && !*store) return fail(field_error("background", "needs \"store\""));
  request.streams = *streams;
  request.background = *background;
  request.kept["background"] = *background;
  request.kept["store"] = *store;
  return {};
}

Status read_texts(const JsonObject& body, ResponsesRequest& request) {
  auto model = text_of(body, "model"), instructions = text_of(body, "instructions"),
       previous = text_of(body, "previous_response_id");
  for (const auto* text : {&model, &instructions, &previous}) {
    if (!*text) return fail(text->error());
  }
  if (!previous->empty()) {
    request.previous = ResponseId::parse(*previous);
    if (!request.previous) return fail(field_error("previous_response_id", "is not the id of a response"));
    request.kept["previous_response_id"] = *previous;
  }
  if (!instructions->empty()) request.kept["instructions"] = *instructions;
  request.model = *std::move(model);
  request.instructions = *std::move(instructions);
  return {};
}

}  // namespace

Result<ResponsesRequest> read_responses_request(const JsonObject& body) {
  ResponsesRequest request;
  const Json all(body);
  if (auto checked = check_members(body); !checked) return fail(checked.error());
  auto input = read_input(json_at(all, "input"));
  if (!input) return fail(input.error());
  request.input = *std::move(input);
  auto schema = schema_of_text(json_at(all, "text"));
  if (!schema) return fail(schema.error());
  request.schema = *std::move(schema);
  for (const Status& checked :
       {read_texts(body, request), read_flags(body, request), read_function_tools(all, request),
        read_conversation(json_at(all, "conversation"), request), check_include(json_at(all, "include"))}) {
    if (!checked) return fail(checked.error());
  }
  if (auto metadata = read_metadata(json_at(all, "metadata")); !metadata) return fail(metadata.error());
  for (const char* key : {"metadata", "text", "max_tool_calls"}) {
    if (const Json& value = json_at(all, key); !value.is_null()) request.kept[key] = value;
  }
  if (const Json& calls = json_at(all, "max_tool_calls"); !calls.is_null()) {
    if (json_int(all, "max_tool_calls", 0) < 1)
      return fail(field_error("max_tool_calls", "must be at least 1"));
    request.limits = JsonObject{{"max_tool_calls", calls}};
  }
  return request;
}

Result<std::vector<Message>> messages_of(const JsonArray& items, const std::string& field) {
  ResponsesInput input;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string param = field + "[" + std::to_string(i) + "]";
    if (!items[i].is_object()) return fail(field_error(param, "must be an object"));
    if (json_text(items[i], "type") == "function_call" && output_of(items, items[i]) == items.end()) continue;
    if (auto added = add_item(items, items[i], param, input); !added) return fail(added.error());
  }
  return std::move(input.before);
}

JsonArray input_items_of(const Message& message, const std::string& id) {
  JsonArray items;
  const bool is_own = message.role == Role::kAssistant;
  const auto next_id = [&] { return id + (items.empty() ? "" : "-" + std::to_string(items.size())); };
  JsonArray content;
  if (!is_own && !is_text_only(message.parts)) {
    for (const Part& part : message.parts) {
      if (Json shown = input_part_json(part); !shown.is_null()) content.push_back(std::move(shown));
    }
  } else if (const std::string text = message.text(); !text.empty()) {
    JsonObject part{{"type", is_own ? "output_text" : "input_text"}, {"text", text}};
    if (is_own) part["annotations"] = JsonArray{};
    content.push_back(std::move(part));
  }
  if (!content.empty()) {
    items.emplace_back(JsonObject{{"type", "message"},
                                  {"id", next_id()},
                                  {"status", "completed"},
                                  {"role", to_string(message.role)},
                                  {"content", std::move(content)}});
  }
  return items;
}

}  // namespace praxis::server
