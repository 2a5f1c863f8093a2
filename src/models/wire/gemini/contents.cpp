// Writes the conversation of a Gemini request: alternating contents of user and model.
#include <utility>

#include "models/wire/gemini/request.hpp"
#include "models/wire/gemini/tools.hpp"
#include "praxis/base/base64.hpp"

namespace praxis::wire::gemini {
namespace {

// Values of `RenderState::open_role`. Tool results are user content, but in a content of their own.
constexpr std::string_view kUser = "user";
constexpr std::string_view kModel = "model";
constexpr std::string_view kResults = "results";

/// Inserted where the protocol requires a user turn and the conversation has none.
constexpr std::string_view kPlaceholder = R"({"role":"user","parts":[{"text":"Continue."}]})";

/// According to the documentation, this value replaces the signature of a call that another model made.
constexpr std::string_view kNoSignature = "skip_thought_signature_validator";

/// Writes the parts of one message.
class PartWriter {
 public:
  PartWriter(std::string& out, std::string_view role, const CodecTarget& target, const Dialect& dialect,
             RenderState& state)
      : out_(out), role_(role), target_(target), dialect_(dialect), state_(state) {}

  void operator()(const TextPart& part) { write_text(part.text, signature_of(part.vendor), false); }
  /// Reasoning is only useful to the model that made it, and only for its signature.
  void operator()(const ReasoningPart& part) {
    const std::string signature = signature_of(part.vendor);
    if (!signature.empty()) write_text(part.summary + part.text, signature, true);
  }
  void operator()(const ToolCallPart& part);
  void operator()(const ToolResultPart& part);
  void operator()(const ImagePart& part) { write_media(part.source, signature_of(part.vendor)); }
  void operator()(const FilePart& part) { write_media(part.source, signature_of(part.vendor)); }
  void operator()(const RefusalPart& part) { write_text(part.text, {}, false); }
  void operator()(const CompactionPart& part) { write_text(part.summary, {}, false); }
  void operator()(const OpaquePart& part) {
    if (!is_of(part.vendor, target_)) return;
    begin();
    out_ += part.vendor->raw;
  }

 private:
  void begin();
  void end(std::string_view signature);
  void write_text(std::string_view text, std::string_view signature, bool thought);
  void write_media(const MediaSource& source, std::string_view signature);
  Json own_state(const VendorStatePtr& state) const;
  std::string signature_of(const VendorStatePtr& state) const {
    return json_string(own_state(state), "thoughtSignature");
  }

