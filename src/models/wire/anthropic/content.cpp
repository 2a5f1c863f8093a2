#include "models/wire/anthropic/content.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "models/answer.hpp"
#include "praxis/base/base64.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::messages {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kUser = "user";
constexpr std::string_view kAssistant = "assistant";

void append_field(std::string& out, std::string_view name, std::string_view text) {
  out.append(",\"").append(name).append("\":");
  append_json_string(out, text);
}

/// Appends the members of a JSON object, each preceded by a comma.
void append_members(std::string& out, std::string_view object) {
  const std::size_t first = object.find('{') + 1;
  const std::string_view members = object.substr(first, object.rfind('}') - first);
  if (!is_blank(members)) out.append(",").append(members);
}

bool is_image(std::string_view mime) {
  constexpr std::array<std::string_view, 4> kKnown{"image/png", "image/jpeg", "image/gif", "image/webp"};
  return std::ranges::find(kKnown, mime) != kKnown.end();
}

void append_base64_source(std::string& out, const MediaSource& source) {
  out += R"("source":{"type":"base64")";
  append_field(out, "media_type", source.mime);
  append_field(out, "data", base64_encode(source.data));
  out += '}';
}

void append_url_source(std::string& out, const MediaSource& source) {
  out += R"("source":{"type":"url")";
  append_field(out, "url", source.url);
  out += '}';
}

void append_image(std::string& out, const ImagePart& image) {
  const MediaSource& source = image.source;
  if (source.url.empty() && !is_image(source.mime)) {
    return append_text_block(out, "[an image of type " + source.mime + ", which cannot be shown]");
  }
  out += R"({"type":"image",)";
  source.url.empty() ? append_base64_source(out, source) : append_url_source(out, source);
  out += '}';
}

/// The server fetches only PDF by URL; of inline files it reads PDF and text.
void append_file(std::string& out, const FilePart& file) {
  const MediaSource& source = file.source;
  const bool is_pdf = source.mime == "application/pdf";
  if (!is_pdf && !source.url.empty()) return append_text_block(out, "File " + file.name + ": " + source.url);
  if (!is_pdf && (is_blank(source.data) || !is_valid_utf8(source.data))) {
    return append_text_block(
        out, "[the file " + file.name + " of type " + source.mime + ", which cannot be read]");
  }
  out += R"({"type":"document",)";
  if (!source.url.empty()) {
    append_url_source(out, source);
  } else if (is_pdf) {
    append_base64_source(out, source);
  } else {
    out += R"("source":{"type":"text","media_type":"text/plain")";
    append_field(out, "data", source.data);
    out += '}';
  }
  if (!file.name.empty()) append_field(out, "title", file.name);
  out += '}';
}

/// The call's arguments as a JSON object; anything else is wrapped as text.
std::string input_object(const std::string& arguments) {
  const std::string_view text = arguments_or_empty(arguments);
  if (const auto json = parse_json(text); json && json->is_object()) return std::string(text);
  return to_json_text(JsonObject{{"arguments", text}});
}

/// Writes one message, block by block.
class MessageWriter {
 public:
  MessageWriter(std::string& out, RenderState& state, const CodecTarget& target, const Dialect& dialect)
      : out_(out), state_(state), target_(target), dialect_(dialect) {}

  void write_user(const Message& message) {
    for (const Part& part : message.parts) {
      if (const auto* result = std::get_if<ToolResultPart>(&part)) add_result(*result);
    }
    for (const Part& part : message.parts) {
      if (const auto* result = std::get_if<ToolResultPart>(&part); result && fails(*result))
        add_media(*result);
      if (const auto* text = std::get_if<TextPart>(&part)) add_text(kUser, text->text);
      if (const auto* compaction = std::get_if<CompactionPart>(&part)) add_text(kUser, compaction->summary);
      if (const auto* image = std::get_if<ImagePart>(&part)) append_image(begin(kUser), *image);
      if (const auto* file = std::get_if<FilePart>(&part)) append_file(begin(kUser), *file);
    }
    if (dialect_.cache_marks == CacheMarks::kNewest) mark_newest();
  }

  void write_assistant(const Message& message) {
    for (const Part& part : message.parts) {
      if (const auto* text = std::get_if<TextPart>(&part)) add_answer(*text);
      if (const auto* refusal = std::get_if<RefusalPart>(&part)) add_text(kAssistant, refusal->text);
      if (const auto* thought = std::get_if<ReasoningPart>(&part)) add_thought(*thought);
      if (const auto* call = std::get_if<ToolCallPart>(&part)) add_call(*call);
      if (const auto* compaction = std::get_if<CompactionPart>(&part)) add_compaction(*compaction);
      if (const auto* opaque = std::get_if<OpaquePart>(&part)) add_opaque(*opaque);
    }
  }

 private:
  static bool fails(const ToolResultPart& result) { return result.status == ToolStatus::kError; }

  /// The vendor state as a JSON object, if the target model made it.
  std::optional<Json> native(const VendorStatePtr& state) const {
    if (!is_of(state, target_)) return std::nullopt;
    auto json = parse_json(state->raw);
    return json && json->is_object() ? std::optional(*std::move(json)) : std::nullopt;
  }

  /// Adds a cache mark to the last block, which is written only if no further block follows.
  void mark_newest() {
    if (state_.open_role != kUser || !state_.end_if_last.empty()) return;
    out_.pop_back();
    state_.end_if_continued = "}";
    state_.end_if_last = R"(,"cache_control":{"type":"ephemeral"}})";
  }

