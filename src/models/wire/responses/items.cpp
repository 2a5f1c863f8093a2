#include "models/wire/responses/items.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "models/answer.hpp"
#include "praxis/base/base64.hpp"
#include "praxis/base/digest.hpp"

namespace praxis::wire::responses {
namespace {

constexpr std::size_t kMaxCallId = 64;

/// An item of an assistant turn, before the items after it are known.
struct Draft {
  enum class Kind : std::uint8_t { kItem, kMessage, kCall, kReasoning };
  Kind kind = Kind::kItem;
  JsonObject item = {};
  bool sent = true;
  /// Only for reasoning: the id of the item that must follow; null: that item never arrived; unset: any item
  /// may follow.
  std::optional<Json> next = {};
};

/// The vendor state as JSON; null if it is not the target's own.
Json own_state(const VendorStatePtr& state, const CodecTarget& target) {
  return is_of(state, target) ? parse_json(state->raw).value_or(nullptr) : Json();
}

JsonObject object_at(const Json& json, std::string_view key) {
  const JsonObject* object = json_at(json, key).if_object();
  return object == nullptr ? JsonObject{} : *object;
}

std::string_view id_of(const JsonObject& item) {
  const Json* id = item.if_contains("id");
  const auto* text = id == nullptr ? nullptr : id->if_string();
  return text == nullptr ? std::string_view{} : std::string_view(*text);
}

void append_item(std::string& out, const Json& item) {
  if (out.back() != '[') out += ',';
  append_json(out, item);
}

JsonObject input_text(std::string_view text) { return {{"type", "input_text"}, {"text", text}}; }

std::string url_of(const MediaSource& source) {
  return source.url.empty() ? "data:" + source.mime + ";base64," + base64_encode(source.data) : source.url;
}

JsonObject input_image(const ImagePart& image) {
  return {{"type", "input_image"}, {"detail", "auto"}, {"image_url", url_of(image.source)}};
}

JsonObject input_file(const FilePart& file) {
  if (file.source.data.empty()) return {{"type", "input_file"}, {"file_url", file.source.url}};
  return {{"type", "input_file"},
          {"filename", file.name.empty() ? "file" : file.name},
          {"file_data", url_of(file.source)}};
}

void append_words(std::string& out, const Message& message, std::string_view role) {
  JsonArray content;
  for (const Part& part : message.parts) {
    if (const auto* text = std::get_if<TextPart>(&part)) content.push_back(input_text(text->text));
    if (const auto* refusal = std::get_if<RefusalPart>(&part)) content.push_back(input_text(refusal->text));
    if (const auto* summary = std::get_if<CompactionPart>(&part))
      content.push_back(input_text(summary->summary));
    if (const auto* image = std::get_if<ImagePart>(&part)) content.push_back(input_image(*image));
    if (const auto* file = std::get_if<FilePart>(&part)) content.push_back(input_file(*file));
  }
  if (!content.empty()) append_item(out, JsonObject{{"role", role}, {"content", std::move(content)}});
}

JsonArray media_of(const ToolResultPart& result) {
  JsonArray out;
  for (const ImagePart& image : result.images) out.push_back(input_image(image));
  for (const FilePart& file : result.files) out.push_back(input_file(file));
  return out;
}

void append_results(std::string& out, const Message& message, const Dialect& dialect) {
  JsonArray behind;  // media that a result cannot hold
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr) continue;
    const std::string id = wire_id(result->id);
    JsonArray media = media_of(*result);
    Json output(result->text);
    if (!media.empty() && dialect.media_in_results) {
      if (!result->text.empty()) media.insert(media.begin(), input_text(result->text));
      output = std::move(media);
    } else if (!media.empty()) {
      behind.push_back(input_text("In the result of " + result->name + " (" + id + "):"));
      for (Json& one : media) behind.push_back(std::move(one));
    }
    append_item(out, JsonObject{{"type", "function_call_output"}, {"call_id", id}, {"output", output}});
  }
  if (!behind.empty()) append_item(out, JsonObject{{"role", "user"}, {"content", std::move(behind)}});
}

/// Converts the parts of an assistant message to items.
class Drafts {
 public:
  Drafts(const CodecTarget& target, const Dialect& dialect) : target_(target), dialect_(dialect) {}