  std::string& out_;
  const std::string_view role_;
  const CodecTarget& target_;
  const Dialect& dialect_;
  RenderState& state_;
  bool has_call_ = false;
};

/// Continues the open content or opens one; a conversation starts with a user turn.
void PartWriter::begin() {
  if (state_.open_role == role_) {
    out_ += ',';
    return;
  }
  if (!state_.open_role.empty()) {
    out_ += "]},";
  } else if (role_ != kUser) {
    out_.append(kPlaceholder).append(",");
  }
  out_.append(R"({"role":")").append(role_ == kModel ? kModel : kUser).append(R"(","parts":[)");
  state_.open_role = role_;
}

void PartWriter::end(std::string_view signature) {
  if (!signature.empty()) {
    out_ += R"(,"thoughtSignature":)";
    append_json_string(out_, signature);
  }
  out_ += '}';
}

/// The target model's own vendor state of a part; null if another model made it.
Json PartWriter::own_state(const VendorStatePtr& state) const {
  if (!is_of(state, target_)) return nullptr;
  return parse_json(state->raw).value_or(nullptr);
}

void PartWriter::write_text(std::string_view text, std::string_view signature, bool thought) {
  if (text.empty() && signature.empty()) return;
  begin();
  out_ += R"({"text":)";
  append_json_string(out_, text);
  if (thought) out_ += R"(,"thought":true)";
  end(signature);
}

void append_media(std::string& out, const MediaSource& source) {
  const bool is_inline = source.url.empty();
  out += is_inline ? R"("inlineData":{)" : R"("fileData":{)";
  if (!source.mime.empty()) {
    out += R"("mimeType":)";
    append_json_string(out, source.mime);
    out += ',';
  }
  out += is_inline ? R"("data":)" : R"("fileUri":)";
  append_json_string(out, is_inline ? base64_encode(source.data) : source.url);
  out += '}';
}

void PartWriter::write_media(const MediaSource& source, std::string_view signature) {
  begin();
  out_ += '{';
  append_media(out_, source);
  end(signature);
}

/// The arguments if they are a JSON object, the only type that the protocol accepts; else `{}`.
std::string_view object_or_empty(std::string_view arguments) {
  const auto json = parse_json(arguments);
  return json && json->is_object() ? arguments : "{}";
}

/// The first call of a step may need a signature; the others never do.
void PartWriter::operator()(const ToolCallPart& part) {
  const bool is_first = !std::exchange(has_call_, true);
  const Json own = own_state(part.vendor);
  std::string signature = json_string(own, "thoughtSignature");
  if (own.is_null() && is_first && dialect_.requires_signatures) signature = kNoSignature;
  begin();
  state_.call_names[part.id.value] = part.name;
  out_ += R"({"functionCall":{)";
  if (const std::string_view id = json_text(own, "id"); !id.empty()) {
    state_.wire_ids[part.id.value] = id;
    out_ += R"("id":)";
    append_json_string(out_, id);
    out_ += ',';
  }
  out_ += R"("name":)";
  append_json_string(out_, wire_name(part.name));
  out_.append(R"(,"args":)").append(object_or_empty(part.arguments)).append("}");
  end(signature);
}

/// Imported results may lack the name of their tool, which the protocol requires.
void PartWriter::operator()(const ToolResultPart& part) {
  const auto call = state_.call_names.find(part.id.value);
  begin();
  out_ += R"({"functionResponse":{)";
  if (const auto id = state_.wire_ids.find(part.id.value); id != state_.wire_ids.end()) {
    out_ += R"("id":)";
    append_json_string(out_, id->second);
    out_ += ',';
  }
  out_ += R"("name":)";
  append_json_string(out_, wire_name(call == state_.call_names.end() ? part.name : call->second));
  out_ += part.status == ToolStatus::kOk ? R"(,"response":{"output":)" : R"(,"response":{"error":)";
  append_json_string(out_, part.text);
  out_ += '}';
  if (dialect_.media_results && !(part.images.empty() && part.files.empty())) {
    std::string_view separator = R"(,"parts":[{)";
    const auto append = [&](const MediaSource& source) {
      out_ += std::exchange(separator, "},{");
      append_media(out_, source);
    };
    for (const ImagePart& image : part.images) append(image.source);
    for (const FilePart& file : part.files) append(file.source);
    out_ += "}]";
  }
  out_ += "}}";
}

/// If results can only hold text, their images and files follow after all results.
void write_media_of_results(const Message& message, PartWriter& user) {
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr || (result->images.empty() && result->files.empty())) continue;
    user(TextPart{"Images and files in the result of " + result->name + ":"});
    for (const ImagePart& image : result->images) user(image);
    for (const FilePart& file : result->files) user(file);
  }
}

std::string_view role_of(const Message& message) {
  if (message.role == Role::kAssistant) return kModel;
  return message.role == Role::kTool ? kResults : kUser;
}

}  // namespace

void append_message(std::string& out, const Message& message, const CodecTarget& target,
                    const Dialect& dialect, RenderState& state) {
  if (message.role == Role::kSystem || message.role == Role::kDeveloper) return;
  if (message.role == Role::kAssistant) {  // results follow their calls directly
    state.call_names.clear();
    state.wire_ids.clear();
  }
  PartWriter writer(out, role_of(message), target, dialect, state);
  for (const Part& part : message.parts) std::visit(writer, part);
  if (message.role == Role::kTool && !dialect.media_results) {
    PartWriter user(out, kUser, target, dialect, state);
    write_media_of_results(message, user);
  }
}

/// A conversation must not end with a model turn either.
void close_request(std::string& out, const RenderState& state) {
  if (state.open_role.empty()) {
    out += kPlaceholder;
  } else if (state.open_role == kModel) {
    out.append("]},").append(kPlaceholder);
  } else {
    out += "]}";
  }
  out += "]}";
}

}  // namespace praxis::wire::gemini
