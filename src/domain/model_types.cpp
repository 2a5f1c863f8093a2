#include "praxis/domain/model_types.hpp"

#include "domain/json_forms.hpp"

#include <array>
#include <utility>

namespace praxis {
namespace {

constexpr std::array<std::pair<FinishReason, std::string_view>, 11> kFinishNames{{
    {FinishReason::kStop, "stop"},
    {FinishReason::kLength, "length"},
    {FinishReason::kToolCalls, "tool_calls"},
    {FinishReason::kContentFilter, "content_filter"},
    {FinishReason::kRefusal, "refusal"},
    {FinishReason::kPause, "pause"},
    {FinishReason::kStopSequence, "stop_sequence"},
    {FinishReason::kContextWindow, "context_window"},
    {FinishReason::kMalformedToolCall, "malformed_tool_call"},
    {FinishReason::kError, "error"},
    {FinishReason::kOther, "other"},
}};

std::vector<std::string> texts_at(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  if (const JsonArray* list = json_at(json, key).if_array()) {
    for (const Json& text : *list) {
      if (text.is_string()) texts.emplace_back(text.get_string());
    }
  }
  return texts;
}

}  // namespace

std::string_view to_string(FinishReason reason) {
  for (const auto& [value, name] : kFinishNames) {
    if (value == reason) return name;
  }
  std::unreachable();
}

FinishReason finish_reason_from(std::string_view name) {
  for (const auto& [value, known] : kFinishNames) {
    if (known == name) return value;
  }
  return FinishReason::kOther;
}

Json to_json(const ModelOptions& options) {
  JsonObject out;
  if (options.temperature) out["temperature"] = *options.temperature;
  if (options.max_output_tokens) out["max_output_tokens"] = *options.max_output_tokens;
  if (!options.tool_choice.empty()) out["tool_choice"] = options.tool_choice;
  if (!options.reasoning_effort.empty()) out["reasoning_effort"] = options.reasoning_effort;
  if (!options.stop.empty()) out["stop"] = JsonArray(options.stop.begin(), options.stop.end());
  if (!options.output_schema.is_null()) out["output_schema"] = options.output_schema;
  if (!options.extra.is_null()) out["extra"] = options.extra;
  return out;
}

ModelOptions model_options_from_json(const Json& json) {
  ModelOptions options;
  if (json_at(json, "temperature").is_number()) options.temperature = json_double(json, "temperature");
  if (json_at(json, "max_output_tokens").is_int64())
    options.max_output_tokens = json_int(json, "max_output_tokens");
  options.tool_choice = json_string(json, "tool_choice");
  options.reasoning_effort = json_string(json, "reasoning_effort");
  options.stop = texts_at(json, "stop");
  options.output_schema = json_at(json, "output_schema");
  options.extra = json_at(json, "extra");
  return options;
}

void write(JsonFields& out, const ModelResponse& response) {
  out.objects("content", response.parts.size(),
              [&](std::size_t i, JsonFields& part) { write(part, response.parts[i]); });
  out.text("finish", to_string(response.finish));
  out.object("usage", [&](JsonFields& usage) { write_counts(usage, response.usage); });
  if (response.failed_usage.total() != 0) {
    out.object("failed_usage", [&](JsonFields& usage) { write_counts(usage, response.failed_usage); });
  }
  if (response.finish_raw != to_string(response.finish)) out.text("finish_raw", response.finish_raw);
  out.text_if_any("model", response.model);
  out.text_if_any("response_id", response.response_id);
  out.text_if_any("request_id", response.request_id);
  if (!response.warnings.empty())
    out.value("warnings", JsonArray(response.warnings.begin(), response.warnings.end()));
}

Json to_json(const ModelResponse& response) {
  return object_of([&](JsonFields& out) { write(out, response); });
}

Result<ModelResponse> model_response_from_json(const Json& json) {
  ModelResponse response;
  const Json& content = json_at(json, "content");
  if (!content.is_array()) return fail(ErrorCode::kInput, "model response: \"content\" must be an array");
  for (const Json& item : content.get_array()) {
    auto part = part_from_json(item);
    if (!part) return fail(part.error());
    response.parts.push_back(*std::move(part));
  }
  response.finish = finish_reason_from(json_string(json, "finish"));
  response.finish_raw = json_string(json, "finish_raw", to_string(response.finish));
  response.usage = usage_from_json(json_at(json, "usage"));
  response.failed_usage = usage_from_json(json_at(json, "failed_usage"));
  response.model = json_string(json, "model");
  response.response_id = json_string(json, "response_id");
  response.request_id = json_string(json, "request_id");
  response.warnings = texts_at(json, "warnings");
  return response;
}

}  // namespace praxis
