#include "models/wire/responses/output.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace praxis::wire::responses {
namespace {

constexpr std::string_view kMessage = "message";
constexpr std::string_view kReasoning = "reasoning";
constexpr std::string_view kCall = "function_call";
constexpr std::string_view kCompaction = "compaction";

constexpr std::int64_t kMaxIndex = 1'000'000;  // larger values are not valid indexes

bool is_opaque(std::string_view type) {
  return type != kMessage && type != kReasoning && type != kCall && type != kCompaction;
}

/// The fields of `native` except empty ones and those listed in `said_elsewhere`.
JsonObject without(const Json& native, std::initializer_list<std::string_view> said_elsewhere) {
  JsonObject out;
  const JsonObject* fields = native.if_object();
  if (fields == nullptr) return out;
  for (const auto& [name, value] : *fields) {
    const JsonArray* list = value.if_array();
    const bool is_empty = value.is_null() || (list != nullptr && list->empty());
    if (!is_empty && std::ranges::find(said_elsewhere, std::string_view(name)) == said_elsewhere.end())
      out[name] = value;
  }
  return out;
}

/// Replaces a streamed text by its complete form; calls `tell` with the missing end.
template <class Tell>
void complete(std::string& text, std::string_view whole, const Tell& tell) {
  if (whole.starts_with(text)) tell(whole.substr(text.size()));
  if (!whole.empty()) text = whole;
}

/// Merges two objects; non-empty fields of `later` win.
Json overlaid(const Json& earlier, const Json& later) {
  const JsonObject* fields = earlier.if_object();
  JsonObject out = fields == nullptr ? JsonObject{} : *fields;
  for (const auto& [name, value] : without(later, {})) out[name] = value;
  return out;
}

/// Concatenates the `text` of all elements.
std::string joined(const Json& pieces) {
  std::string out;
  const JsonArray* list = pieces.if_array();
  if (list == nullptr) return out;
  for (const Json& piece : *list) out += json_text(piece, "text");
  return out;
}

Citation citation_from(const Json& annotation) {
  Citation citation{
      .url = json_string(annotation, "url"), .title = json_string(annotation, "title"), .quote = {}};
  for (const std::string_view name : {"filename", "file_id"}) {
    if (citation.url.empty()) citation.url = json_text(annotation, name);
  }
  return citation;
}

/// A reasoning item in the form to send back. The summary is mandatory, even if empty.
JsonObject returnable_reasoning(const Json& native) {
  JsonObject out = without(native, {"status", "summary"});
  const Json& summary = json_at(native, "summary");
  out["summary"] = summary.is_array() ? summary : JsonArray{};
  return out;
}

}  // namespace

std::int64_t Output::index_of(const Json& event) const {
  if (json_at(event, "output_index").is_number()) return std::min(json_int(event, "output_index"), kMaxIndex);
  if (const std::string_view id = json_text(event, "item_id"); !id.empty()) {
    const auto named = [&](const Item& item) { return json_text(item.native, "id") == id; };
    if (const auto found = std::ranges::find_if(items_, named); found != items_.end()) return found->index;
  }
  return items_.empty() ? 0 : items_.back().index;
}

Output::Item& Output::item_at(std::int64_t index, std::string_view type) {
  const auto at = std::ranges::lower_bound(items_, index, {}, &Item::index);
  if (at != items_.end() && at->index == index) return *at;
  return *items_.insert(at, Item{.index = index, .type = std::string(type)});
}

/// The item that a delta belongs to; null if the item does not accept deltas.
Output::Item* Output::streaming(const Json& event, std::string_view type) {
  Item& item = item_at(index_of(event), type);
  return item.settled || item.type != type ? nullptr : &item;
}

/// The number of the item's part at `content`. Opens the part as `fresh` if it is missing, or replaces it if
/// it is of another kind.
std::size_t Output::part_of(Item& item, std::int64_t content, Part fresh) {
  const auto known = item.parts.find(content);
  if (known == item.parts.end()) return item.parts[content] = answer_.open(std::move(fresh));
  Part& part = answer_.part(known->second);
  if (part.index() != fresh.index()) part = std::move(fresh);
  return known->second;
}

bool Output::begin(std::int64_t index, const Json& native) {
  Item& item = item_at(index, json_text(native, "type"));
  if (item.settled) return false;
  item.native = native;
  if (item.type == kReasoning) part_of(item, 0, ReasoningPart{});
  if (item.type == kCall) {
    part_of(item, 0, ToolCallPart{});
    const bool has_name = !json_text(native, "call_id").empty() && !json_text(native, "name").empty();
    if (has_name && !item.named) name_call(item);
    answer_.arguments(item.parts[0], json_text(native, "arguments"));
  }
  return is_opaque(item.type);
}

