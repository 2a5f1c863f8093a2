#include "models/wire/anthropic/response.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/answer.hpp"
#include "models/vendor_error.hpp"

namespace praxis::wire::messages {
namespace {

FinishReason finish_from(std::string_view raw) {
  constexpr std::array<std::pair<std::string_view, FinishReason>, 9> kReasons{
      {{"", FinishReason::kStop},
       {"end_turn", FinishReason::kStop},
       {"max_tokens", FinishReason::kLength},
       {"stop_sequence", FinishReason::kStopSequence},
       {"tool_use", FinishReason::kToolCalls},
       {"pause_turn", FinishReason::kPause},
       {"compaction", FinishReason::kPause},  // the model will continue from the summary
       {"refusal", FinishReason::kRefusal},
       {"model_context_window_exceeded", FinishReason::kContextWindow}}};
  const auto known = std::ranges::find(kReasons, raw, [](const auto& r) { return r.first; });
  return known == kReasons.end() ? FinishReason::kOther : known->second;
}

/// A token count, bounded so that sums cannot overflow.
std::int64_t count(const Json& json, std::string_view key) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  return std::clamp<std::int64_t>(json_int(json, key), 0, kMost);
}

/// The vendor counts cached input separately from other input.
Usage usage_from(const Json& json) {
  Usage usage;
  usage.cache_read = count(json, "cache_read_input_tokens");
  usage.cache_write = count(json, "cache_creation_input_tokens");
  usage.cache_write_long =
      std::min(count(json_at(json, "cache_creation"), "ephemeral_1h_input_tokens"), usage.cache_write);
  usage.input = count(json, "input_tokens") + usage.cache_read + usage.cache_write;
  usage.output = count(json, "output_tokens");
  usage.reasoning = count(json_at(json, "output_tokens_details"), "thinking_tokens");
  return usage;
}

std::string text_of(const JsonObject& block, std::string_view key) {
  const Json* value = block.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

/// Moves a text out of a block; the remaining fields become vendor state of the part.
std::string take_text(JsonObject& block, std::string_view key) {
  std::string text = text_of(block, key);
  block.stable_erase(key);
  return text;
}

/// The fields of a block to send back with its part, without empty ones.
std::string remainder(const JsonObject& block) {
  JsonObject out;
  for (const auto& [name, value] : block) {
    const JsonArray* list = value.if_array();
    if (!value.is_null() && (list == nullptr || !list->empty())) out[name] = value;
  }
  return out.empty() ? std::string() : to_json_text(out);
}

/// Applies a delta to an opaque block, if the delta is named for that block: strings are appended, other
/// values replaced.
void merge(JsonObject& block, const Json& delta) {
  if (!delta.is_object() || json_text(delta, "type") != text_of(block, "type") + "_delta") return;
  for (const auto& [name, value] : delta.get_object()) {
    if (name == "type") continue;
    Json& field = block[name];
    if (field.is_string() && value.is_string()) {
      field.get_string() += value.get_string();
    } else {
      field = value;
    }
  }
}

/// Whether a compaction contains a summary.
bool holds_summary(const JsonObject& block) {
  return !text_of(block, "content").empty() || !text_of(block, "encrypted_content").empty();
}

std::string first_text(const Json& json, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view text = json_text(json, key); !text.empty()) return std::string(text);
  }
  return {};
}

bool is_error(const Json& json) {
  return json_text(json, "type") == "error" || !json_at(json, "error").is_null();
}

Status error_of(const Json& json) {
  return fail(vendor_error(read_error_envelope(json).value_or(ErrorEnvelope{}), 0));
}

Status protocol_error(std::string_view what) {
  return fail(model_error(ErrorKind::kProtocol, "protocol: " + std::string(what)));
}

}  // namespace

Status ResponseReader::read_event(std::string_view name, std::string_view data) {
  if (done_ || data.empty()) return {};
  if (data == "[DONE]") {  // sent by some gateways
    done_ = started_ && !builder_.response.finish_raw.empty();
    return {};
  }
  const auto parsed = json_.parse(data);
  if (!parsed) return fail(parsed.error());
  const Json& event = **parsed;
  if (is_error(event)) return error_of(event);
  const std::string type = json_string(event, "type", name);
  if (type == "message_start") return read_start(json_at(event, "message"));
  if (type == "ping") return {};
  const std::int64_t index = json_int(event, "index");
  if (type == "content_block_start") {
    open_block(index, json_at(event, "content_block"), data);
  } else if (type == "content_block_delta") {
    if (Block* block = find_block(index)) read_delta(*block, json_at(event, "delta"), data);
  } else if (type == "content_block_stop") {
    if (Block* block = find_block(index)) {
      block->ended = true;
      close_block(*block);
    }
  } else if (type == "message_delta") {
    read_ending(json_at(event, "delta"));
    read_usage(json_at(event, "usage"));
  } else if (type == "message_stop") {
    if (!started_) return protocol_error("the answer ends before it began");
    done_ = true;
  } else {
    builder_.provider_event(data);
  }
  return {};
}

