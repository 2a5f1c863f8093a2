#include "models/wire/ollama/request.hpp"

#include <algorithm>

#include "models/answer.hpp"
#include "models/request_layout.hpp"
#include "praxis/base/base64.hpp"

namespace praxis::wire::ollama {
namespace {

/// Adds a comma unless the JSON array is empty.
void comma(std::string& out) {
  if (out.back() != '[' && out.back() != ',') out += ',';
}

void open_message(std::string& out, std::string_view role, std::string_view text) {
  comma(out);
  out.append(R"({"role":")").append(role).append(R"(","content":)");
  append_json_string(out, text);
}

/// The text form of a part; the protocol carries images as bytes, and no files.
std::string words(const Part& part) {
  if (const auto* text = std::get_if<TextPart>(&part)) return text->text;
  if (const auto* refusal = std::get_if<RefusalPart>(&part)) return refusal->text;
  if (const auto* compaction = std::get_if<CompactionPart>(&part)) return compaction->summary;
  if (const auto* file = std::get_if<FilePart>(&part)) {
    return "[File " + file->name + (file->source.url.empty() ? "" : ": " + file->source.url) + ']';
  }
  const auto* image = std::get_if<ImagePart>(&part);
  return image != nullptr && !image->source.url.empty() ? "[Image: " + image->source.url + ']' : "";
}

std::string joined_words(const Message& message) {
  std::string out;
  for (const Part& part : message.parts) out += words(part);
  return out;
}

void append_images(std::string& out, const std::vector<const ImagePart*>& images) {
  if (images.empty()) return;
  out += R"(,"images":[)";
  for (const ImagePart* image : images) {
    comma(out);
    append_json_string(out, base64_encode(image->source.data));
  }
  out += ']';
}

void append_user(std::string& out, const Message& message) {
  open_message(out, "user", joined_words(message));
  std::vector<const ImagePart*> images;
  for (const Part& part : message.parts) {
    const auto* image = std::get_if<ImagePart>(&part);
    if (image != nullptr && !image->source.data.empty()) images.push_back(image);
  }
  append_images(out, images);
  out += '}';
}

/// The arguments if they are a JSON object, the only type that the server accepts; else `{}`.
std::string_view object_or_empty(std::string_view arguments) {
  const auto json = parse_json(arguments);
  return json && json->is_object() ? arguments : "{}";
}

void append_call(std::string& out, const ToolCallPart& call) {
  comma(out);
  out += R"({"type":"function","function":{"name":)";
  append_json_string(out, call.name);
  out.append(R"(,"arguments":)").append(object_or_empty(call.arguments)).append("}}");
}

/// The reasoning in `message` that the target model made; other models' reasoning is omitted.
std::string own_thoughts(const Message& message, const CodecTarget& target) {
  std::string out;
  for (const Part& part : message.parts) {
    const auto* thought = std::get_if<ReasoningPart>(&part);
    if (thought != nullptr && is_of(thought->vendor, target)) out += thought->text;
  }
  return out;
}

void append_assistant(std::string& out, const Message& message, const CodecTarget& target) {
  open_message(out, "assistant", joined_words(message));
  if (const std::string thoughts = own_thoughts(message, target); !thoughts.empty()) {
    out += R"(,"thinking":)";
    append_json_string(out, thoughts);
  }
  const auto is_call = [](const Part& part) { return std::holds_alternative<ToolCallPart>(part); };
  if (std::ranges::any_of(message.parts, is_call)) {
    out += R"(,"tool_calls":[)";
    for (const Part& part : message.parts) {
      if (const auto* call = std::get_if<ToolCallPart>(&part)) append_call(out, *call);
    }
    out += ']';
  }
  out += '}';
}

/// Results are matched by order and tool name. Images follow after all results, because few templates show
/// images of a result.
void append_results(std::string& out, const Message& message) {
  std::string captions;
  std::vector<const ImagePart*> images;
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr) continue;
    std::string text = result->text;
    for (const FilePart& file : result->files) text += words(file);
    for (const ImagePart& image : result->images) {
      text += words(image);
      if (!image.source.data.empty()) images.push_back(&image);
    }
    open_message(out, "tool", text);
    out += R"(,"tool_name":)";
    append_json_string(out, result->name);
    out += '}';
    if (!result->images.empty()) captions += (captions.empty() ? "" : ", ") + result->name;
  }
  if (images.empty()) return;
  open_message(out, "user", "Images in the results of: " + captions);
  append_images(out, images);
  out += '}';
}

