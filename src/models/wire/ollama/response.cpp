#include "models/wire/ollama/response.hpp"

#include "models/answer.hpp"
#include "models/vendor_error.hpp"

namespace praxis::wire::ollama {
namespace {

FinishReason finish_from(std::string_view raw) {
  if (raw.empty() || raw == "stop") return FinishReason::kStop;  // old servers report no reason
  if (raw == "length") return FinishReason::kLength;
  return FinishReason::kOther;
}

}  // namespace

Status ResponseReader::read_event(std::string_view, std::string_view line) {
  if (done_) return {};
  const auto parsed = json_.parse(line);
  if (!parsed) return fail(parsed.error());
  const Json& json = **parsed;
  const Json& message = json_at(json, "message");
  if (!json_at(json, "error").is_null() || !message.is_object()) {
    if (const auto envelope = read_error_envelope(json)) return fail(vendor_error(*envelope, 0));
  }
  if (builder_.response.model.empty()) builder_.response.model = json_text(json, "model");
  if (message.is_object()) read_message(message);
  if (json_bool(json, "done")) read_end(json);
  return {};
}

/// The number of the last part if it is of this kind, else of a new part.
template <class Wanted>
std::size_t ResponseReader::last_or_new(Part part) {
  const std::vector<Part>& parts = builder_.response.parts;
  const bool continues = !parts.empty() && std::holds_alternative<Wanted>(parts.back());
  return continues ? parts.size() - 1 : builder_.open(std::move(part));
}

void ResponseReader::read_message(const Json& message) {
  has_message_ = true;
  if (const std::string_view thought = json_text(message, "thinking"); !thought.empty()) {
    builder_.reasoning(last_or_new<ReasoningPart>(ReasoningPart{{}, {}, builder_.state("{}")}), thought);
  }
  if (const std::string_view text = json_text(message, "content"); !text.empty()) {
    builder_.text(last_or_new<TextPart>(TextPart{}), text);
  }
  const JsonArray* calls = json_at(message, "tool_calls").if_array();
  if (calls == nullptr) return;
  for (const Json& call : *calls) read_call(call);
}

/// A call is always complete; older servers set no id.
void ResponseReader::read_call(const Json& call) {
  const Json& function = json_at(call, "function");
  if (!function.is_object()) return;
  const std::size_t item = builder_.open(ToolCallPart{});
  builder_.name_call(item, json_text(call, "id"), json_text(function, "name"));
  builder_.arguments(item, to_plain_text(json_at(function, "arguments")));
}

void ResponseReader::read_end(const Json& line) {
  done_ = true;
  ModelResponse& response = builder_.response;
  response.finish_raw = json_text(line, "done_reason");
  response.finish = finish_from(response.finish_raw);
  has_usage_ = json_at(line, "prompt_eval_count").is_number() || json_at(line, "eval_count").is_number();
  response.usage.input = json_int(line, "prompt_eval_count");
  response.usage.output = json_int(line, "eval_count");
}

Result<ModelResponse> ResponseReader::finish() {
  if (!done_) {
    return fail(model_error(ErrorKind::kTruncatedStream,
                            has_message_ ? "truncated_stream: the answer breaks off before its end"
                                         : "truncated_stream: the answer is empty"));
  }
  builder_.response.usage.estimated = !has_usage_;
  settle_answer(builder_.response);
  return std::move(builder_.response);
}

}  // namespace praxis::wire::ollama
