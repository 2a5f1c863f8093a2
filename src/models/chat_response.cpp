#include "models/chat_response.hpp"

#include <algorithm>
#include <cmath>

#include "models/answer.hpp"
#include "models/vendor_error.hpp"

namespace praxis::chat {
namespace {

constexpr std::string_view kContent = "content";
constexpr std::string_view kArguments = "arguments";

/// The string at `key` without a copy; empty when absent or no string.
std::string_view text_at(const Json& value, std::string_view key) {
  const auto* text = json_at(value, key).if_string();
  return text ? std::string_view(*text) : std::string_view{};
}

FinishReason finish_from(std::string_view raw) {
  if (raw == "stop") return FinishReason::kStop;
  if (raw == "length" || raw == "model_length") return FinishReason::kLength;
  if (raw == "tool_calls" || raw == "function_call") return FinishReason::kToolCalls;
  if (raw == "content_filter") return FinishReason::kContentFilter;
  if (raw == "error") return FinishReason::kError;
  return FinishReason::kOther;
}

/// The first of several spellings that is there.
std::int64_t first_of(std::initializer_list<std::int64_t> values) {
  for (const std::int64_t value : values) {
    if (value > 0) return value;
  }
  return 0;
}

Usage usage_from(const Json& json) {
  const Json& prompt = json_at(json, "prompt_tokens_details");
  const Json& completion = json_at(json, "completion_tokens_details");
  Usage usage;
  usage.input = json_int(json, "prompt_tokens");
  // A total above the sum counts reasoning that the completion leaves out.
  usage.output = std::max(json_int(json, "completion_tokens"), json_int(json, "total_tokens") - usage.input);
  usage.cache_read = first_of({json_int(prompt, "cached_tokens"), json_int(json, "prompt_cache_hit_tokens"),
                               json_int(json, "cached_tokens"), json_int(json, "num_cached_tokens")});
  usage.cache_write = json_int(prompt, "cache_write_tokens");
  usage.reasoning = json_int(completion, "reasoning_tokens");
  usage.cost.value = std::llround(json_double(json, "cost") * 1e6);
  return usage;
}

std::string excerpt(std::string_view bytes) {
  constexpr std::size_t kLength = 200;
  return repair_utf8(bytes.substr(0, kLength)) + (bytes.size() > kLength ? "..." : "");
}

}  // namespace

Status ResponseReader::read_event(std::string_view data) {
  if (done_ || data.empty() || data.starts_with(':')) return {};  // some proxies send comments as data
  if (data == "[DONE]") {
    done_ = true;
    return {};
  }
  if (const auto text = template_.match(data)) {
    if (field_ == kContent) {
      add_text(*text);
    } else if (field_ == kArguments) {
      add_arguments(calls_[last_call_], *text);
    } else {
      add_reasoning(*text);
    }
    return {};
  }
  auto chunk = parse_json(data);
  if (!chunk && !is_valid_utf8(data)) chunk = parse_json(repair_utf8(data));
  if (!chunk)
    return fail(model_error("protocol", "protocol: an event of the stream is no JSON: " + excerpt(data)));
  contributions_ = 0;
  const Status status = read_chunk(*chunk, false);
  if (contributions_ == 1 && !field_.empty()) {
    template_.learn(data, field_);
  } else {
    template_.forget();
  }
  return status;
}

Status ResponseReader::read_whole(std::string_view body) {
  const auto json = parse_json(body);
  if (!json) {
    const bool cut = body.starts_with('{') && parse_partial_json(body);
    return fail(cut ? model_error("truncated_stream", "truncated_stream: the answer ends within its JSON")
                    : model_error("protocol", "protocol: the answer is no JSON: " + excerpt(body)));
  }
  if (const Status status = read_chunk(*json, true); !status) return status;
  done_ = has_choice_;
  return {};
}

Status ResponseReader::read_chunk(const Json& chunk, bool whole) {
  const Json& choices = json_at(chunk, "choices");
  if (!json_at(chunk, "error").is_null() || !choices.is_array()) {
    if (const auto envelope = read_error_envelope(chunk)) return fail(vendor_error(*envelope, 0));
  }
  if (response_.response_id.empty()) response_.response_id = text_at(chunk, "id");
  if (response_.model.empty()) response_.model = text_at(chunk, "model");
  read_usage(json_at(json_at(chunk, "x_groq"), "usage"));
  read_usage(json_at(chunk, "usage"));
  if (!choices.is_array()) return {};
  for (const Json& choice : choices.get_array()) {
    if (json_int(choice, "index") != 0) continue;  // alternatives that nobody asked for
    if (const Status status = read_choice(choice, whole); !status) return status;
  }
  return {};
}

Status ResponseReader::read_choice(const Json& choice, bool whole) {
  if (!json_at(choice, "error").is_null()) {
    if (const auto envelope = read_error_envelope(choice)) return fail(vendor_error(*envelope, 0));
  }
  has_choice_ = true;
  read_usage(json_at(choice, "usage"));
  // Some servers send both: the message so far beside each delta, or an empty delta beside the message.
  whole |= !json_at(choice, "delta").is_object() && json_at(choice, "message").is_object();
  read_message(json_at(choice, whole ? "message" : "delta"), whole);
  const auto* finish = json_at(choice, "finish_reason").if_string();
  if (finish != nullptr && (whole || !finish->empty())) {  // some servers say "" until the stream's end
    has_finish_ = true;
    response_.finish_raw = *finish;
  }
  return {};
}

void ResponseReader::read_usage(const Json& usage) {
  if (!usage.is_object()) return;
  has_usage_ = true;
  response_.usage = usage_from(usage);  // never added up: some servers repeat it with every chunk
}

void ResponseReader::read_message(const Json& message, bool whole) {
  if (!message.is_object()) return;
  read_reasoning(message);
  read_content(json_at(message, kContent));
  if (const std::string_view refusal = text_at(message, "refusal"); !refusal.empty()) {
    contributed({});
    add_refusal(refusal);
  }
  read_tool_calls(json_at(message, "tool_calls"), whole);
  if (const Json& legacy = json_at(message, "function_call"); legacy.is_object()) {
    read_tool_calls(JsonArray{JsonObject{{"index", 0}, {"function", legacy}}}, false);
  }
}

/// Several fields may carry the same text: the first one counts.
void ResponseReader::read_reasoning(const Json& message) {
  for (const std::string_view field : {"reasoning_content", "reasoning"}) {
    if (const std::string_view text = text_at(message, field); !text.empty()) {
      contributed(field);
      return add_reasoning(text);
    }
  }
  const JsonArray* details = json_at(message, "reasoning_details").if_array();
  if (details == nullptr) return;
  for (const Json& detail : *details) {
    for (const std::string_view field : {"text", "summary"}) {
      if (const std::string_view text = text_at(detail, field); !text.empty()) {
        contributed({});
        add_reasoning(text);
      }
    }
  }
}

/// Text, or a list of text and thinking parts.
void ResponseReader::read_content(const Json& content) {
  if (const auto* text = content.if_string(); text != nullptr && !text->empty()) {
    contributed(kContent);
    return add_text(*text);
  }
  const JsonArray* parts = content.if_array();
  if (parts == nullptr) return;
  contributed({});
  for (const Json& part : *parts) {
    if (const JsonArray* thinking = json_at(part, "thinking").if_array()) {
      for (const Json& thought : *thinking) add_reasoning(text_at(thought, "text"));
    } else if (text_at(part, "type") == "text") {
      add_text(text_at(part, "text"));
    } else {
      response_.parts.emplace_back(OpaquePart{std::make_shared<VendorState>(
          VendorState{std::string(options_.dialect.vendor), response_.model, to_json_text(part)})});
    }
  }
}

void ResponseReader::read_tool_calls(const Json& calls, bool whole) {
  const JsonArray* list = calls.if_array();
  if (list == nullptr) return;
  for (const Json& call : *list) {
    const Json& function = json_at(call, "function");
    const Json& arguments = json_at(function, kArguments);
    Fragment fragment{
        .index = {}, .id = text_at(call, "id"), .name = text_at(function, "name"), .arguments = {}};
    if (json_at(call, "index").is_number()) fragment.index = json_int(call, "index");
    if (const auto* text = arguments.if_string()) fragment.arguments = *text;
    if (arguments.is_structured()) fragment.arguments = to_json_text(arguments);
    if (fragment.id.empty() && fragment.name.empty() && fragment.arguments.empty()) continue;
    add_fragment(fragment, whole);
  }
}

/// Appends to the last part when it is of this kind, else opens one.
template <class TextLike>
std::uint32_t ResponseReader::append(std::string_view text) {
  std::vector<Part>& parts = response_.parts;
  if (parts.empty() || !std::holds_alternative<TextLike>(parts.back())) parts.emplace_back(TextLike{});
  std::get<TextLike>(parts.back()).text += text;
  return static_cast<std::uint32_t>(parts.size() - 1);
}

void ResponseReader::add_text(std::string_view text) {
  if (!text.empty()) emit(TextChunk{text, append<TextPart>(text)});
}

void ResponseReader::add_reasoning(std::string_view text) {
  if (!text.empty()) emit(ReasoningChunk{text, append<ReasoningPart>(text)});
}

void ResponseReader::add_refusal(std::string_view text) { emit(TextChunk{text, append<RefusalPart>(text)}); }

ResponseReader::Call* ResponseReader::find_call(const Fragment& fragment) {
  if (fragment.index) {
    const auto known = std::find_if(calls_.rbegin(), calls_.rend(),
                                    [&](const Call& c) { return c.index == fragment.index; });
    if (known == calls_.rend()) return nullptr;
    const bool other_call = !fragment.id.empty() && !fragment.name.empty() && !known->vendor_id.empty() &&
                            fragment.id != known->vendor_id;
    return other_call ? nullptr : &*known;
  }
  if (!fragment.id.empty()) {
    const auto known = std::ranges::find(calls_, fragment.id, &Call::vendor_id);
    return known == calls_.end() ? nullptr : &*known;
  }
  return calls_.empty() || !fragment.name.empty() ? nullptr : &calls_.back();
}

void ResponseReader::add_fragment(const Fragment& fragment, bool always_new) {
  Call* call = always_new ? nullptr : find_call(fragment);
  if (call == nullptr) {
    contributed({});  // no template: the like of this chunk would open another call
    response_.parts.emplace_back(ToolCallPart{});
    call = &calls_.emplace_back(
        Call{.item = response_.parts.size() - 1, .index = fragment.index, .vendor_id = {}});
  }
  if (call->vendor_id.empty()) call->vendor_id = fragment.id;
  ToolCallPart& part = part_of(*call);
  if (part.name.empty() && !fragment.name.empty()) {
    part.name = fragment.name;
    announce(*call);
  }
  if (!fragment.arguments.empty()) {
    contributed(kArguments);
    last_call_ = static_cast<std::size_t>(call - calls_.data());
    add_arguments(*call, fragment.arguments);
  }
}

void ResponseReader::add_arguments(Call& call, std::string_view bytes) {
  part_of(call).arguments += bytes;
  if (call.announced) emit(ToolArgumentsChunk{bytes, static_cast<std::uint32_t>(call.item)});
}

/// The name is known; arguments may have come before it.
void ResponseReader::announce(Call& call) {
  ToolCallPart& part = part_of(call);
  part.id = CallId(usable_id(call));
  call.announced = true;
  const auto item = static_cast<std::uint32_t>(call.item);
  emit(ToolCallChunk{part.id.value, part.name, item});
  if (!part.arguments.empty()) emit(ToolArgumentsChunk{part.arguments, item});
}

/// The vendor's id, unless it has none or the conversation already uses it.
std::string ResponseReader::usable_id(const Call& call) const {
  const auto taken = [&](std::string_view id) {
    const auto has_id = [&](const Part& part) {
      const auto* other = std::get_if<ToolCallPart>(&part);
      return other != nullptr && other->id.value == id;
    };
    return std::ranges::any_of(response_.parts, has_id) || (options_.call_taken && options_.call_taken(id));
  };
  std::string id = call.vendor_id;
  for (std::size_t n = calls_.size(); id.empty() || taken(id); ++n)
    id = options_.call_prefix + std::to_string(n);
  return id;
}

ToolCallPart& ResponseReader::part_of(const Call& call) {
  return std::get<ToolCallPart>(response_.parts[call.item]);
}

void ResponseReader::contributed(std::string_view field) {
  ++contributions_;
  field_ = field;
}

void ResponseReader::emit(const ModelDelta& delta) {
  ++deltas_;
  if (options_.deltas != nullptr) options_.deltas->on_delta(delta);
}

Result<ModelResponse> ResponseReader::finish() {
  if (!has_choice_ || !(done_ || has_finish_)) {
    return fail(model_error("truncated_stream", has_choice_
                                                    ? "truncated_stream: the answer breaks off before its end"
                                                    : "truncated_stream: the answer is empty"));
  }
  if (finish_from(response_.finish_raw) == FinishReason::kError) {
    return fail(model_error("server", "server: the vendor ended the answer with an error"));
  }
  for (const Call& call : calls_) {
    if (!call.announced) part_of(call).id = CallId(usable_id(call));
  }
  response_.finish = has_finish_ ? finish_from(response_.finish_raw) : FinishReason::kStop;
  response_.usage.estimated = !has_usage_;
  settle_answer(response_);
  return std::move(response_);
}

}  // namespace praxis::chat