void Output::text(const Json& event, std::string_view delta, bool is_refusal) {
  Item* item = streaming(event, kMessage);
  if (item == nullptr || delta.empty()) return;
  answer_.text(
      part_of(*item, json_int(event, "content_index"), is_refusal ? Part(RefusalPart{}) : Part(TextPart{})),
      delta);
}

void Output::reasoning(const Json& event, std::string_view delta, bool is_summary) {
  Item* item = streaming(event, kReasoning);
  if (item == nullptr || delta.empty()) return;
  answer_.reasoning(part_of(*item, 0, ReasoningPart{}), delta, is_summary);
}

void Output::arguments(const Json& event, std::string_view delta) {
  if (Item* item = streaming(event, kCall)) answer_.arguments(part_of(*item, 0, ToolCallPart{}), delta);
}

void Output::whole_arguments(const Json& event, std::string_view arguments) {
  Item* item = streaming(event, kCall);
  if (item == nullptr) return;
  part_of(*item, 0, ToolCallPart{});
  complete_arguments(*item, arguments);
  item->ended = true;
}

void Output::annotation(const Json& event, const Json& annotation) {
  Item* item = streaming(event, kMessage);
  if (item == nullptr) return;
  const std::size_t number = part_of(*item, json_int(event, "content_index"), TextPart{});
  std::get<TextPart>(answer_.part(number)).citations.push_back(citation_from(annotation));
}

bool Output::settle(std::int64_t index, const Json& native) {
  Item& item = item_at(index, json_text(native, "type"));
  settle(item, native);
  return is_opaque(item.type);
}

void Output::settle(Item& item, const Json& native) {
  if (const std::string_view type = json_text(native, "type"); type != item.type) {
    item.type = type;
    item.parts.clear();
  }
  item.native = native;
  item.settled = true;
  if (item.type == kMessage) {
    settle_message(item);
  } else if (item.type == kReasoning) {
    settle_reasoning(item);
  } else if (item.type == kCall) {
    settle_call(item);
  } else {
    settle_opaque(item);
  }
}

void Output::settle_message(Item& item) {
  const JsonArray* content = json_at(item.native, "content").if_array();
  if (content == nullptr) return;
  for (std::size_t i = 0; i < content->size(); ++i)
    settle_text(item, static_cast<std::int64_t>(i), (*content)[i]);
}

/// Settles one content part of a message. The vendor state records which message it belongs to.
void Output::settle_text(Item& item, std::int64_t content, const Json& native) {
  const std::string_view type = json_text(native, "type");
  const VendorStatePtr state = answer_.state(
      to_json_text(JsonObject{{"item", without(item.native, {"type", "role", "status", "content"})},
                              {"part", without(native, {"type", "text", "refusal"})}}));
  if (type == "refusal") {
    const std::size_t number = part_of(item, content, RefusalPart{});
    auto& part = std::get<RefusalPart>(answer_.part(number));
    complete(part.text, json_text(native, "refusal"),
             [&](std::string_view rest) { answer_.text(number, rest); });
    part.vendor = state;
  } else if (type == "output_text" || type == "text") {
    const std::string_view whole = json_text(native, "text");
    if (whole.empty() && !item.parts.contains(content)) return;
    const std::size_t number = part_of(item, content, TextPart{});
    auto& part = std::get<TextPart>(answer_.part(number));
    complete(part.text, whole, [&](std::string_view rest) { answer_.text(number, rest); });
    if (const JsonArray* list = json_at(native, "annotations").if_array();
        list != nullptr && !list->empty()) {
      part.citations.clear();
      for (const Json& annotation : *list) part.citations.push_back(citation_from(annotation));
    }
    part.vendor = state;
  } else {  // stored as a separate message, so that it can be sent back
    const Json message =
        JsonObject{{"type", kMessage}, {"role", "assistant"}, {"content", JsonArray{native}}};
    part_of(item, content, OpaquePart{std::string(type), answer_.state(to_json_text(message))});
  }
}

void Output::settle_reasoning(Item& item) {
  const std::size_t number = part_of(item, 0, ReasoningPart{});
  auto& part = std::get<ReasoningPart>(answer_.part(number));
  complete(part.summary, joined(json_at(item.native, "summary")),
           [&](std::string_view rest) { answer_.reasoning(number, rest, true); });
  complete(part.text, joined(json_at(item.native, "content")),
           [&](std::string_view rest) { answer_.reasoning(number, rest); });
}

