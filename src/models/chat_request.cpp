#include "models/chat_request.hpp"

#include <algorithm>

#include "models/answer.hpp"
#include "praxis/base/base64.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/json.hpp"

namespace praxis::chat {
namespace {

constexpr std::string_view kClosing = "]}";
constexpr std::size_t kMaxCallId = 40;

/// Separates the elements of a JSON array under construction, once.
void comma(std::string& out) {
  if (out.back() != '[' && out.back() != ',') out += ',';
}

void append_field(std::string& out, std::string_view name, std::string_view text) {
  out.append(",\"").append(name).append("\":");
  append_json_string(out, text);
}

std::string url_of(const MediaSource& source) {
  return source.url.empty() ? "data:" + source.mime + ";base64," + base64_encode(source.data) : source.url;
}

void append_text_part(std::string& out, std::string_view text) {
  comma(out);
  out += R"({"type":"text")";
  append_field(out, "text", text);
  out += '}';
}

void append_image(std::string& out, const ImagePart& image) {
  comma(out);
  out += R"({"type":"image_url","image_url":{"url":)";
  append_json_string(out, url_of(image.source));
  out += "}}";
}

void append_file(std::string& out, const FilePart& file) {
  if (file.source.data.empty()) return append_text_part(out, "File " + file.name + ": " + file.source.url);
  comma(out);
  out += R"({"type":"file","file":{"file_data":)";
  append_json_string(out, url_of(file.source));
  append_field(out, "filename", file.name.empty() ? "file" : file.name);
  out += "}}";
}

/// The text of a part that has one which every server reads; null otherwise.
const std::string* plain_text(const Part& part) {
  if (const auto* text = std::get_if<TextPart>(&part)) return &text->text;
  if (const auto* refusal = std::get_if<RefusalPart>(&part)) return &refusal->text;
  if (const auto* compaction = std::get_if<CompactionPart>(&part)) return &compaction->summary;
  return nullptr;
}

std::string joined_text(const Message& message) {
  std::string out;
  for (const Part& part : message.parts) {
    if (const std::string* text = plain_text(part)) out += *text;
  }
  return out;
}

void append_user(std::string& out, const Message& message) {
  out += R"({"role":"user")";
  const bool only_text =
      std::ranges::all_of(message.parts, [](const Part& part) { return plain_text(part) != nullptr; });
  if (only_text) {  // arrays confuse some models
    append_field(out, "content", joined_text(message));
  } else {
    out += R"(,"content":[)";
    for (const Part& part : message.parts) {
      if (const std::string* text = plain_text(part)) append_text_part(out, *text);
      if (const auto* image = std::get_if<ImagePart>(&part)) append_image(out, *image);
      if (const auto* file = std::get_if<FilePart>(&part)) append_file(out, *file);
    }
    out += ']';
  }
  out += '}';
}

void append_call(std::string& out, const ToolCallPart& call) {
  comma(out);
  out += R"({"id":)";
  append_json_string(out, wire_id(call.id));
  out += R"(,"type":"function","function":{"name":)";
  append_json_string(out, call.name);
  append_field(out, "arguments", arguments_or_empty(call.arguments));
  out += "}}";
}

void append_assistant(std::string& out, const Message& message) {
  const auto is_call = [](const Part& part) { return std::holds_alternative<ToolCallPart>(part); };
  const bool has_calls = std::ranges::any_of(message.parts, is_call);
  const std::string text = joined_text(message);
  out += R"({"role":"assistant")";
  if (has_calls && text.empty()) {
    out += R"(,"content":null)";
  } else {
    append_field(out, "content", text);
  }
  if (has_calls) {
    out += R"(,"tool_calls":[)";
    for (const Part& part : message.parts) {
      if (const auto* call = std::get_if<ToolCallPart>(&part)) append_call(out, *call);
    }
    out += ']';
  }
  out += '}';
}

void append_results(std::string& out, const Message& message) {
  bool images = false;
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr) continue;
    images |= !result->images.empty();
    comma(out);
    out += R"({"role":"tool")";
    append_field(out, "tool_call_id", wire_id(result->id));
    append_field(out, "content", result->text);
    out += '}';
  }
  if (!images) return;
  // Most servers take no images in a result: they follow, behind all results.
  out += R"(,{"role":"user","content":[)";
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr || result->images.empty()) continue;
    append_text_part(out, "Images in the result of " + result->name + " (" + wire_id(result->id) + "):");
    for (const ImagePart& image : result->images) append_image(out, image);
  }
  out += "]}";
}

void append_instructions(std::string& out, std::string_view text, const Dialect& dialect) {
  out += R"({"role":)";
  append_json_string(out, dialect.instruction_role);
  append_field(out, "content", text);
  out += '}';
}

