// The content of a result, taken over within the bounds.
#include <algorithm>
#include <array>
#include <utility>

#include "mcp/connection.hpp"
#include "mcp/tasks.hpp"
#include "mcp/tool_list.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

constexpr std::array<std::string_view, 4> kImageTypes{"image/png", "image/jpeg", "image/gif", "image/webp"};
constexpr std::size_t kMaxShownUri = 500;
constexpr std::size_t kMaxListed = 1000;  ///< bytes of a name or a description in a list
constexpr std::size_t kMaxUri = 4096;

class ContentReader {
 public:
  explicit ContentReader(const McpBounds& bounds) : bounds_(bounds) {}

  void add(const Json& item) {
    const std::string type = json_string(item, "type");
    if (type == "text") return add_text(json_text(item, "text"));
    if (type == "image") return add_image(item);
    if (type == "resource_link") return add_text("[resource " + uri_of(item) + ']');
    if (type == "resource") return add_resource(json_at(item, "resource"));
    add_text("[content of type \"" + mcp_shown(type, 40) + "\", which is not passed on]");
  }

  void add_text(std::string_view text) {
    if (!result_.text.empty()) take("\n");
    take(text);
  }

  McpResult finish() {
    if (left_out_ != 0) result_.text += "\n[" + std::to_string(left_out_) + " bytes left out]";
    return std::move(result_);
  }

 private:
  void take(std::string_view text) {
    const std::size_t room = bounds_.result_bytes - std::min(bounds_.result_bytes, result_.text.size());
    result_.text += repair_utf8(text.substr(0, room));
    left_out_ += text.size() - std::min(room, text.size());
  }

  static std::string uri_of(const Json& resource) {
    return mcp_shown(json_text(resource, "uri"), kMaxShownUri);
  }

  void add_image(const Json& item) {
    const std::string type = json_string(item, "mimeType");
    auto bytes = base64_decode(json_text(item, "data"));
    const bool is_known = std::ranges::find(kImageTypes, type) != kImageTypes.end();
    if (!bytes || bytes->empty() || !is_known || result_.images.size() >= bounds_.images)
      return add_text("[an image that is not passed on: of an unknown type, invalid, or one too many]");
    result_.images.push_back({{.mime = type, .data = *std::move(bytes), .url = {}}, nullptr});
  }

  void add_resource(const Json& resource) {
    add_text("[resource " + uri_of(resource) + ']');
    const Json& text = json_at(resource, "text");
    if (text.is_string()) return add_text(text.get_string());
    add_text("[" + std::to_string(json_text(resource, "blob").size()) +
             " characters of base64, not passed on]");
  }

  const McpBounds& bounds_;
  McpResult result_;
  std::size_t left_out_ = 0;
};

/// The text of foreign origin on display, cut to what a list needs.
std::string short_text(const Json& item, std::string_view key) {
  return mcp_shown(json_text(item, key), kMaxListed);
}

/// What the server wants to know first.
Result<McpResult> input_of(const Json& result, const McpBounds& bounds) {
  McpInput input;
  if (const JsonObject* requests = json_at(result, "inputRequests").if_object()) input.requests = *requests;
  if (const Json& state = json_at(result, "requestState"); state.is_string())
    input.state = std::string(state.get_string());
  const bool is_large = to_json_text(input.requests).size() > bounds.state_bytes ||
                        input.state.value_or("").size() > bounds.state_bytes;
  if (is_large || (input.requests.empty() && !input.state))
    return fail(ErrorCode::kTool, ErrorKind::kProtocol,
                is_large ? "the server asks for further input with more than " +
                               std::to_string(bounds.state_bytes) + " bytes"
                         : std::string("the server asks for further input, but not for what"));
  McpResult made;
  made.input = std::move(input);
  return made;
}

}  // namespace

