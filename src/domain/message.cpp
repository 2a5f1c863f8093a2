#include "praxis/domain/message.hpp"

#include <array>
#include <utility>

#include "base/variant_impl.hpp"
#include "domain/json_forms.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {

template class Variant<AnyPart>;
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 5> kRoleNames{{{Role::kSystem, "system"},
                                                                       {Role::kDeveloper, "developer"},
                                                                       {Role::kUser, "user"},
                                                                       {Role::kAssistant, "assistant"},
                                                                       {Role::kTool, "tool"}}};

void put_vendor(JsonFields& out, const VendorStatePtr& vendor) {
  if (!vendor) return;
  out.object("vendor", [&](JsonFields& state) {
    state.text("vendor", vendor->vendor);
    state.text("model", vendor->model);
    state.text("raw", vendor->raw);
  });
}

/// Drops a value that is not a JSON object: it would break the request that it is put into.
VendorStatePtr get_vendor(const Json& json) {
  const Json& vendor = json_at(json, "vendor");
  const auto raw = parse_json(json_text(vendor, "raw"));
  if (!raw || !raw->is_object()) return nullptr;
  return std::make_shared<const VendorState>(
      VendorState{json_string(vendor, "vendor"), json_string(vendor, "model"), json_string(vendor, "raw")});
}

void put_source(JsonFields& out, const MediaSource& source) {
  out.text_if_any("mime", source.mime);
  if (source.url.empty()) {
    out.text("data", base64_encode(source.data));
  } else {
    out.text("url", source.url);
  }
}

Result<MediaSource> get_source(const Json& json, std::string_view type) {
  MediaSource source{json_string(json, "mime"), {}, json_string(json, "url")};
  const Json& data = json_at(json, "data");
  if (data.is_string() == !source.url.empty()) {
    return fail(ErrorCode::kInput, std::string(type) + " part: needs exactly one of \"data\" and \"url\"");
  }
  if (data.is_string()) {
    auto bytes = base64_decode(data.get_string());
    if (!bytes) return fail(ErrorCode::kInput, std::string(type) + " part: \"data\" is not base64");
    source.data = *std::move(bytes);
  }
  return source;
}

void put_citations(JsonFields& out, const std::vector<Citation>& citations) {
  if (citations.empty()) return;
  out.objects("citations", citations.size(), [&](std::size_t i, JsonFields& entry) {
    entry.text_if_any("url", citations[i].url);
    entry.text_if_any("title", citations[i].title);
    entry.text_if_any("quote", citations[i].quote);
  });
}

std::vector<Citation> get_citations(const Json& json) {
  std::vector<Citation> citations;
  if (const JsonArray* list = json_at(json, "citations").if_array()) {
    for (const Json& entry : *list) {
      citations.push_back(
          {json_string(entry, "url"), json_string(entry, "title"), json_string(entry, "quote")});
    }
  }
  return citations;
}

struct PartWriter {
  JsonFields& out;

  void operator()(const TextPart& part) const {
    out.text("type", "text");
    out.text("text", part.text);
    put_citations(out, part.citations);
    put_vendor(out, part.vendor);
  }
  void operator()(const ReasoningPart& part) const {
    out.text("type", "reasoning");
    out.text("text", part.text);
    out.text_if_any("summary", part.summary);
    put_vendor(out, part.vendor);
  }
  void operator()(const ToolCallPart& part) const {
    out.text("type", "tool_call");
    out.text("id", part.id.str());
    out.text("name", part.name);
    out.text("arguments", part.arguments);
    if (!part.valid) out.flag("valid", false);
    put_vendor(out, part.vendor);
  }
  void operator()(const ToolResultPart& part) const {
    out.text("type", "tool_result");
    out.text("id", part.id.str());
    out.text("name", part.name);
    out.text("status", part.status == ToolStatus::kOk ? "ok" : "error");
    put_content(part);
  }
  void operator()(const ImagePart& part) const {
    out.text("type", "image");
    put_source(out, part.source);
    put_vendor(out, part.vendor);
  }
  void operator()(const FilePart& part) const {
    out.text("type", "file");
    out.text_if_any("name", part.name);
    put_source(out, part.source);
    put_vendor(out, part.vendor);
  }
  void operator()(const RefusalPart& part) const {
    out.text("type", "refusal");
    out.text("text", part.text);
    put_vendor(out, part.vendor);
  }
  void operator()(const CompactionPart& part) const {
    out.text("type", "compaction");
    out.text("summary", part.summary);
    put_vendor(out, part.vendor);
  }
  void operator()(const OpaquePart& part) const {
    out.text("type", "opaque");
    out.text_if_any("kind", part.kind);
    put_vendor(out, part.vendor);
  }

