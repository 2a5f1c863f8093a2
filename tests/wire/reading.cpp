#include "wire/reading.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "models/answer.hpp"

namespace praxis::wire {
namespace {

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    out += kDigits[digest[i] >> 4U];
    out += kDigits[digest[i] & 15U];
  }
  return out;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Returns `text`, or its length and digest if it is longer than `limit` characters.
Json shortened(std::string_view text, std::size_t limit) {
  const std::size_t length = characters(text);
  if (length <= limit) return Json(text);
  return JsonObject{{"len", length}, {"sha256", sha256_hex(text)}};
}
Json shortened_text(std::string_view text) { return shortened(text, 300); }
Json shortened_seal(std::string_view text) { return shortened(text, 64); }

Json or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

/// Returns the protocol's name on the wire.
std::string_view wire_name(std::string_view api) {
  if (api == "responses") return "openai-responses";
  if (api == "messages") return "anthropic-messages";
  if (api == "gemini") return "gemini-generate";
  return api == "ollama" ? "ollama-chat" : "openai-chat";
}

/// Returns the vendor's state of a part.
Json raw_of(const VendorStatePtr& state) {
  if (!state) return nullptr;
  auto json = parse_json(state->raw);
  if (!json) return Json(state->raw);
  const Json& item = json_at(*json, "item");  // the vendor's item, if more than it is kept
  return item.is_object() ? item : *json;
}

std::string_view first_text(const Json& json, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view text = json_text(json, key); !text.empty()) return text;
  }
  return {};
}

std::vector<std::string> summaries_of(const ReasoningPart& part, const Json& raw) {
  std::vector<std::string> out;
  if (const JsonArray* list = json_at(raw, "summary").if_array()) {
    for (const Json& entry : *list) out.push_back(json_string(entry, "text"));
  } else if (!part.summary.empty()) {
    out.push_back(part.summary);
  }
  return out;
}

std::string_view visible_id(const ToolCallPart& call) {
  return call.id.value.starts_with(kInventedCall) ? std::string_view{} : std::string_view(call.id.value);
}

/// Returns the arguments as JSON; null if they are not valid.
Json arguments_of(const ToolCallPart& call) {
  const std::string_view text = arguments_or_empty(call.arguments);
  if (text == "{}" && call.arguments.contains("null")) return nullptr;
  auto json = parse_json(text);
  return json ? *std::move(json) : Json();
}

/// Describes parts in the terms of the lines.
class Items {
 public:
  explicit Items(std::string_view api) : api_(api) {}

  void operator()(const TextPart& part) {
    text_ += part.text;
    const Json raw = raw_of(part.vendor);
    const std::string_view signature = signature_of(raw);
    if (part.text.empty() && !signature.empty()) {
      items_.push_back(JsonObject{{"type", "signature_only"}, {"signature", shortened_seal(signature)}});
      return;
    }
    JsonObject item{{"type", "text"}, {"text", shortened_text(part.text)}};
    if (api_ == "messages") item["citations"] = part.citations.size();
    if (!signature.empty()) item["signature"] = shortened_seal(signature);
    items_.push_back(std::move(item));
  }
  void operator()(const ReasoningPart& part) {
    const Json raw = raw_of(part.vendor);
    const std::string shown = api_ == "responses" ? part.text : part.summary + part.text;
    JsonObject item{{"type", "reasoning"}, {"text", shortened_text(shown)}};
    if (api_ == "responses") {
      JsonArray summary;
      for (const std::string& entry : summaries_of(part, raw)) {
        reasoning_ += entry;
        summary.emplace_back(entry);
      }
      item["summary"] = std::move(summary);
      item["id"] = or_null(first_text(raw, {"id", "item_id"}));
    }
    reasoning_ += shown;
    if (const auto seal = first_text(raw, {"encrypted_content", "encrypted"}); !seal.empty())
      item["encrypted"] = shortened_seal(seal);
    if (const auto seal = first_text(raw, {"data", "redacted"}); !seal.empty())
      item["redacted"] = shortened_seal(seal);
    if (const auto seal = signature_of(raw); !seal.empty()) item["signature"] = shortened_seal(seal);
    const bool is_bare = api_ == "chat" && shown.empty();  // only holds the vendor's state
    if (!is_bare) items_.push_back(std::move(item));
  }
  void operator()(const ToolCallPart& part) {
    const Json raw = raw_of(part.vendor);
    calls_.push_back(
        JsonObject{{"id", visible_id(part)}, {"name", part.name}, {"arguments", arguments_of(part)}});
    JsonObject item{{"type", "tool_call"}, {"id", visible_id(part)}, {"name", part.name}};
    if (api_ == "responses") item["item_id"] = or_null(first_text(raw, {"id", "item_id"}));
    if (const auto seal = signature_of(raw); api_ == "gemini" && !seal.empty())
      item["signature"] = shortened_seal(seal);
    const bool parses = parse_json(arguments_or_empty(part.arguments)).has_value();
    item["arguments_valid"] = parses;
    if (!parses) item["arguments_raw"] = part.arguments;
    items_.push_back(std::move(item));
  }
  void operator()(const RefusalPart& part) { refusal_ += part.text; }
  void operator()(const OpaquePart& part) { native(part.kind, part.vendor); }
  void operator()(const CompactionPart& part) { native("compaction", part.vendor); }
  void operator()(const ImagePart& part) {
    native(part.source.data.empty() ? "fileData" : "inlineData", part.vendor);
  }
  void operator()(const FilePart& part) {
    native(part.source.data.empty() ? "fileData" : "inlineData", part.vendor);
  }
  void operator()(const ToolResultPart&) {}

