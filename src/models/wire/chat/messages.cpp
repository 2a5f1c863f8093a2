#include "models/wire/chat/messages.hpp"

#include <algorithm>

#include "models/answer.hpp"
#include "models/wire/chat/calls.hpp"
#include "models/wire/chat/reasoning.hpp"
#include "praxis/base/base64.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

constexpr std::string_view kCacheMark = R"(,"cache_control":{"type":"ephemeral"})";
constexpr std::string_view kEndOfTextPart = "}]}";  // closes the part, the content and the message

/// Adds a comma unless the JSON array is empty.
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

/// A model known not to accept images gets a note instead: another model may have started the conversation.
void append_image(std::string& out, const ImagePart& image, const ModelFacts& facts) {
  if (facts.known && !facts.images) return append_text_part(out, "(An image that this model cannot see.)");
  comma(out);
  out += R"({"type":"image_url","image_url":{"url":)";
  append_json_string(out, url_of(image.source));
  out += "}}";
}

/// Only a model that accepts neither files nor images is certain to reject files; otherwise the server
/// decides.
void append_file(std::string& out, const FilePart& file, const ModelFacts& facts, const Dialect& dialect) {
  const std::string name = file.name.empty() ? "file" : file.name;
  if (facts.known && !facts.files && !facts.images) {
    return append_text_part(out, "(The file " + name + ", which this model cannot read.)");
  }
  if (dialect.document_url) {
    comma(out);
    out += R"({"type":"document_url")";
    append_field(out, "document_url", url_of(file.source));
    append_field(out, "document_name", name);
    out += '}';
    return;
  }
  if (file.source.data.empty()) return append_text_part(out, "File " + name + ": " + file.source.url);
  comma(out);
  out += R"({"type":"file","file":{"file_data":)";
  append_json_string(out, url_of(file.source));
  append_field(out, "filename", name);
  out += "}}";
}

/// The text of a part that every server can read as plain text; null for other parts.
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

/// Appends text as the content of a message, and ends the message. Uses a plain string, because lists confuse
/// some models, unless a cache mark may have to follow.
void append_content(std::string& out, std::string_view text, RenderState& state, const Dialect& dialect) {
  if (!dialect.cache_marks) {
    append_field(out, "content", text);
    out += '}';
    return;
  }
  out += R"(,"content":[{"type":"text")";
  append_field(out, "text", text);
  state.end_if_continued = kEndOfTextPart;
  state.end_if_last = std::string(kCacheMark) + std::string(kEndOfTextPart);
}

/// Ends a message that was left open for a cache mark it does not get.
void end_last(std::string& out, RenderState& state) {
  out += state.end_if_continued;
  state.end_if_continued.clear();
  state.end_if_last.clear();
}

void append_user(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                 const Dialect& dialect) {
  out += R"({"role":"user")";
  const bool only_text =
      std::ranges::all_of(message.parts, [](const Part& part) { return plain_text(part) != nullptr; });
  if (only_text) return append_content(out, joined_text(message), state, dialect);
  out += R"(,"content":[)";
  for (const Part& part : message.parts) {
    if (const std::string* text = plain_text(part)) append_text_part(out, *text);
    if (const auto* image = std::get_if<ImagePart>(&part)) append_image(out, *image, target.facts);
    if (const auto* file = std::get_if<FilePart>(&part)) append_file(out, *file, target.facts, dialect);
  }
  out += "]}";
}

/// Appends a call. Its id is sent unchanged to the server that issued it, and to others in a form that they
/// accept.
void append_call(std::string& out, const ToolCallPart& call, RenderState& state, const CodecTarget& target,
                 const Dialect& dialect) {
  const Json own = own_state(call.vendor, target);
  const bool own_id = json_text(own, kOwnId) == call.id.value;
  const std::string id = own_id ? call.id.value : wire_id(call.id.value, dialect.call_ids);
  state.wire_ids[call.id.value] = id;
  comma(out);
  out += R"({"id":)";
  append_json_string(out, id);
  out += R"(,"type":"function","function":{"name":)";
  append_json_string(out, call.name);
  append_field(out, "arguments", arguments_or_empty(call.arguments));
  out += '}';
  append_extra_content(out, own);
  out += '}';
}

void append_calls(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                  const Dialect& dialect) {
  state.wire_ids.clear();
  out += R"(,"tool_calls":[)";
  for (const Part& part : message.parts) {
    if (const auto* call = std::get_if<ToolCallPart>(&part)) append_call(out, *call, state, target, dialect);
  }
  out += ']';
}