void Output::settle_call(Item& item) {
  auto& part = std::get<ToolCallPart>(answer_.part(part_of(item, 0, ToolCallPart{})));
  if (!item.named) name_call(item);
  const Json& arguments = json_at(item.native, "arguments");
  if (const auto* text = arguments.if_string()) complete_arguments(item, *text);
  if (arguments.is_structured()) complete_arguments(item, to_json_text(arguments));
  item.ended = true;
  const JsonObject others = without(item.native, {"type", "call_id", "name", "arguments", "status"});
  part.vendor = answer_.state(to_json_text(JsonObject{{"item", others}}));
}

void Output::settle_opaque(Item& item) {
  VendorStatePtr state = answer_.state(to_json_text(item.native));
  Part part = OpaquePart{item.type, state};
  if (item.type == kCompaction) part = CompactionPart{json_string(item.native, "summary"), state};
  answer_.part(part_of(item, 0, part)) = part;
}

void Output::name_call(Item& item) {
  answer_.name_call(item.parts[0], json_text(item.native, "call_id"), json_text(item.native, "name"));
  item.named = true;
}

void Output::complete_arguments(Item& item, std::string_view whole) {
  const std::size_t number = item.parts[0];
  auto& part = std::get<ToolCallPart>(answer_.part(number));
  complete(part.arguments, whole, [&](std::string_view rest) { answer_.arguments(number, rest); });
}

/// The streamed item, at or after `from`, that `native` repeats: the one with the same id, or the first of
/// the same type whose id is not `listed` in the output, because some servers change ids.
std::vector<Output::Item>::iterator Output::find_same(std::vector<Item>::iterator from, const Json& native,
                                                      const std::set<std::string_view>& listed) {
  const std::string_view id = json_text(native, "id"), type = json_text(native, "type");
  const auto same_id = [&](const Item& item) {
    return item.type == type && !id.empty() && json_text(item.native, "id") == id;
  };
  const auto renamed = [&](const Item& item) {
    return item.type == type && !listed.contains(json_text(item.native, "id"));
  };
  const auto found = std::find_if(from, items_.end(), same_id);
  return found != items_.end() ? found : std::find_if(from, items_.end(), renamed);
}

void Output::fill(const JsonArray& output) {
  std::set<std::string_view> listed;
  for (const Json& native : output) listed.insert(json_text(native, "id"));
  listed.erase("");
  std::vector<Item> merged;
  auto rest = items_.begin();
  for (const Json& native : output) {
    if (!native.is_object()) continue;
    const auto found = find_same(rest, native, listed);
    if (found == items_.end()) {
      merged.push_back(Item{.type = json_string(native, "type")});
    } else {
      std::move(rest, std::next(found), std::back_inserter(merged));
      rest = std::next(found);
    }
    Item& item = merged.back();
    settle(item, item.settled ? overlaid(item.native, native) : native);
  }
  std::move(rest, items_.end(), std::back_inserter(merged));
  items_ = std::move(merged);
  for (std::size_t i = 0; i < items_.size(); ++i) items_[i].index = static_cast<std::int64_t>(i);
}

/// Stores in the reasoning's vendor state which item must follow it when it is sent back: `next` is that
/// item's id, absent if no item followed, null if the answer broke off before it.
void Output::seal_reasoning(bool cut) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (item.type != kReasoning || !item.settled) continue;
    JsonObject raw{{"item", returnable_reasoning(item.native)}};
    if (i + 1 == items_.size()) {
      if (cut) raw["next"] = nullptr;
    } else if (const std::string_view next = json_text(items_[i + 1].native, "id"); !next.empty()) {
      raw["next"] = next;
    }
    std::get<ReasoningPart>(answer_.part(item.parts[0])).vendor = answer_.state(to_json_text(raw));
  }
}

/// A call is valid only if its end was received.
void Output::close_call(Item& item, bool cut) {
  auto& call = std::get<ToolCallPart>(answer_.part(part_of(item, 0, ToolCallPart{})));
  if (!item.named) name_call(item);
  const std::string_view status = json_text(item.native, "status");
  call.valid = item.ended && status != "incomplete" && !(cut && status == "in_progress");
}

void Output::close(bool cut) {
  seal_reasoning(cut);
  std::vector<Part> ordered;
  for (Item& item : items_) {
    if (item.type == kCall) close_call(item, cut);
    for (const auto& [content, number] : item.parts) ordered.push_back(std::move(answer_.part(number)));
  }
  answer_.response.parts = std::move(ordered);
  items_.clear();
}

}  // namespace praxis::wire::responses