  void write(JsonObject& line) && {
    line["text"] = std::move(text_);
    line["reasoning_text"] = std::move(reasoning_);
    line["tool_calls"] = std::move(calls_);
    line["refusal"] = or_null(refusal_);
    line["items"] = std::move(items_);
  }

 private:
  static std::string_view signature_of(const Json& raw) {
    return raw.is_string() ? std::string_view(raw.get_string())
                           : first_text(raw, {"signature", "thoughtSignature", "thought_signature"});
  }
  void native(std::string_view kind, const VendorStatePtr& vendor) {
    JsonObject item{{"type", "provider_item"}, {"item_type", kind}};
    if (api_ != "gemini") item["id"] = or_null(first_text(raw_of(vendor), {"id", "tool_use_id"}));
    items_.push_back(std::move(item));
  }

  const std::string_view api_;
  std::string text_, reasoning_, refusal_;
  JsonArray calls_, items_;
};

Json usage_line(const Usage& usage, bool broken_off) {
  if (usage.estimated || (broken_off && usage == Usage{})) return nullptr;
  return JsonObject{{"input_total", usage.input},
                    {"cache_read", usage.cache_read},
                    {"cache_write", usage.cache_write},
                    {"output_total", usage.output},
                    {"reasoning", usage.reasoning}};
}

/// A prompt that was refused has no finish of its own: derives one.
std::string_view finish_word(const ModelResponse& answer, const RecordedResponse& response) {
  const bool blocked = answer.finish == FinishReason::kContentFilter &&
                       response.body.contains("\"blockReason\"") &&
                       !response.body.contains("\"finishReason\"");
  return blocked ? std::string_view("content_filter") : std::string_view(answer.finish_raw);
}

/// A turn whose calls cannot run has still ended for them.
std::string_view finish_name(const ModelResponse& answer, bool has_calls) {
  const bool for_calls = answer.finish == FinishReason::kMalformedToolCall && has_calls;
  return for_calls ? "tool_calls" : to_string(answer.finish);
}

/// Whether the endpoint reported an error; otherwise its response merely has no proper end or form.
bool is_vendors(const Error& error, int status) {
  constexpr std::array<std::string_view, 3> kWords{"message", "type", "code"};
  return status < 200 || status >= 300 ||
         std::ranges::any_of(kWords, [&](auto word) { return !json_at(error.detail(), word).is_null(); });
}

/// Whether a response began well and then became invalid.
bool is_nonsense(const Reading& reading) {
  return reading.error->kind() == ErrorKind::kProtocol && !reading.answer.parts.empty();
}

Json error_line(const Reading& reading, int status) {
  const Error& error = *reading.error;
  const std::string_view type = is_nonsense(reading) ? "protocol_error" : json_text(error.detail(), "type");
  const std::string_view said = json_text(error.detail(), "message");
  return JsonObject{{"status", status >= 200 && status < 300 ? Json() : Json(status)},
                    {"type", or_null(type)},
                    {"code", json_at(error.detail(), "code")},
                    {"message", said.empty() ? std::string_view(error.message) : said}};
}

}  // namespace

Reading read_response(const Codec& codec, const HttpResponseHead& head,
                      std::span<const std::string_view> pieces) {
  AnswerParser parser(codec, {.call_prefix = std::string(kInventedCall)});
  parser.head(head);
  for (const std::string_view piece : pieces) parser.feed(piece);
  auto response = parser.finish({});
  if (response) return {*std::move(response), std::nullopt};
  return {parser.so_far(), std::move(response.error())};
}

Reading read_response(const Codec& codec, const RecordedResponse& response) {
  const std::array<std::string_view, 1> whole{response.body};
  return read_response(codec, response.head, whole);
}

Json line_of(const Reading& reading, const RecordedEndpoint& endpoint, const Exchange& exchange) {
  const ModelResponse& answer = reading.answer;
  const int status = exchange.response.head.status;
  JsonObject line{{"i", exchange.i},
                  {"api", wire_name(endpoint.api)},
                  {"status", status},
                  {"stream", exchange.response.is_stream()},
                  {"id", or_null(answer.response_id)},
                  {"model", or_null(answer.model)}};
  Items items(endpoint.api);
  for (const Part& part : answer.parts) std::visit(items, part);
  std::move(items).write(line);
  // Without a finish reason the end is only presumed; some servers send an empty one.
  const bool ended = !answer.finish_raw.empty() || (!reading.error && answer.finish == FinishReason::kOther);
  line["finish_raw"] = ended ? Json(finish_word(answer, exchange.response)) : Json();
  line["finish"] = ended ? Json(finish_name(answer, !line["tool_calls"].get_array().empty())) : Json();
  line["usage"] = usage_line(answer.usage, reading.error.has_value());
  line["error"] = nullptr;
  if (reading.error && (is_vendors(*reading.error, status) || is_nonsense(reading))) {
    line["error"] = error_line(reading, status);
  } else if (reading.error) {
    line["extra"] = JsonObject{{"broken_off", json_string(reading.error->detail(), "kind")},
                               {"message", reading.error->message}};
  }
  return line;
}

}  // namespace praxis::wire