  void put_content(const ToolResultPart& part) const {
    out.text("text", part.text);
    put_media("images", part.images);
    put_media("files", part.files);
  }

  template <class Media>
  void put_media(std::string_view key, const std::vector<Media>& media) const {
    if (media.empty()) return;
    out.objects(key, media.size(), [&](std::size_t i, JsonFields& one) { PartWriter{one}(media[i]); });
  }
};

}  // namespace

Result<ToolResultPart> tool_result_from_json(const Json& json) {
  ToolResultPart part{CallId{json_string(json, "id")}, json_string(json, "name"),
                      json_string(json, "status", "ok") == "error" ? ToolStatus::kError : ToolStatus::kOk,
                      json_string(json, "text")};
  if (const Json& images = json_at(json, "images"); images.is_array()) {
    for (const Json& image : images.get_array()) {
      auto source = get_source(image, "image");
      if (!source) return fail(source.error());
      part.images.push_back({*std::move(source), get_vendor(image)});
    }
  }
  if (const Json& files = json_at(json, "files"); files.is_array()) {
    for (const Json& file : files.get_array()) {
      auto source = get_source(file, "file");
      if (!source) return fail(source.error());
      part.files.push_back({*std::move(source), json_string(file, "name"), get_vendor(file)});
    }
  }
  return part;
}

std::string_view to_string(Role role) {
  for (const auto& [value, name] : kRoleNames) {
    if (value == role) return name;
  }
  std::unreachable();
}