Status ResponseReader::read_whole(std::string_view body) {
  return builder_.read_whole(body, [&](const Json& json) -> Status {
    if (is_error(json)) return error_of(json);
    if (!json_at(json, "content").is_array()) {
      return protocol_error("the answer has no content: " + excerpt(body));
    }
    read_head(json);
    read_ending(json);
    done_ = !blocks_.empty() || !builder_.response.finish_raw.empty();
    return {};
  });
}

/// Some gateways repeat the start event. A start with another id means that two answers were mixed up.
Status ResponseReader::read_start(const Json& message) {
  if (!started_) {
    read_head(message);
  } else if (json_text(message, "id") != builder_.response.response_id) {
    return protocol_error("another answer begins within this one");
  }
  return {};
}

/// Content in a stream's start event is complete.
void ResponseReader::read_head(const Json& message) {
  started_ = true;
  builder_.response.response_id = json_text(message, "id");
  builder_.response.model = json_text(message, "model");
  read_usage(json_at(message, "usage"));
  if (const JsonArray* content = json_at(message, "content").if_array()) {
    std::int64_t index = 0;
    for (const Json& block : *content) open_block(index++, block, {});
    for (Block& block : blocks_) {
      block.ended = true;
      close_block(block);
    }
  }
}

void ResponseReader::read_ending(const Json& message) {
  ModelResponse& response = builder_.response;
  if (const auto reason = json_text(message, "stop_reason"); !reason.empty()) {
    response.finish_raw = reason;
    response.finish = finish_from(reason);
  }
  const Json& details = json_at(message, "stop_details");
  const std::string_view why = json_text(details, "explanation");
  const std::string_view category = json_text(details, "category");
  if (why.empty() && category.empty()) return;
  std::string warning = "the model stopped early";
  if (!category.empty()) warning.append(" (").append(category).append(")");
  if (!why.empty()) warning.append(": ").append(why);
  response.warnings.push_back(std::move(warning));
}

/// The counters are totals; a null means no update.
void ResponseReader::read_usage(const Json& usage) {
  if (!usage.is_object()) return;
  for (const auto& [name, value] : usage.get_object()) {
    if (!value.is_null()) usage_[name] = value;
  }
  builder_.response.usage = usage_from(usage_);
}

/// The block with this index that is still open.
ResponseReader::Block* ResponseReader::find_block(std::int64_t index) {
  const auto known = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                  [&](const Block& b) { return b.index == index && !b.ended; });
  return known == blocks_.rend() ? nullptr : &*known;
}

void ResponseReader::open_block(std::int64_t index, const Json& content, std::string_view event) {
  if (!content.is_object()) return;
  Block& block =
      blocks_.emplace_back(Block{.index = index, .item = 0, .native = content.get_object(), .input = {}});
  const std::string_view type = json_text(content, "type");
  if (type == "text") {
    open_text(block);
  } else if (type == "thinking") {
    block.native.stable_erase("type");
    block.item = builder_.open(ReasoningPart{});
    builder_.reasoning(block.item, take_text(block.native, "thinking"));
  } else if (type == "redacted_thinking") {
    block.item = builder_.open(ReasoningPart{});
  } else if (type == "tool_use") {
    open_call(block);
  } else {
    block.item = type == "compaction" ? builder_.open(CompactionPart{})
                                      : builder_.open(OpaquePart{std::string(type), nullptr});
    if (!event.empty()) builder_.provider_event(event);
  }
}

void ResponseReader::open_text(Block& block) {
  JsonObject& native = block.native;
  native.stable_erase("type");
  block.item = builder_.open(TextPart{});
  builder_.text(block.item, take_text(native, "text"));
  const Json* citations = native.if_contains("citations");
  if (citations == nullptr || !citations->is_array()) return;
  const JsonArray given = citations->get_array();
  native["citations"].emplace_array();
  for (const Json& citation : given) read_citation(block, citation);
}

void ResponseReader::open_call(Block& block) {
  JsonObject& native = block.native;
  const std::string id = take_text(native, "id"), name = take_text(native, "name");
  // Nearly always empty, because the input follows in deltas; some servers send all of it here.
  const Json* input = native.if_contains("input");
  if (input != nullptr && !input->is_null() && *input != JsonObject{}) block.input = to_json_text(*input);
  native.stable_erase("input");
  native.stable_erase("type");
  const Json* caller = native.if_contains("caller");
  if (caller != nullptr && json_text(*caller, "type") == "direct")
    native.stable_erase("caller");  // the default value
  block.item = builder_.open(ToolCallPart{.id = {}, .name = {}, .arguments = {}, .vendor = nullptr});
  builder_.name_call(block.item, id, name);
}