bool opens_with_developer(const History& history) {
  return !history.empty() && history.messages().front()->role == Role::kDeveloper;
}

JsonArray tool_declarations(const std::vector<ToolDefinition>& tools) {
  JsonArray out;
  for (const ToolDefinition& tool : tools) {
    out.push_back(JsonObject{{"type", "function"}, {"function", to_json(tool)}});
  }
  return out;
}

Json tool_choice(const std::string& choice) {
  if (choice == "auto" || choice == "none" || choice == "required") return Json(choice);
  return JsonObject{{"type", "function"}, {"function", JsonObject{{"name", choice}}}};
}

}  // namespace

std::string wire_id(const CallId& id) {
  return id.value.size() <= kMaxCallId ? id.value : "call_" + digest_of(id.value).hex().substr(0, 32);
}

void append_message(std::string& out, const Message& message, const Dialect& dialect) {
  comma(out);
  switch (message.role) {
    case Role::kSystem:
    case Role::kDeveloper:
      return append_instructions(out, joined_text(message), dialect);
    case Role::kUser:
      return append_user(out, message);
    case Role::kAssistant:
      return append_assistant(out, message);
    case Role::kTool:
      return append_results(out, message);
  }
}

bool RequestWriter::continues(const ModelRequest& request) const {
  const std::vector<MessagePtr>& messages = request.history.messages();
  return body_ && request.stream == stream_ && request.tools == tools_ && request.options == options_ &&
         request.instructions == instructions_ && messages.size() >= messages_.size() &&
         std::equal(messages_.begin(), messages_.end(), messages.begin());
}

/// Everything that stands before the messages, up to their opening bracket.
std::string RequestWriter::settings(const ModelRequest& request) const {
  const ModelOptions& options = request.options;
  JsonObject fields{{"model", model_}};
  if (request.stream) {
    fields["stream"] = true;
    fields["stream_options"] = JsonObject{{"include_usage", true}};
  }
  if (options.temperature) fields["temperature"] = *options.temperature;
  if (options.max_output_tokens) fields[dialect_.max_tokens_field] = *options.max_output_tokens;
  if (!options.reasoning_effort.empty()) fields["reasoning_effort"] = options.reasoning_effort;
  if (request.tools && !request.tools->empty()) {
    fields["tools"] = tool_declarations(*request.tools);
    if (!options.tool_choice.empty()) fields["tool_choice"] = tool_choice(options.tool_choice);
  }
  if (const JsonObject* extra = options.extra.if_object()) {
    for (const auto& [name, value] : *extra) fields[name] = value;
  }
  fields.erase("messages");
  std::string out = to_json_text(fields);
  out.back() = ',';
  return out + R"("messages":[)";
}

void RequestWriter::start_over(const ModelRequest& request) {
  body_ = std::make_shared<Body>();
  body_->bytes = settings(request);
  instructions_ = request.instructions;
  tools_ = request.tools;
  options_ = request.options;
  stream_ = request.stream;
  messages_.clear();
  if (!instructions_.empty() && !opens_with_developer(request.history)) {
    append_instructions(body_->bytes, instructions_, dialect_);
  }
}

std::shared_ptr<const std::string> RequestWriter::write(const ModelRequest& request) {
  if (!continues(request)) {
    start_over(request);
  } else {
    if (body_->lent.load(std::memory_order_acquire)) {  // still being sent: leave those bytes alone
      auto copy = std::make_shared<Body>();
      copy->bytes = body_->bytes;
      body_ = std::move(copy);
    }
    body_->bytes.resize(body_->bytes.size() - kClosing.size());
  }
  std::string& bytes = body_->bytes;
  const std::vector<MessagePtr>& messages = request.history.messages();
  for (std::size_t i = messages_.size(); i < messages.size(); ++i) {
    append_message(bytes, *messages[i], dialect_);
    messages_.push_back(messages[i]);
  }
  bytes += kClosing;
  history_tokens_ = request.history.estimated_tokens();
  body_->lent.store(true, std::memory_order_relaxed);
  return {&bytes, [body = body_](const std::string*) { body->lent.store(false, std::memory_order_release); }};
}

bool RequestWriter::knows_call(std::string_view id) const {
  const auto is_it = [id](const Part& part) {
    const auto* call = std::get_if<ToolCallPart>(&part);
    return call != nullptr && call->id.value == id;
  };
  return std::ranges::any_of(messages_,
                             [&](const MessagePtr& m) { return std::ranges::any_of(m->parts, is_it); });
}

std::int64_t RequestWriter::estimated_input() const {
  return estimate_tokens(instructions_) + history_tokens_;
}

}  // namespace praxis::chat