/// The id under which the result's call was sent.
std::string call_id_of(const ToolResultPart& result, const RenderState& state) {
  const auto known = state.wire_ids.find(result.id.value);
  return known == state.wire_ids.end() ? result.id.value : known->second;
}

/// Appends text, thinking and opaque parts in order.
void append_content_list(std::string& out, const Message& message, const Echo& echo,
                         const CodecTarget& target) {
  out += R"(,"content":[)";
  for (const Part& part : message.parts) {
    if (const std::string* text = plain_text(part)) append_text_part(out, *text);
    const auto* thought = std::get_if<ReasoningPart>(&part);
    if (echo.thinking && thought != nullptr && !thought->text.empty() && is_of(thought->vendor, target)) {
      comma(out);
      out += R"({"type":"thinking","thinking":[)";
      append_text_part(out, thought->text);
      out += "]}";
    }
    const auto* opaque = std::get_if<OpaquePart>(&part);
    if (opaque != nullptr && opaque->kind != kAudio && is_of(opaque->vendor, target)) {
      comma(out);
      out += opaque->vendor->raw;
    }
  }
  out += ']';
}

void append_assistant(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                      const Dialect& dialect) {
  const auto is_call = [](const Part& part) { return std::holds_alternative<ToolCallPart>(part); };
  const bool has_calls = std::ranges::any_of(message.parts, is_call);
  const Echo echo = echo_of(message, has_calls, target, dialect);
  const std::string text = joined_text(message);
  out += R"({"role":"assistant")";
  if (echo.thinking || echo.opaque) {
    append_content_list(out, message, echo, target);
  } else if (has_calls && text.empty() && dialect.content_null) {
    out += R"(,"content":null)";
  } else {
    append_field(out, "content", text);
  }
  out += echo.fields;
  if (has_calls) append_calls(out, message, state, target, dialect);
  out += '}';
}

void append_result(std::string& out, const ToolResultPart& result, RenderState& state,
                   const Dialect& dialect) {
  end_last(out, state);
  comma(out);
  out += R"({"role":"tool")";
  append_field(out, "tool_call_id", call_id_of(result, state));
  if (dialect.result_names) append_field(out, "name", result.name);
  append_content(out, result.text, state, dialect);
}

/// Adds the assistant message that some servers require between tool results and the next user message.
void append_assistant_after_tool(std::string& out) {
  comma(out);
  out += R"({"role":"assistant","content":"Done."})";
}

void append_results(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                    const Dialect& dialect) {
  const auto has_media = [](const ToolResultPart& result) {
    return !result.images.empty() || !result.files.empty();
  };
  bool media = false;
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr) continue;
    media |= has_media(*result);
    append_result(out, *result, state, dialect);
  }
  if (!media) {
    state.open_role = "tool";
    return;
  }
  // Most servers accept only text in a result, so images and files follow after all results.
  end_last(out, state);
  if (dialect.assistant_after_tool) append_assistant_after_tool(out);
  out += R"(,{"role":"user","content":[)";
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr || !has_media(*result)) continue;
    append_text_part(out, "From the result of " + result->name + " (" + call_id_of(*result, state) + "):");
    for (const ImagePart& image : result->images) append_image(out, image, target.facts);
    for (const FilePart& file : result->files) append_file(out, file, target.facts, dialect);
  }
  out += "]}";
}

void append_system(std::string& out, std::string_view text, const Dialect& dialect) {
  out += R"({"role":)";
  append_json_string(out, dialect.instruction_role);
  append_field(out, "content", text);
  out += '}';
}

}  // namespace

void append_instructions(std::string& out, std::string_view text, const Dialect& dialect) {
  if (!dialect.cache_marks) return append_system(out, text, dialect);
  RenderState state;
  out += R"({"role":)";
  append_json_string(out, dialect.instruction_role);
  append_content(out, text, state, dialect);
  out += state.end_if_last;
}

void append_message(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                    const Dialect& dialect) {
  end_last(out, state);
  const bool after_tool = state.open_role == "tool";
  state.open_role.clear();
  comma(out);
  switch (message.role) {
    case Role::kSystem:
    case Role::kDeveloper:
      return append_system(out, joined_text(message), dialect);
    case Role::kUser:
      if (after_tool && dialect.assistant_after_tool) {
        append_assistant_after_tool(out);
        comma(out);
      }
      return append_user(out, message, state, target, dialect);
    case Role::kAssistant:
      return append_assistant(out, message, state, target, dialect);
    case Role::kTool:
      return append_results(out, message, state, target, dialect);
  }
}

void close_messages(std::string& out, const RenderState& state) {
  out.append(state.end_if_last).append("]}");
}

}  // namespace praxis::wire::chat
