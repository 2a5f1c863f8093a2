#include "wire/request_reader.hpp"

#include <algorithm>
#include <set>

#include "praxis/base/base64.hpp"

namespace praxis::wire {
namespace {

MediaSource source_of(std::string_view url) {
  constexpr std::string_view kData = "data:", kBase64 = ";base64,";
  const std::size_t comma = url.find(kBase64);
  if (!url.starts_with(kData) || comma == std::string_view::npos) return {{}, {}, std::string(url)};
  const auto bytes = base64_decode(standard_base64(url.substr(comma + kBase64.size())));
  if (!bytes) return {{}, {}, std::string(url)};
  return {std::string(url.substr(kData.size(), comma - kData.size())), *bytes, {}};
}

std::string data_url(std::string_view mime, std::string_view base64) {
  return "data:" + std::string(mime) + ";base64," + std::string(base64);
}

bool same_role(const std::vector<Message>& messages, Role role) {
  return !messages.empty() && messages.back().role == role;
}

}  // namespace

void RequestReader::add(Role role, std::vector<Part> parts) {
  if (parts.empty()) return;
  Message message;
  message.role = role;
  message.parts = std::move(parts);
  out_.messages.push_back(std::move(message));
}

void RequestReader::add_answer(const Json& answer) {
  const std::string body = to_json_text(answer);
  AnswerParser parser(*endpoint_.codec,
                      {.call_prefix = std::string(kInventedCall) + std::to_string(++turns_) + '-'});
  parser.head({200, {}});
  parser.feed(body);
  auto response = parser.finish({});
  std::vector<Part> parts = response ? std::move(response->parts) : parser.so_far().parts;
  if (!response) unread("an assistant turn: " + response.error().message);
  for (const Part& part : parts) {
    if (const auto* call = std::get_if<ToolCallPart>(&part)) open_.push_back({call->id.value, call->name});
  }
  add(Role::kAssistant, std::move(parts));
}

void RequestReader::add_result(std::string_view call_id, std::string_view name, std::string text,
                               bool is_error, std::vector<Part> media) {
  auto call = std::ranges::find(open_, call_id, &OpenCall::id);
  if (call == open_.end()) call = std::ranges::find(open_, name, &OpenCall::name);
  if (call == open_.end() && name.empty()) call = open_.begin();
  ToolResultPart result;
  result.id = CallId(std::string(call_id));
  result.name = name;
  if (call != open_.end()) {
    result.id = CallId(call->id);
    result.name = call->name;
    open_.erase(call);
  }
  result.status = is_error ? ToolStatus::kError : ToolStatus::kOk;
  result.text = std::move(text);
  for (Part& part : media) {
    if (auto* picture = std::get_if<ImagePart>(&part)) result.images.push_back(std::move(*picture));
    if (auto* document = std::get_if<FilePart>(&part)) result.files.push_back(std::move(*document));
  }
  if (!same_role(out_.messages, Role::kTool)) {
    add(Role::kTool, {std::move(result)});
  } else {
    out_.messages.back().parts.emplace_back(std::move(result));
  }
}

void RequestReader::add_tool(std::string_view name, std::string_view description, const Json& parameters) {
  ToolDefinition tool;
  tool.name = name;
  tool.description = description;
  tool.parameters = parameters.is_object() ? parameters : Json(JsonObject{{"type", "object"}});
  out_.tools.push_back(std::move(tool));
}

Part RequestReader::image(std::string_view url) const { return ImagePart{source_of(url), nullptr}; }
Part RequestReader::image(std::string_view mime, std::string_view base64) const {
  return image(data_url(mime, base64));
}
Part RequestReader::file(std::string_view url, std::string name) const {
  return FilePart{source_of(url), std::move(name), nullptr};
}
Part RequestReader::file(std::string_view mime, std::string_view base64, std::string name) const {
  return file(data_url(mime, base64), std::move(name));
}

const Json& either(const Json& json, std::string_view key, std::string_view other) {
  const Json& first = json_at(json, key);
  return first.is_null() ? json_at(json, other) : first;
}

std::string text_of(const Json& content) {
  if (const auto* text = content.if_string()) return std::string(*text);
  std::string out;
  if (const JsonArray* parts = content.if_array()) {
    for (const Json& part : *parts) out += part.is_string() ? text_of(part) : json_string(part, "text");
  }
  return out;
}

const Json& unwrapped_result(const Json& response) {
  static const std::set<std::string_view> kWrappers{"output", "result", "error", "content", "return_value"};
  const JsonObject* members = response.if_object();
  const bool is_wrapper =
      members != nullptr && members->size() == 1 && kWrappers.contains(members->begin()->key());
  return is_wrapper ? members->begin()->value() : response;
}

std::string standard_base64(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c == '-' ? '+' : c == '_' ? '/' : c;
  return out;
}

std::string result_text(const Json& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  return to_json_text(value);
}

}  // namespace praxis::wire