std::optional<Role> role_from(std::string_view name) {
  for (const auto& [value, known] : kRoleNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string Message::text() const {
  std::string all;
  for (const Part& part : parts) {
    if (const auto* text_part = std::get_if<TextPart>(&part)) all += text_part->text;
  }
  return all;
}

Message text_message(Role role, std::string text) {
  Message message;
  message.role = role;
  message.parts.push_back(TextPart{std::move(text), nullptr});
  return message;
}

void write(JsonFields& out, const Part& part) { std::visit(PartWriter{out}, part); }

void write_result(JsonFields& out, const ToolResultPart& part) {
  if (part.status == ToolStatus::kError) out.text("status", "error");
  PartWriter{out}.put_content(part);
}

void write(JsonFields& out, const Message& message) {
  out.text_if_any("id", message.id.str());
  out.text("role", to_string(message.role));
  if (message.created.value != 0) out.number("created_at", message.created.value);
  out.objects("content", message.parts.size(),
              [&](std::size_t i, JsonFields& part) { write(part, message.parts[i]); });
  if (!message.metadata.is_null()) out.value("metadata", message.metadata);
}

Json to_json(const Part& part) {
  return object_of([&](JsonFields& out) { write(out, part); });
}

Json to_json(const Message& message) {
  return object_of([&](JsonFields& out) { write(out, message); });
}

Result<Part> part_from_json(const Json& json) {
  const std::string type = json_string(json, "type");
  if (type == "text") {
    return TextPart{json_string(json, "text"), get_vendor(json), get_citations(json)};
  }
  if (type == "reasoning") {
    return ReasoningPart{json_string(json, "text"), json_string(json, "summary"), get_vendor(json)};
  }
  if (type == "tool_call") {
    return ToolCallPart{CallId{json_string(json, "id")}, json_string(json, "name"),
                        json_string(json, "arguments"), json_bool(json, "valid", true), get_vendor(json)};
  }
  if (type == "tool_result") return tool_result_from_json(json);
  if (type == "image" || type == "file") {
    auto source = get_source(json, type);
    if (!source) return fail(source.error());
    if (type == "image") return ImagePart{*std::move(source), get_vendor(json)};
    return FilePart{*std::move(source), json_string(json, "name"), get_vendor(json)};
  }
  if (type == "refusal") return RefusalPart{json_string(json, "text"), get_vendor(json)};
  if (type == "compaction") return CompactionPart{json_string(json, "summary"), get_vendor(json)};
  if (type == "opaque") return OpaquePart{json_string(json, "kind"), get_vendor(json)};
  return fail(ErrorCode::kInput, "message part: unknown type \"" + type + "\"");
}

Result<Message> message_from_json(const Json& json) {
  Message message;
  message.id = MessageId{json_string(json, "id")};
  const auto role = role_from(json_string(json, "role"));
  if (!role) return fail(ErrorCode::kInput, "message: unknown role \"" + json_string(json, "role") + "\"");
  message.role = *role;
  message.created = {json_int(json, "created_at")};
  message.metadata = json_at(json, "metadata");
  const Json& content = json_at(json, "content");
  if (content.is_string()) {
    message.parts.push_back(TextPart{std::string(content.get_string()), nullptr});
    return message;
  }
  if (!content.is_array())
    return fail(ErrorCode::kInput, "message: \"content\" must be text or an array of parts");
  for (const Json& item : content.get_array()) {
    auto part = part_from_json(item);
    if (!part) return fail(part.error());
    message.parts.push_back(*std::move(part));
  }
  return message;
}

Json to_json(const Conversation& conversation) {
  JsonArray messages;
  for (const Message& message : conversation.messages) messages.push_back(to_json(message));
  JsonObject out{{"id", conversation.id}, {"messages", std::move(messages)}};
  if (!conversation.metadata.is_null()) out["metadata"] = conversation.metadata;
  return out;
}

Result<Conversation> conversation_from_json(const Json& json) {
  const Json& messages = json_at(json, "messages");
  if (!messages.is_array()) return fail(ErrorCode::kInput, "conversation: \"messages\" must be an array");
  Conversation conversation{json_string(json, "id"), {}, json_at(json, "metadata")};
  for (const Json& item : messages.get_array()) {
    auto message = message_from_json(item);
    if (!message) return fail(message.error());
    conversation.messages.push_back(*std::move(message));
  }
  return conversation;
}

RoleView role_view(Role role, RoleVocabulary vocabulary) {
  const bool four = vocabulary == RoleVocabulary::kFourRoles;
  switch (role) {
    case Role::kSystem:
      return four ? RoleView{"system", false, false} : RoleView{"developer", false, true};
    case Role::kDeveloper:
      return four ? RoleView{"system", false, true} : RoleView{"developer", false, false};
    case Role::kUser:
      return {"user", false, false};
    case Role::kAssistant:
      return {"assistant", false, false};
    case Role::kTool:
      return four ? RoleView{"tool", true, false} : RoleView{"user", true, false};
  }
  std::unreachable();
}

std::optional<Role> role_from_view(const RoleView& view, RoleVocabulary vocabulary) {
  for (const auto& [role, name] : kRoleNames) {
    const RoleView candidate = role_view(role, vocabulary);
    if (candidate.role == view.role && candidate.carries_tool_results == view.carries_tool_results &&
        candidate.is_instruction_alias == view.is_instruction_alias) {
      return role;
    }
  }
  return std::nullopt;
}

}  // namespace praxis
