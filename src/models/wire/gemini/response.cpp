#include "models/wire/gemini/response.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/answer.hpp"
#include "models/vendor_error.hpp"
#include "models/wire/gemini/tools.hpp"
#include "praxis/base/base64.hpp"

namespace praxis::wire::gemini {
namespace {

constexpr std::size_t kMaxCitations = 1000;
constexpr std::int64_t kMaxTokens =
    1'000'000'000'000;  // upper bound, so that sums of reported counts cannot overflow
constexpr std::string_view kSignature = "thoughtSignature";

constexpr std::array<std::pair<std::string_view, FinishReason>, 14> kFinishes{
    {{"STOP", FinishReason::kStop},
     {"MAX_TOKENS", FinishReason::kLength},
     {"SAFETY", FinishReason::kContentFilter},
     {"RECITATION", FinishReason::kContentFilter},
     {"BLOCKLIST", FinishReason::kContentFilter},
     {"PROHIBITED_CONTENT", FinishReason::kContentFilter},
     {"SPII", FinishReason::kContentFilter},
     {"IMAGE_SAFETY", FinishReason::kContentFilter},
     {"IMAGE_PROHIBITED_CONTENT", FinishReason::kContentFilter},
     {"IMAGE_RECITATION", FinishReason::kContentFilter},
     {"MODEL_ARMOR", FinishReason::kContentFilter},
     {"MALFORMED_FUNCTION_CALL", FinishReason::kMalformedToolCall},
     {"UNEXPECTED_TOOL_CALL", FinishReason::kMalformedToolCall},
     {"", FinishReason::kStop}}};  // a whole answer may lack a finish reason

FinishReason finish_from(std::string_view raw) {
  const auto known = std::ranges::find(kFinishes, raw, [](const auto& entry) { return entry.first; });
  return known == kFinishes.end() ? FinishReason::kOther : known->second;
}

/// The value of an enumeration; empty for the name of its unset value, which some servers send instead of
/// omitting the field.
std::string_view said(const Json& json, std::string_view field) {
  const std::string_view word = json_text(json, field);
  return word.ends_with("_UNSPECIFIED") ? std::string_view{} : word;
}

/// The kind of a part: the name of its content field; empty if it has none, or null.
std::string_view kind_of(const JsonObject& part) {
  constexpr std::array<std::string_view, 4> kBeside{"thought", "videoMetadata", "partMetadata",
                                                    "mediaResolution"};
  std::string_view kind;
  for (const auto& [name, value] : part) {
    const bool beside = std::ranges::find(kBeside, std::string_view(name)) != kBeside.end();
    if (!beside && !value.is_null() && (kind.empty() || kind == kSignature)) kind = name;
  }
  return kind;
}

const JsonArray& list_at(const Json& json, std::string_view field) {
  static const JsonArray kNone;
  const JsonArray* list = json_at(json, field).if_array();
  return list == nullptr ? kNone : *list;
}

/// The source of a grounding chunk: `{"web": {uri, title}}`, or `maps`, `retrievedContext`, ...
Citation source_of(const Json& chunk) {
  const JsonObject* kinds = chunk.if_object();
  if (kinds == nullptr || kinds->empty()) return {};
  const Json& source = kinds->begin()->value();
  return {.url = json_string(source, "uri"), .title = json_string(source, "title"), .quote = {}};
}

}  // namespace

Status ResponseReader::read_event(std::string_view, std::string_view data) {
  if (data == "[DONE]") done_ = true;  // sent by gateways
  if (done_ || data.empty()) return {};
  const auto parsed = json_.parse(data);
  if (!parsed) return fail(parsed.error());
  return read_response(**parsed);
}

Status ResponseReader::read_whole(std::string_view body) {
  return builder_.read_whole(body, [this](const Json& json) -> Status {
    is_unary_ = !json.is_array();
    if (is_unary_) {
      if (Status read = read_response(json); !read) return read;
    } else {
      for (const Json& response : json.get_array()) {
        if (Status read = read_response(response); !read) return read;
      }
    }
    done_ = true;
    return {};
  });
}

Status ResponseReader::read_response(const Json& response) {
  const Json& candidates = json_at(response, "candidates");
  read_usage(json_at(response, "usageMetadata"));
  if (!json_at(response, "error").is_null() || !candidates.is_array()) {
    if (const auto envelope = read_error_envelope(response)) return fail(vendor_error(*envelope, 0));
  }
  ModelResponse& answer = builder_.response;
  if (answer.response_id.empty()) answer.response_id = json_text(response, "responseId");
  if (answer.model.empty()) answer.model = json_text(response, "modelVersion");
  read_feedback(json_at(response, "promptFeedback"));
  for (const Json& candidate : list_at(response, "candidates")) {
    if (json_int(candidate, "index") == 0)
      read_candidate(candidate);  // ignore alternatives; we never request any
  }
  return {};
}

/// A blocked prompt has no candidates.
void ResponseReader::read_feedback(const Json& feedback) {
  const std::string_view reason = said(feedback, "blockReason");
  if (reason.empty()) return;
  is_blocked_ = true;
  builder_.response.finish = FinishReason::kContentFilter;
  builder_.response.finish_raw = "content_filter";  // refers to the prompt, not to the answer's end
  builder_.response.warnings.push_back("the prompt was blocked: " + std::string(reason));
  finish_message_ = json_text(feedback, "blockReasonMessage");
}

void ResponseReader::read_usage(const Json& usage) {
  const auto read = [&](std::string_view name, std::int64_t& count) {
    if (!json_at(usage, name).is_number()) return;
    count = std::clamp<std::int64_t>(json_int(usage, name), 0, kMaxTokens);
    counts_.stated = true;
  };
  read("promptTokenCount", counts_.prompt);
  read("toolUsePromptTokenCount", counts_.tool_prompt);
  read("cachedContentTokenCount", counts_.cached);
  read("candidatesTokenCount", counts_.candidates);
  read("thoughtsTokenCount", counts_.thoughts);
  builder_.response.usage = counts_.usage();
}

Usage ResponseReader::Counts::usage() const {
  Usage usage;
  usage.input = prompt + tool_prompt;
  usage.output = candidates + thoughts;
  usage.cache_read = cached;
  usage.reasoning = thoughts;
  usage.estimated = !stated;
  return usage;
}

void ResponseReader::read_candidate(const Json& candidate) {
  has_candidate_ = true;
  for (const Json& part : list_at(json_at(candidate, "content"), "parts")) read_part(part);
  read_citations(candidate);
  if (const std::string_view reason = said(candidate, "finishReason"); !reason.empty()) {
    builder_.response.finish_raw = reason;
    builder_.response.finish = finish_from(reason);
    finish_message_ = json_text(candidate, "finishMessage");
  }
}

void ResponseReader::read_part(const Json& part) {
  const bool thought = json_bool(part, "thought");
  const std::string_view text = json_text(part, "text"), signature = json_text(part, kSignature);
  if (json_at(part, "functionCall").is_object()) {  // such a part may also contain text
    read_text(text, thought, {});
    read_call(part);
  } else if (json_at(part, "text").is_string()) {
    read_text(text, thought, signature);
  } else if (thought || !read_media(part)) {  // an image in a thought is not part of the answer
    read_opaque(part);
  }
}

template <class TextLike>
std::optional<std::size_t> ResponseReader::open_item() {
  if (builder_.response.parts.empty()) return std::nullopt;
  const auto* last = std::get_if<TextLike>(&builder_.response.parts.back());
  if (last == nullptr || last->vendor) return std::nullopt;  // a signed part is complete
  return builder_.response.parts.size() - 1;
}

/// A signature belongs to the part it arrived with, even if that part is empty.
void ResponseReader::read_text(std::string_view text, bool thought, std::string_view signature) {
  if (text.empty() && signature.empty()) return;
  auto item = thought ? open_item<ReasoningPart>() : open_item<TextPart>();
  if (!item || !signature.empty()) {
    VendorStatePtr state = signed_by(signature);
    item = builder_.open(thought ? Part(ReasoningPart{.text = {}, .summary = {}, .vendor = std::move(state)})
                                 : Part(TextPart{.text = {}, .vendor = std::move(state)}));
  }
  if (thought) {
    builder_.reasoning(*item, text, true);
  } else {
    builder_.text(*item, text);
  }
}

VendorStatePtr ResponseReader::signed_by(std::string_view signature) const {
  return signature.empty() ? nullptr : builder_.state(to_json_text(JsonObject{{kSignature, signature}}));
}

/// A call is one part, or starts with its name and continues in nameless parts until one of them does not set
/// `willContinue`.
void ResponseReader::read_call(const Json& part) {
  const Json& call = json_at(part, "functionCall");
  const bool is_nameless = !open_call_ && json_at(call, "args").is_object();
  const bool begins = is_nameless || !json_text(call, "name").empty();
  if (!begins && !open_call_) return;
  if (begins) begin_call(call);
  if (const std::string_view signature = json_text(part, kSignature); !signature.empty()) {
    open_call_->own[kSignature] = signature;
  }
  std::get<ToolCallPart>(builder_.part(open_call_->item)).vendor =
      builder_.state(to_json_text(open_call_->own));
  for (const Json& piece : list_at(call, "partialArgs"))
    open_call_->whole &= open_call_->arguments.add(piece);
  if (!json_bool(call, "willContinue")) end_call(true);
}

void ResponseReader::begin_call(const Json& call) {
  if (open_call_) end_call(false);
  ToolCallPart part;
  part.valid = false;  // until its end is received
  const std::size_t item = builder_.open(std::move(part));
  JsonObject own;
  const std::string_view id = json_text(call, "id");
  if (!id.empty()) own["id"] = id;  // sent back only if the server set it
  builder_.name_call(item, id, tool_name(json_text(call, "name")));
  open_call_.emplace(OpenCall{item, std::move(own), PartialArguments(json_at(call, "args"))});
}

/// An incomplete call, or one with invalid arguments, can be shown but must not run.
void ResponseReader::end_call(bool complete) {
  builder_.arguments(open_call_->item, open_call_->arguments.text());
  std::get<ToolCallPart>(builder_.part(open_call_->item)).valid = complete && open_call_->whole;
  open_call_.reset();
}

bool ResponseReader::read_media(const Json& part) {
  const Json& inline_data = json_at(part, "inlineData");
  auto data = base64_decode(json_text(inline_data, "data"));
  if (!data || data->empty()) return false;
  MediaSource source{.mime = json_string(inline_data, "mimeType"), .data = *std::move(data), .url = {}};
  VendorStatePtr state = signed_by(json_text(part, kSignature));
  if (source.mime.starts_with("image/")) {
    builder_.open(ImagePart{std::move(source), std::move(state)});
  } else {
    builder_.open(FilePart{std::move(source), json_string(inline_data, "displayName"), std::move(state)});
  }
  return true;
}

void ResponseReader::read_opaque(const Json& part) {
  const JsonObject* fields = part.if_object();
  const std::string_view kind = fields == nullptr ? std::string_view{} : kind_of(*fields);
  if (kind.empty()) return;
  const std::string raw = to_json_text(part);
  builder_.open(OpaquePart{std::string(kind), builder_.state(raw)});
  builder_.provider_event(raw);
}

void ResponseReader::read_citations(const Json& candidate) {
  const Json& cited = json_at(candidate, "citationMetadata");
  for (const std::string_view field : {"citations", "citationSources"}) {
    for (const Json& source : list_at(cited, field)) {
      cite({.url = json_string(source, "uri"), .title = json_string(source, "title"), .quote = {}});
    }
  }
  const Json& grounding = json_at(candidate, "groundingMetadata");
  const JsonArray& chunks = list_at(grounding, "groundingChunks");
  const JsonArray& supports = list_at(grounding, "groundingSupports");
  if (supports.empty()) {
    for (const Json& chunk : chunks) cite(source_of(chunk));
  }
  for (const Json& support : supports) {
    for (const Json& number : list_at(support, "groundingChunkIndices")) {
      const std::int64_t index = number.is_int64() ? number.get_int64() : -1;
      if (index < 0 || std::cmp_greater_equal(index, chunks.size())) continue;
      Citation citation = source_of(chunks[static_cast<std::size_t>(index)]);
      citation.quote = json_text(json_at(support, "segment"), "text");
      cite(std::move(citation));
    }
  }
}

/// Skips duplicates, because streams repeat citations.
void ResponseReader::cite(Citation citation) {
  if (citation.url.empty() && citation.title.empty()) return;
  if (citations_.size() == kMaxCitations || std::ranges::find(citations_, citation) != citations_.end())
    return;
  citations_.push_back(std::move(citation));
}

void ResponseReader::attach_citations() {
  for (std::size_t i = builder_.response.parts.size(); i-- > 0;) {
    auto* text = std::get_if<TextPart>(&builder_.part(i));
    if (text == nullptr || text->text.empty()) continue;
    text->citations = std::move(citations_);
    return;
  }
}

Result<ModelResponse> ResponseReader::finish() {
  ModelResponse& answer = builder_.response;
  if (!has_candidate_ && !is_blocked_) {
    return fail(model_error(ErrorKind::kTruncatedStream, "truncated_stream: the answer is empty"));
  }
  if (answer.finish_raw.empty() && !is_unary_) {
    return fail(
        model_error(ErrorKind::kTruncatedStream, "truncated_stream: the answer breaks off before its end"));
  }
  if (open_call_) end_call(false);
  answer.finish = is_blocked_ ? FinishReason::kContentFilter : finish_from(answer.finish_raw);
  if (answer.finish == FinishReason::kStop && answer.parts.empty()) {
    return fail(model_error(ErrorKind::kServer, "server: the model returned an empty answer"));
  }
  if (answer.finish != FinishReason::kStop && !finish_message_.empty()) {
    answer.warnings.push_back(answer.finish_raw + ": " + finish_message_);
  }
  attach_citations();
  answer.usage = counts_.usage();
  settle_answer(answer);
  return std::move(answer);
}

}  // namespace praxis::wire::gemini