JsonArray tool_declarations(const std::vector<ToolDefinition>& tools) {
  JsonArray out;
  for (const ToolDefinition& tool : tools) {
    out.push_back(JsonObject{{"type", "function"}, {"function", to_json(tool)}});
  }
  return out;
}

/// The protocol offers three levels, true and false.
Json think(const std::string& effort, const ModelFacts& facts) {
  static const std::map<std::string, std::string> usual{
      {"off", "false"}, {"minimal", "low"}, {"xhigh", "high"}, {"max", "high"}};
  std::string level = effort;
  if (const auto special = facts.reasoning_levels.find(effort); special != facts.reasoning_levels.end()) {
    level = special->second;
  } else if (const auto known = usual.find(effort); known != usual.end()) {
    level = known->second;
  }
  if (level.empty()) return nullptr;
  return level == "true" || level == "false" ? Json(level == "true") : Json(level);
}

JsonObject runner_options(const CodecTarget& target, const Dialect& dialect, const ModelOptions& options) {
  JsonObject out;
  const std::int64_t context = dialect.num_ctx.value_or(target.facts.context_window);
  if (context > 0) out["num_ctx"] = context;
  if (options.max_output_tokens) out["num_predict"] = *options.max_output_tokens;
  if (options.temperature && target.facts.temperature) out["temperature"] = *options.temperature;
  if (!options.stop.empty()) out["stop"] = JsonArray(options.stop.begin(), options.stop.end());
  return out;
}

/// Merges `extra` into the fields; its `options` are merged with ours.
void merge(JsonObject& fields, const JsonObject& extra) {
  for (const auto& [name, value] : extra) {
    JsonObject* ours = name == "options" && fields.contains(name) ? fields[name].if_object() : nullptr;
    if (ours == nullptr || !value.is_object()) {
      fields[name] = value;
      continue;
    }
    for (const auto& [option, setting] : value.get_object()) (*ours)[option] = setting;
  }
  fields.erase("messages");
}

}  // namespace

void append_message(std::string& out, const Message& message, const CodecTarget& target) {
  switch (message.role) {
    case Role::kSystem:
    case Role::kDeveloper:
      open_message(out, "system", joined_words(message));
      out += '}';
      return;
    case Role::kUser:
      return append_user(out, message);
    case Role::kAssistant:
      return append_assistant(out, message, target);
    case Role::kTool:
      return append_results(out, message);
  }
}

std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  const ModelOptions& options = request.options;
  JsonObject fields{{"model", target.model}, {"stream", request.stream}};
  if (JsonObject settings = runner_options(target, dialect, options); !settings.empty()) {
    fields["options"] = std::move(settings);
  }
  if (!options.reasoning_effort.empty()) {
    if (Json level = think(options.reasoning_effort, target.facts); !level.is_null()) fields["think"] = level;
  }
  if (!options.output_schema.is_null()) fields["format"] = options.output_schema;
  // The protocol cannot force a call. To forbid calls, the tools are not offered.
  if (request.tools && !request.tools->empty() && options.tool_choice != "none") {
    fields["tools"] = tool_declarations(*request.tools);
  }
  if (const JsonObject* extra = options.extra.if_object()) merge(fields, *extra);
  std::string out = open_list(std::move(fields), nullptr, "messages");
  if (!request.instructions.empty() && !opens_with_developer(request.history)) {
    open_message(out, "system", request.instructions);
    out += '}';
  }
  return out;
}

}  // namespace praxis::wire::ollama