  /// Starts a block of this role; `opens`: it may be the first message of a conversation.
  std::string& begin(std::string_view role, bool opens = false) {
    out_ += std::exchange(state_.end_if_continued, {});
    state_.end_if_last.clear();
    if (state_.open_role == role) {
      out_ += ',';
      return out_;
    }
    if (!state_.open_role.empty()) {
      out_ += "]},";
    } else if (role != kUser && !opens) {
      out_ += R"({"role":"user","content":[)";
      append_text_block(out_, "The conversation so far is left out.");
      out_ += "]},";
    }
    state_.open_role = role;
    out_.append(R"({"role":")").append(role).append(R"(","content":[)");
    return out_;
  }

  void add_text(std::string_view role, std::string_view text) {
    if (!is_blank(text)) append_text_block(begin(role), text);
  }

  /// The last block of a request must not end in white space. Trailing white space is held back until another
  /// block follows.
  void add_answer(const TextPart& part) {
    if (is_blank(part.text)) return;
    std::string& out = begin(kAssistant);
    const std::size_t end = part.text.find_last_not_of(kSpace) + 1;
    out += R"({"type":"text")";
    if (native(part.vendor)) append_members(out, part.vendor->raw);
    append_field(out, "text", std::string_view(part.text).substr(0, end));
    if (end == part.text.size()) {
      out += '}';
      return;
    }
    out.pop_back();
    std::string space;
    append_json_string(space, std::string_view(part.text).substr(end));
    state_.end_if_continued = space.substr(1) + '}';
    state_.end_if_last = "\"}";
  }

  /// Reasoning is sent back only to the model that made it, and only with its signature.
  void add_thought(const ReasoningPart& part) {
    const auto own = native(part.vendor);
    if (!own) return;
    if (!json_at(*own, "data").is_null()) {  // redacted reasoning
      begin(kAssistant) += part.vendor->raw;
    } else if (!json_text(*own, "signature").empty() || dialect_.empty_signatures) {
      std::string& out = begin(kAssistant);
      out += R"({"type":"thinking")";
      append_field(out, "thinking", part.text);
      append_members(out, part.vendor->raw);
      if (json_at(*own, "signature").is_null()) append_field(out, "signature", "");
      out += '}';
    }
  }

  void add_call(const ToolCallPart& call) {
    std::string& out = begin(kAssistant);
    out += R"({"type":"tool_use")";
    append_field(out, "id", wire_id(call.id));
    append_field(out, "name", call.name);
    out.append(",\"input\":").append(input_object(call.arguments));
    if (native(call.vendor)) append_members(out, call.vendor->raw);
    out += '}';
  }

  void add_compaction(const CompactionPart& part) {
    if (native(part.vendor)) {
      begin(kAssistant, true) += part.vendor->raw;
    } else {
      add_text(kAssistant, part.summary);
    }
  }

  void add_opaque(const OpaquePart& part) {
    if (native(part.vendor)) begin(kAssistant) += part.vendor->raw;
  }

  void add_result(const ToolResultPart& result) {
    std::string& out = begin(kUser);
    out += R"({"type":"tool_result")";
    append_field(out, "tool_use_id", wire_id(result.id));
    if (fails(result) || (result.images.empty() && result.files.empty())) {
      if (!is_blank(result.text)) append_field(out, "content", result.text);
    } else {
      out += R"(,"content":[)";
      if (!is_blank(result.text)) {
        append_text_block(out, result.text);
        out += ',';
      }
      for (const ImagePart& image : result.images) {
        append_image(out, image);
        out += ',';
      }
      for (const FilePart& file : result.files) {
        append_file(out, file);
        out += ',';
      }
      out.back() = ']';
    }
    if (fails(result)) out += R"(,"is_error":true)";
    out += '}';
  }

  /// An error result may contain only text. Its media follow after all results.
  void add_media(const ToolResultPart& result) {
    for (const ImagePart& image : result.images) append_image(begin(kUser), image);
    for (const FilePart& file : result.files) append_file(begin(kUser), file);
  }

  std::string& out_;
  RenderState& state_;
  const CodecTarget& target_;
  const Dialect& dialect_;
};

}  // namespace

void append_text_block(std::string& out, std::string_view text) {
  out += R"({"type":"text")";
  append_field(out, "text", text);
  out += '}';
}

bool is_blank(std::string_view text) { return text.find_first_not_of(kSpace) == text.npos; }

std::string wire_id(const CallId& id) {
  constexpr std::size_t kMaxCallId = 64;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const bool fits =
      !id.value.empty() && id.value.size() <= kMaxCallId && std::ranges::all_of(id.value, is_allowed);
  return fits ? id.value : "call_" + digest_of(id.value).hex().substr(0, 32);
}

void append_message(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                    const Dialect& dialect) {
  MessageWriter writer(out, state, target, dialect);
  switch (message.role) {
    case Role::kSystem:
    case Role::kDeveloper:
      return;
    case Role::kUser:
    case Role::kTool:
      return writer.write_user(message);
    case Role::kAssistant:
      return writer.write_assistant(message);
  }
}

void close_messages(std::string& out, const RenderState& state) {
  out += state.end_if_last;
  out += state.open_role.empty() ? "]" : "]}]";
}

}  // namespace praxis::wire::messages