Result<McpResult> read_mcp_result(const Json& result, const McpBounds& bounds) {
  if (bounds.takes_tasks && is_mcp_task(result)) return mcp_task_result(result, bounds);
  const std::string type = json_string(result, "resultType", "complete");
  if (type == "input_required" && bounds.answers_questions) return input_of(result, bounds);
  if (type != "complete") {
    return fail(
        ErrorCode::kTool, ErrorKind::kProtocol,
        "the tool asks for further input (\"" + mcp_shown(type, 40) + "\"), which this client does not give");
  }
  const JsonArray* content = json_at(result, "content").if_array();
  const Json& structured = json_at(result, "structuredContent");
  if (content == nullptr && structured.is_null())
    return fail(ErrorCode::kTool, ErrorKind::kProtocol, "the server's result has no \"content\"");
  ContentReader reader(bounds);
  for (const Json& item : content != nullptr ? *content : JsonArray{}) reader.add(item);
  const std::string text = structured.is_null() ? std::string() : to_json_text(structured);
  if (!text.empty() && (content == nullptr || content->empty())) reader.add_text(text);
  McpResult made = reader.finish();
  if (text.size() <= bounds.result_bytes) made.value = structured;
  made.is_error = json_bool(result, "isError");
  return made;
}

Result<McpResult> read_mcp_contents(const Json& result, const McpBounds& bounds) {
  const JsonArray* contents = json_at(result, "contents").if_array();
  if (contents == nullptr) {
    const auto other = read_mcp_result(result, bounds);
    if (!other) return fail(other.error());
    return fail(ErrorCode::kTool, ErrorKind::kProtocol,
                other->input ? "the server asks for further input before it gives the resource"
                             : "the server's answer has no \"contents\"");
  }
  JsonArray content;
  for (const Json& item : *contents) {
    const std::string type = json_string(item, "mimeType");
    const bool is_image = type.starts_with("image/") && json_at(item, "blob").is_string();
    content.push_back(is_image
                          ? JsonObject{{"type", "image"}, {"mimeType", type}, {"data", json_at(item, "blob")}}
                          : JsonObject{{"type", "resource"}, {"resource", item}});
  }
  return read_mcp_result(JsonObject{{"content", std::move(content)}}, bounds);
}

Result<std::vector<std::pair<Role, std::string>>> read_mcp_messages(const Json& result,
                                                                    const McpBounds& bounds) {
  const JsonArray* messages = json_at(result, "messages").if_array();
  if (messages == nullptr)
    return fail(ErrorCode::kTool, ErrorKind::kProtocol, "the server's prompt has no \"messages\"");
  std::vector<std::pair<Role, std::string>> all;
  for (const Json& message : *messages) {
    auto content = read_mcp_result(JsonObject{{"content", JsonArray{json_at(message, "content")}}}, bounds);
    if (!content) return fail(std::move(content.error()));
    const bool is_answer = json_string(message, "role") == "assistant";
    all.emplace_back(is_answer ? Role::kAssistant : Role::kUser, std::move(content->text));
  }
  return all;
}

McpResource read_mcp_resource(const Json& item, bool is_template, const McpBounds& bounds) {
  McpResource made;
  made.uri = json_string(item, is_template ? "uriTemplate" : "uri");
  if (made.uri.size() > std::min(kMaxUri, bounds.message_bytes)) made.uri.clear();
  made.name = short_text(item, "name");
  made.description = short_text(item, "description");
  made.is_template = is_template;
  return made;
}

McpPrompt read_mcp_prompt(const Json& item, const McpBounds& bounds) {
  McpPrompt made{json_string(item, "name"), short_text(item, "description"), {}};
  const JsonArray* arguments = json_at(item, "arguments").if_array();
  for (const Json& each : arguments != nullptr ? *arguments : JsonArray{}) {
    if (made.arguments.size() < bounds.tools)
      made.arguments.push_back(
          {short_text(each, "name"), short_text(each, "description"), json_bool(each, "required")});
  }
  return made;
}

}  // namespace praxis
