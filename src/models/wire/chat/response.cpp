#include "models/wire/chat/response.hpp"

#include <algorithm>
#include <array>

#include "models/answer.hpp"
#include "models/vendor_error.hpp"
#include "models/wire/chat/usage.hpp"
#include "praxis/base/base64.hpp"

namespace praxis::wire::chat {
namespace {

constexpr std::string_view kContent = "content";
constexpr std::array<std::string_view, 2> kReasoningFields{"reasoning_content", "reasoning"};

FinishReason finish_from(std::string_view raw) {
  if (raw == "stop") return FinishReason::kStop;
  if (raw == "length" || raw == "model_length") return FinishReason::kLength;
  if (raw == "tool_calls" || raw == "function_call") return FinishReason::kToolCalls;
  if (raw == "content_filter") return FinishReason::kContentFilter;
  if (raw == "error") return FinishReason::kError;
  return FinishReason::kOther;
}

/// An image given by URL, or by its bytes if the URL is a data URL.
ImagePart image_from(std::string_view url) {
  constexpr std::string_view kScheme = "data:", kBase64 = ";base64,";
  if (const std::size_t mark = url.find(kBase64); url.starts_with(kScheme) && mark != url.npos) {
    if (auto bytes = base64_decode(url.substr(mark + kBase64.size()))) {
      return {{std::string(url.substr(kScheme.size(), mark - kScheme.size())), *std::move(bytes), {}},
              nullptr};
    }
  }
  return {{{}, {}, std::string(url)}, nullptr};
}

/// The text of a chunk that adds nothing but text, and the padding next to it. A chunk that differs from the
/// previous one only in these values can be read by appending its text. Empty for other chunks.
std::vector<const Json*> repeated_by_text(const Json& chunk) {
  const JsonArray* choices = json_at(chunk, "choices").if_array();
  if (choices == nullptr || choices->size() != 1 || json_int(choices->front(), "index") != 0) return {};
  const JsonObject* delta = json_at(choices->front(), "delta").if_object();
  if (delta == nullptr) return {};
  const Json* text = nullptr;
  for (const auto& [key, value] : *delta) {
    if (key == kContent && value.is_string()) {
      text = &value;
    } else if (key != "role" && !value.is_null()) {
      return {};
    }
  }
  if (text == nullptr) return {};
  return {text, &json_at(chunk, "obfuscation")};
}

}  // namespace

Status ResponseReader::read_event(std::string_view, std::string_view data) {
  if (done_ || data.empty() || data.starts_with(':')) return {};  // some proxies send comments as data
  if (data == "[DONE]") {
    done_ = true;
    return {};
  }
  const auto chunk = json_.parse(data);
  if (error_) {
    if (chunk) read_stated_usage(**chunk);
    return {};
  }
  if (!chunk) return fail(chunk.error());
  if (!repeats_.empty() && json_.changed_only(repeats_)) {
    add_text(repeats_.front()->get_string());
    return {};
  }
  repeats_ = repeated_by_text(**chunk);
  if (Status read = read_chunk(**chunk, false); !read) error_ = std::move(read.error());
  return {};
}

Status ResponseReader::read_whole(std::string_view body) {
  Status status = builder_.read_whole(body, [this](const Json& json) { return read_chunk(json, true); });
  if (status) done_ = has_choice_;
  return status;
}

Status ResponseReader::read_chunk(const Json& chunk, bool whole) {
  const Json& choices = json_at(chunk, "choices");
  std::optional<ErrorEnvelope> error;
  if (!json_at(chunk, "error").is_null() || !choices.is_array()) error = read_error_envelope(chunk);
  read_stated_usage(chunk);
  if (!error) read_facts(chunk);
  if (choices.is_array()) {
    for (const Json& choice : choices.get_array()) {
      if (json_int(choice, "index") != 0) continue;  // an alternative that was not requested
      if (error) {
        read_finish(choice, whole);
      } else if (Status status = read_choice(choice, whole); !status) {
        return status;
      }
    }
  }
  return error ? fail(vendor_error(*error, 0)) : Status();
}

void ResponseReader::read_facts(const Json& chunk) {
  ModelResponse& response = builder_.response;
  if (response.response_id.empty()) response.response_id = json_text(chunk, "id");
  if (response.model.empty()) response.model = json_text(chunk, "model");
  read_sources(chunk);
}

Status ResponseReader::read_choice(const Json& choice, bool whole) {
  read_usage(json_at(choice, "usage"));
  if (!json_at(choice, "error").is_null()) {
    if (const auto envelope = read_error_envelope(choice)) {
      read_finish(choice, whole);
      return fail(vendor_error(*envelope, 0));
    }
  }
  if (!choice.is_object() || choice.get_object().empty()) return {};
  has_choice_ = true;
  // Some servers send both: the message so far with each delta, or an empty delta with the message.
  whole |= !json_at(choice, "delta").is_object() && json_at(choice, "message").is_object();
  read_message(json_at(choice, whole ? "message" : "delta"), whole);
  read_finish(choice, whole);
  return {};
}

void ResponseReader::read_finish(const Json& choice, bool whole) {
  const auto* finish = json_at(choice, "finish_reason").if_string();
  if (finish == nullptr || (!whole && finish->empty())) return;  // some servers say "" until the stream's end
  has_finish_ = true;
  builder_.response.finish_raw = *finish;
  builder_.response.finish = finish_from(*finish);
}

void ResponseReader::read_stated_usage(const Json& chunk) {
  read_usage(json_at(json_at(chunk, "x_groq"), "usage"));
  read_usage(json_at(chunk, "usage"));
}

void ResponseReader::read_usage(const Json& usage) {
  if (!usage.is_object()) return;
  has_usage_ = true;
  builder_.response.usage =
      chat::read_usage(usage);  // not added up: some servers repeat the usage in every chunk
}

void ResponseReader::read_message(const Json& message, bool whole) {
  if (!message.is_object()) return;
  read_reasoning(message);
  read_content(json_at(message, kContent));
  if (const std::string_view refusal = json_text(message, "refusal"); !refusal.empty()) add_refusal(refusal);
  read_tool_calls(json_at(message, "tool_calls"), whole);
  if (const Json& legacy = json_at(message, "function_call"); legacy.is_object()) {
    read_tool_calls(JsonArray{JsonObject{{"index", 0}, {"function", legacy}}}, false);
  }
  if (const JsonArray* images = json_at(message, "images").if_array()) {
    for (const Json& image : *images) read_content_part(image);
  }
  read_audio(json_at(message, "audio"));
  read_annotations(json_at(message, "annotations"));
  if (const Json& extra = json_at(message, "extra_content"); !extra.is_null()) extra_content_ = extra;
}

/// Several fields may carry the same text: the first non-empty one counts.
void ResponseReader::read_reasoning(const Json& message) {
  bool shown = false;
  for (const std::string_view field : kReasoningFields) {
    const std::string_view text = json_text(message, field);
    if (text.empty() || shown) continue;
    shown = true;
    add_reasoning(text, field);
  }
  read_details(json_at(message, "reasoning_details"), shown);
}

void ResponseReader::read_details(const Json& details, bool shown) {
  const JsonArray* list = details.if_array();
  if (list == nullptr || list->empty()) return;
  if (details_.empty() && reasoning_field_.empty())
    last<ReasoningPart>();  // opens a part: encrypted reasoning has no text
  for (const Json& detail : *list) {
    merge_detail(details_, detail);
    for (const std::string_view text : {"text", "summary"}) {
      if (!shown) add_reasoning(json_text(detail, text), {});
    }
  }
}

/// Reads content: a string, or a list of text and thinking parts.
void ResponseReader::read_content(const Json& content) {
  if (const auto* text = content.if_string(); text != nullptr && !text->empty()) {
    return add_text(*text);
  }
  if (const JsonArray* parts = content.if_array()) {
    for (const Json& part : *parts) read_content_part(part);
  }
}

void ResponseReader::read_content_part(const Json& part) {
  const Json& thinking = json_at(part, "thinking");
  const std::string_view image = json_text(json_at(part, "image_url"), "url");
  if (const JsonArray* thoughts = thinking.if_array()) {
    for (const Json& thought : *thoughts) add_reasoning(json_text(thought, "text"), kContentField);
  } else if (const auto* thought = thinking.if_string()) {
    add_reasoning(*thought, kContentField);
  } else if (json_text(part, "type") == "text") {
    add_text(json_text(part, "text"));
  } else if (!image.empty()) {
    builder_.open(image_from(image));
  } else {
    builder_.open(OpaquePart{json_string(part, "type"), builder_.state(to_json_text(part))});
  }
}

void ResponseReader::read_tool_calls(const Json& calls, bool whole) {
  const JsonArray* list = calls.if_array();
  if (list == nullptr) return;
  for (const Json& call : *list) {
    if (const auto fragment = read_call(call)) calls_.add(*fragment, whole);
  }
}

void ResponseReader::read_annotations(const Json& annotations) {
  const JsonArray* list = annotations.if_array();
  if (list == nullptr) return;
  for (const Json& annotation : *list) {
    const Json& nested = json_at(annotation, "url_citation");
    const Json& citation = nested.is_object() ? nested : annotation;
    if (Citation made{json_string(citation, "url"), json_string(citation, "title"),
                      json_string(citation, kContent)};
        !made.url.empty()) {
      citations_.push_back(std::move(made));
    }
  }
}

/// Reads the sources of the whole answer, which servers repeat in every chunk, as plain URLs or with search
/// results.
void ResponseReader::read_sources(const Json& chunk) {
  std::vector<Citation> sources;
  const JsonArray* results = json_at(chunk, "search_results").if_array();
  const JsonArray* addresses = json_at(chunk, "citations").if_array();
  if (results != nullptr && !results->empty()) {
    for (const Json& result : *results) {
      sources.push_back(
          {json_string(result, "url"), json_string(result, "title"), json_string(result, "snippet")});
    }
  } else if (addresses != nullptr) {
    for (const Json& address : *addresses) {
      if (const auto* url = address.if_string()) sources.push_back({std::string(*url), {}, {}});
    }
  }
  if (!sources.empty()) sources_ = std::move(sources);
}

/// Audio and its transcript arrive in pieces; some servers send the field, empty, with every message.
void ResponseReader::read_audio(const Json& audio) {
  const JsonObject* fields = audio.if_object();
  if (fields == nullptr || (json_text(audio, "data").empty() && json_text(audio, "id").empty() &&
                            json_text(audio, "transcript").empty())) {
    return;
  }
  for (const auto& [name, value] : *fields) {
    Json& field = audio_[name];
    if (name != "id" && field.is_string() && value.is_string()) {
      field.get_string() += value.get_string();
    } else {
      field = value;
    }
  }
  add_text(json_text(audio, "transcript"));
}

template <class Kind>
std::size_t ResponseReader::last() {
  const std::vector<Part>& parts = builder_.response.parts;
  if (!parts.empty() && std::holds_alternative<Kind>(parts.back())) return parts.size() - 1;
  return builder_.open(Kind{});
}

void ResponseReader::add_text(std::string_view text) {
  if (text.empty()) return;
  if (!dialect_.think_tags) return builder_.text(last<TextPart>(), text);
  think_tags_.feed(text, [this](const ThinkTags::Piece& piece) { add_piece(piece); });
}

void ResponseReader::add_piece(const ThinkTags::Piece& piece) {
  if (!piece.is_reasoning) return builder_.text(last<TextPart>(), piece.text);
  add_reasoning(piece.text, {});
}

void ResponseReader::add_reasoning(std::string_view text, std::string_view field) {
  if (text.empty()) return;
  if (reasoning_field_.empty()) reasoning_field_ = field;
  builder_.reasoning(last<ReasoningPart>(), text);
}

void ResponseReader::add_refusal(std::string_view text) { builder_.text(last<RefusalPart>(), text); }

/// Stores what must be sent back with the message in its first reasoning part.
void ResponseReader::settle_reasoning() {
  std::vector<Part>& parts = builder_.response.parts;
  const auto is_reasoning = [](const Part& part) { return std::holds_alternative<ReasoningPart>(part); };
  if (!extra_content_.is_null() && std::ranges::none_of(parts, is_reasoning)) builder_.open(ReasoningPart{});
  bool is_first = true;
  for (Part& part : parts) {
    auto* reasoning = std::get_if<ReasoningPart>(&part);
    if (reasoning == nullptr) continue;
    reasoning->vendor = builder_.state(is_first ? reasoning_state(reasoning_field_, details_, extra_content_)
                                                : reasoning_state(reasoning_field_, {}, nullptr));
    is_first = false;
  }
}

/// Adds the sources to the last text part, because they belong to the whole text.
void ResponseReader::settle_text() {
  if (!audio_.empty()) builder_.open(OpaquePart{std::string(kAudio), builder_.state(to_json_text(audio_))});
  std::vector<Citation>& citations = citations_.empty() ? sources_ : citations_;
  if (citations.empty()) return;
  for (auto part = builder_.response.parts.rbegin(); part != builder_.response.parts.rend(); ++part) {
    if (auto* text = std::get_if<TextPart>(&*part)) {
      text->citations = std::move(citations);
      return;
    }
  }
}

Result<ModelResponse> ResponseReader::finish() {
  if (error_) return fail(*error_);
  ModelResponse& response = builder_.response;
  if (!has_choice_ || !(done_ || has_finish_)) {
    return fail(model_error(ErrorKind::kTruncatedStream,
                            has_choice_ ? "truncated_stream: the answer breaks off before its end"
                                        : "truncated_stream: the answer is empty"));
  }
  if (response.finish == FinishReason::kError) {
    return fail(model_error(ErrorKind::kServer, "server: the vendor ended the answer with an error"));
  }
  think_tags_.finish([this](const ThinkTags::Piece& piece) { add_piece(piece); });
  calls_.finish();
  settle_reasoning();
  settle_text();
  response.usage.estimated = !has_usage_;
  settle_answer(response);
  return std::move(response);
}

}  // namespace praxis::wire::chat