void ResponseReader::read_delta(Block& block, const Json& delta, std::string_view event) {
  const std::string_view type = json_text(delta, "type");
  const Part& part = builder_.part(block.item);
  const bool is_text = std::holds_alternative<TextPart>(part);
  const bool is_thought = std::holds_alternative<ReasoningPart>(part);
  const bool is_call = std::holds_alternative<ToolCallPart>(part);
  if (type == "text_delta" && is_text) return builder_.text(block.item, json_text(delta, "text"));
  if (type == "thinking_delta" && is_thought) {
    return builder_.reasoning(block.item, json_text(delta, "thinking"));
  }
  if (type == "signature_delta" && is_thought) {
    block.native["signature"] = json_at(delta, "signature");
    return;
  }
  if (type == "citations_delta" && is_text) return read_citation(block, json_at(delta, "citation"));
  if (type == "input_json_delta" && is_call) {
    return builder_.arguments(block.item, json_text(delta, "partial_json"));
  }
  if (type == "input_json_delta") {
    block.input += json_text(delta, "partial_json");
  } else if (!is_text && !is_thought && !is_call) {
    merge(block.native, delta);
  }
  builder_.provider_event(event);
}

void ResponseReader::read_citation(Block& block, const Json& citation) {
  if (!citation.is_object()) return;
  Json& list = block.native["citations"];
  if (!list.is_array()) list.emplace_array();
  list.get_array().push_back(citation);
  std::get<TextPart>(builder_.part(block.item))
      .citations.push_back({.url = first_text(citation, {"url", "source", "document_title"}),
                            .title = first_text(citation, {"title", "document_title"}),
                            .quote = json_string(citation, "cited_text")});
}

void ResponseReader::close_block(Block& block) {
  Part& part = builder_.part(block.item);
  if (auto* text = std::get_if<TextPart>(&part)) {
    if (std::string rest = remainder(block.native); !rest.empty())
      text->vendor = builder_.state(std::move(rest));
  } else if (auto* thought = std::get_if<ReasoningPart>(&part)) {
    // An empty state marks unsigned reasoning as the target model's own.
    std::string rest = remainder(block.native);
    thought->vendor = builder_.state(rest.empty() ? "{}" : std::move(rest));
  } else if (auto* call = std::get_if<ToolCallPart>(&part)) {
    if (call->arguments.empty()) builder_.arguments(block.item, block.input);
    if (std::string rest = remainder(block.native); !rest.empty())
      call->vendor = builder_.state(std::move(rest));
  } else {
    if (auto input = parse_json(block.input)) block.native["input"] = *std::move(input);
    const VendorStatePtr whole = builder_.state(to_json_text(block.native));
    auto* compaction = std::get_if<CompactionPart>(&part);
    if (compaction != nullptr && !holds_summary(block.native)) {
      // The summary failed: keep the block as opaque, so that it does not replace the messages before it.
      part = OpaquePart{"compaction", whole};
    } else if (compaction != nullptr) {
      compaction->summary = text_of(block.native, "content");
      compaction->vendor = whole;
    } else {
      std::get<OpaquePart>(part).vendor = whole;
    }
  }
}

/// Invalidates a call whose block never ended: its arguments may be incomplete even if they parse.
void ResponseReader::disown_call(const Block& block) {
  auto* call = std::get_if<ToolCallPart>(&builder_.part(block.item));
  if (call == nullptr || !call->valid) return;
  call->valid = false;
  ModelResponse& response = builder_.response;
  response.warnings.push_back("the call of tool \"" + call->name + "\" has no end; it will not run");
  const auto runs = [](const Part& part) {
    const auto* other = std::get_if<ToolCallPart>(&part);
    return other != nullptr && other->valid;
  };
  if (response.finish == FinishReason::kToolCalls && std::ranges::none_of(response.parts, runs)) {
    response.finish = FinishReason::kMalformedToolCall;
  }
}

/// Adds the cost of extra passes (a summary, another model's advice), which the totals omit but the vendor
/// bills.
void ResponseReader::add_extra_passes() {
  ModelResponse& response = builder_.response;
  const Json* passes = usage_.if_contains("iterations");
  const JsonArray* list = passes == nullptr ? nullptr : passes->if_array();
  if (list == nullptr) return;
  MicroUsd extra;
  for (const Json& pass : *list) {
    if (json_text(pass, "type") == "message") continue;
    const Usage usage = usage_from(pass);
    const std::string_view model = json_text(pass, "model");
    if (model.empty() || model == response.model || model == target_.model) {
      extra.value += price_of(target_.facts, usage).value;
    } else {
      response.warnings.push_back("the turn's usage leaves out " + std::to_string(usage.total()) +
                                  " tokens of model " + std::string(model));
    }
  }
  if (extra.value > 0)
    response.usage.cost.value = price_of(target_.facts, response.usage).value + extra.value;
}

Result<ModelResponse> ResponseReader::finish() {
  if (!started_ || !done_) {
    return fail(model_error(ErrorKind::kTruncatedStream,
                            started_ ? "truncated_stream: the answer breaks off before its end"
                                     : "truncated_stream: the answer is empty"));
  }
  ModelResponse& response = builder_.response;
  for (Block& block : blocks_) {
    if (!block.ended) close_block(block);
  }
  response.finish = finish_from(response.finish_raw);
  response.usage.estimated = !usage_.contains("input_tokens") && !usage_.contains("output_tokens");
  settle_answer(response);
  for (const Block& block : blocks_) {
    if (!block.ended) disown_call(block);
  }
  add_extra_passes();
  return std::move(response);
}

}  // namespace praxis::wire::messages