  void operator()(const TextPart& part) {
    const Json state = own_state(part.vendor, target_);
    JsonObject content{{"type", "output_text"}, {"text", part.text}};
    if (const Json& annotations = json_at(json_at(state, "part"), "annotations"); annotations.is_array()) {
      content["annotations"] = annotations;
    }
    say(object_at(state, "item"), std::move(content));
  }
  void operator()(const RefusalPart& part) {
    say(object_at(own_state(part.vendor, target_), "item"), {{"type", "refusal"}, {"refusal", part.text}});
  }
  void operator()(const ReasoningPart& part) {
    const Json state = own_state(part.vendor, target_);
    Draft draft{.kind = Draft::Kind::kReasoning, .item = object_at(state, "item")};
    const bool encrypted = !json_text(json_at(state, "item"), "encrypted_content").empty();
    draft.sent = encrypted || (dialect_.plain_reasoning && !draft.item.empty());
    if (const JsonObject* fields = state.if_object()) {
      if (const Json* next = fields->if_contains("next")) draft.next = *next;
    }
    drafts_.push_back(std::move(draft));
  }
  void operator()(const ToolCallPart& part) {
    JsonObject item = object_at(own_state(part.vendor, target_), "item");
    item["type"] = "function_call";
    item["call_id"] = wire_id(part.id);
    item["name"] = part.name;
    item["arguments"] = arguments_or_empty(part.arguments);
    drafts_.push_back({.kind = Draft::Kind::kCall, .item = std::move(item)});
  }
  void operator()(const CompactionPart& part) {
    if (Json state = own_state(part.vendor, target_); state.is_object()) {
      drafts_.clear();
      starts_over_ = true;
      drafts_.push_back({.item = std::move(state.get_object())});
    } else if (!part.summary.empty()) {
      say({}, {{"type", "output_text"}, {"text", part.summary}});
    }
  }
  void operator()(const OpaquePart& part) {
    if (Json state = own_state(part.vendor, target_); state.is_object()) {
      drafts_.push_back({.item = std::move(state.get_object())});
    }
  }
  void operator()(const auto&) {}  // media and results do not occur in an assistant message

  /// Whether the items contain the model's own compaction.
  bool starts_over() const { return starts_over_; }

  void append_to(std::string& out) {
    settle_reasoning();
    bool bare = !dialect_.item_ids;
    for (Draft& draft : drafts_) {
      if (draft.kind == Draft::Kind::kReasoning) bare = !draft.sent || !dialect_.item_ids;
      if (!draft.sent) continue;
      if (bare && (draft.kind == Draft::Kind::kMessage || draft.kind == Draft::Kind::kCall)) {
        draft.item.erase("id");
      }
      if (draft.kind == Draft::Kind::kMessage && draft.item.contains("id"))
        draft.item["status"] = "completed";
      append_item(out, draft.item);
    }
  }

 private:
  /// Adds content to an assistant message: to the previous one if both have the same id.
  void say(JsonObject head, JsonObject content) {
    if (drafts_.empty() || drafts_.back().kind != Draft::Kind::kMessage ||
        id_of(drafts_.back().item) != id_of(head)) {
      head["type"] = "message";
      head["role"] = "assistant";
      head["content"] = JsonArray{};
      drafts_.push_back({.kind = Draft::Kind::kMessage, .item = std::move(head)});
    }
    drafts_.back().item["content"].get_array().push_back(std::move(content));
  }

  /// Runs backwards, because the item after a reasoning item may be a reasoning item that is not sent back
  /// either.
  void settle_reasoning() {
    std::string_view following;
    for (auto draft = drafts_.rbegin(); draft != drafts_.rend(); ++draft) {
      if (draft->next && (!draft->next->is_string() || draft->next->get_string() != following))
        draft->sent = false;
      if (draft->sent) following = id_of(draft->item);
    }
  }

  const CodecTarget& target_;
  const Dialect& dialect_;
  std::vector<Draft> drafts_;
  bool starts_over_ = false;
};

void append_turn(std::string& out, const Message& message, const CodecTarget& target, const Dialect& dialect,
                 std::size_t first_item) {
  Drafts drafts(target, dialect);
  for (const Part& part : message.parts) std::visit(drafts, part);
  if (drafts.starts_over()) out.resize(first_item);
  drafts.append_to(out);
}

}  // namespace

std::string wire_id(const CallId& id) {
  const bool usable = id.value.size() <= kMaxCallId &&
                      std::ranges::all_of(id.value, [](char c) { return c > ' ' && c <= '~'; });
  return usable ? id.value : "call_" + digest_of(id.value).hex().substr(0, 32);
}

void append_message(std::string& out, const Message& message, const CodecTarget& target,
                    const Dialect& dialect, RenderState& state) {
  if (state.first_item == 0) state.first_item = out.size();
  switch (message.role) {
    case Role::kSystem:
      return append_words(out, message, "system");
    case Role::kDeveloper:
      return append_words(out, message, dialect.developer_role ? "developer" : "system");
    case Role::kUser:
      return append_words(out, message, "user");
    case Role::kAssistant:
      return append_turn(out, message, target, dialect, state.first_item);
    case Role::kTool:
      return append_results(out, message, dialect);
  }
}

}  // namespace praxis::wire::responses
