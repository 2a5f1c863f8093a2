#include "models/wire/responses/response.hpp"

#include <cmath>

#include "models/answer.hpp"
#include "models/vendor_error.hpp"

namespace praxis::wire::responses {
namespace {

constexpr double kTicksPerMicroUsd = 1e4;

Usage usage_from(const Json& json) {
  const Json& input = json_at(json, "input_tokens_details");
  Usage usage;
  usage.input = json_int(json, "input_tokens");
  usage.output = json_int(json, "output_tokens");
  usage.cache_read = json_int(input, "cached_tokens");
  usage.cache_write = json_int(input, "cache_write_tokens");
  usage.reasoning = json_int(json_at(json, "output_tokens_details"), "reasoning_tokens");
  usage.cost.value = std::llround(json_double(json, "cost") * 1e6 +
                                  json_double(json, "cost_in_usd_ticks") / kTicksPerMicroUsd);
  return usage;
}

FinishReason finish_from(std::string_view status, std::string_view reason) {
  if (status != "incomplete") return FinishReason::kStop;
  if (reason == "max_output_tokens") return FinishReason::kLength;
  return reason == "content_filter" ? FinishReason::kContentFilter : FinishReason::kOther;
}

Error error_from(const Json& json) {
  return vendor_error(read_error_envelope(json).value_or(ErrorEnvelope{}), 0);
}

bool is_pending(std::string_view status) { return status == "queued" || status == "in_progress"; }

bool is_error(std::string_view type, const Json& event) {
  return type == "error" || (type.empty() && !json_at(event, "error").is_null());
}

/// The final status reported by an event of this type; empty if the event does not end the response. Some
/// servers name every end event "completed" and state the actual status in the response.
std::string_view final_status(std::string_view type, const Json& response) {
  constexpr std::string_view kPrefix = "response.";
  if (!type.starts_with(kPrefix)) return {};
  type.remove_prefix(kPrefix.size());
  if (type == "incomplete" || type == "failed" || type == "cancelled") return type;
  if (type != "completed") return {};
  const std::string_view status = json_text(response, "status");
  return status.empty() || is_pending(status) ? type : status;
}

bool is_idle(std::string_view type) { return type.empty() || type == "ping" || type == "keepalive"; }

}  // namespace

Status ResponseReader::read_event(std::string_view name, std::string_view data) {
  if (data.empty() || data.starts_with(':') || data == "[DONE]") return {};
  const auto parsed = json_.parse(data);
  if (!parsed) return fail(parsed.error());
  const Json& event = **parsed;
  std::string_view type = json_text(event, "type");
  if (type.empty()) type = name;
  if (type == "response.created") start_over();
  if (done_) return {};
  if (is_error(type, event)) return fail(error_from(event));
  const Json& response = json_at(event, "response");
  read_facts(response);
  if (const std::string_view status = final_status(type, response); !status.empty())
    return read_end(response, status);
  const bool is_known =
      read_item(type, event, data) || read_content(type, event) || response.is_object() || is_idle(type);
  if (!is_known) answer_.provider_event(data);
  return {};
}

/// Some gateways send several responses in a row: the last one counts.
void ResponseReader::start_over() {
  if (!done_) return;
  answer_.response = {};
  has_usage_ = done_ = false;
}

bool ResponseReader::read_item(std::string_view type, const Json& event, std::string_view data) {
  const bool begins = type == "response.output_item.added";
  if (!begins && type != "response.output_item.done") return false;
  const Json& item = json_at(event, "item");
  if (!item.is_object()) return true;
  const bool numbered = json_at(event, "output_index").is_number();
  const std::int64_t index = begins && !numbered ? output_.next_index() : output_.index_of(event);
  if (begins ? output_.begin(index, item) : output_.settle(index, item)) answer_.provider_event(data);
  return true;
}

bool ResponseReader::read_content(std::string_view type, const Json& event) {
  constexpr std::string_view kPrefix = "response.";
  if (!type.starts_with(kPrefix)) return false;
  type.remove_prefix(kPrefix.size());
  const std::string_view delta = json_text(event, "delta");
  if (type == "output_text.delta" || type == "refusal.delta") {
    output_.text(event, delta, type == "refusal.delta");
  } else if (type == "reasoning_summary_text.delta" || type == "reasoning_text.delta") {
    output_.reasoning(event, delta, type == "reasoning_summary_text.delta");
  } else if (type == "function_call_arguments.delta") {
    output_.arguments(event, delta);
  } else if (type == "function_call_arguments.done") {
    output_.whole_arguments(event, json_text(event, "arguments"));
  } else if (type == "output_text.annotation.added") {
    output_.annotation(event, json_at(event, "annotation"));
  } else {  // part boundaries add nothing to the item events
    return type.starts_with("content_part.") || type == "output_text.done" || type == "refusal.done" ||
           type == "reasoning_text.done" || type.starts_with("reasoning_summary_");
  }
  return true;
}

void ResponseReader::read_facts(const Json& response) {
  ModelResponse& answer = answer_.response;
  if (const std::string_view id = json_text(response, "id"); !id.empty()) answer.response_id = id;
  if (const std::string_view model = json_text(response, "model"); !model.empty()) answer.model = model;
  if (const Json& usage = json_at(response, "usage"); usage.is_object()) {
    answer.usage = usage_from(usage);
    has_usage_ = true;
  }
}

Status ResponseReader::read_end(const Json& response, std::string_view status) {
  if (status == "failed" || status == "cancelled") {
    answer_.response.finish = FinishReason::kError;
    answer_.response.finish_raw = status;
  }
  if (status == "failed") return fail(error_from(response));
  if (status == "cancelled")
    return fail(model_error(ErrorKind::kServer, "server: the vendor cancelled the answer"));
  if (is_pending(status)) {
    return fail(model_error(ErrorKind::kProtocol,
                            "protocol: the vendor deferred the answer (status " + std::string(status) + ")"));
  }
  if (const JsonArray* output = json_at(response, "output").if_array()) output_.fill(*output);
  const std::string_view reason = json_text(json_at(response, "incomplete_details"), "reason");
  ModelResponse& answer = answer_.response;
  answer.finish = finish_from(status, reason);
  answer.finish_raw = status;
  if (status == "incomplete" && !reason.empty()) answer.finish_raw += ':' + std::string(reason);
  output_.close(status == "incomplete");
  done_ = true;
  return {};
}

Status ResponseReader::read_whole(std::string_view body) {
  return answer_.read_whole(body, [&](const Json& json) -> Status {
    if (!json_at(json, "output").is_array()) {
      if (const auto envelope = read_error_envelope(json)) return fail(vendor_error(*envelope, 0));
      return fail(model_error(ErrorKind::kProtocol, "protocol: the answer has no output: " + excerpt(body)));
    }
    read_facts(json);
    const std::string_view status = json_text(json, "status");
    if (status.empty() && json_at(json, "output").get_array().empty()) return {};
    return read_end(json, status.empty() ? "completed" : status);
  });
}

Result<ModelResponse> ResponseReader::finish() {
  if (!done_) {
    return fail(model_error(ErrorKind::kTruncatedStream,
                            answer_.response.parts.empty()
                                ? "truncated_stream: the answer is empty"
                                : "truncated_stream: the answer breaks off before its end"));
  }
  answer_.response.usage.estimated = !has_usage_;
  settle_answer(answer_.response);
  return std::move(answer_.response);
}

}  // namespace praxis::wire::responses
