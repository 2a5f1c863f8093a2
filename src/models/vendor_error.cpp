#include "models/vendor_error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "base/ascii.hpp"
#include "praxis/base/dates.hpp"
#include "praxis/models/model.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxMessage = 2000;
constexpr std::size_t kMaxWord = 200;
constexpr std::size_t kMaxKeptBody = 4000;
constexpr std::string_view kReportedUsage = "usage";
constexpr double kMaxDelayMs = 365.0 * 24 * 3600 * 1000;

struct Signal {
  std::string_view word;
  std::string_view kind;
};

// Words in error codes, types and status names that determine the kind, for every HTTP status.
constexpr std::array kCodes{
    Signal{"context_length_exceeded", "context_overflow"},
    Signal{"exceed_context_size", "context_overflow"},
    Signal{"too_many_prompt_tokens", "context_overflow"},
    Signal{"request_too_large", "context_overflow"},
    Signal{"insufficient_quota", "billing"},
    Signal{"billing", "billing"},
    Signal{"invalid_api_key", "auth"},
    Signal{"api_key_invalid", "auth"},
    Signal{"authentication_error", "auth"},
    Signal{"model_not_found", "not_found"},
    Signal{"invalid_model", "not_found"},
    Signal{"content_filter", "content_policy"},
    Signal{"content_policy", "content_policy"},
    Signal{"responsibleaipolicy", "content_policy"},
    Signal{"invalid_prompt", "content_policy"},
    Signal{"bio_policy", "content_policy"},
};
// Phrases in messages that determine the kind.
constexpr std::array kPhrases{
    Signal{"maximum context length", "context_overflow"},
    Signal{"prompt is too long", "context_overflow"},
    Signal{"prompt too long", "context_overflow"},
    Signal{"input token count", "context_overflow"},
    Signal{"maximum prompt length", "context_overflow"},
    Signal{"reduce the length of the messages", "context_overflow"},
    Signal{"request too large", "context_overflow"},
    Signal{"exceeds the available context size", "context_overflow"},
    Signal{"credit balance is too low", "billing"},
    Signal{"extra usage is required", "billing"},
    Signal{"incorrect api key", "auth"},
    Signal{"api key not valid", "auth"},
    Signal{"not a valid model", "not_found"},
};
// Words and phrases for which a changed request can succeed, and the change.
constexpr std::array kChangeCodes{
    Signal{"tool_use_failed", "note"},
    Signal{"previous_response_not_found", "full_history"},
};
constexpr std::array kChangePhrases{
    Signal{"schema is too complex", "non_strict"},
    Signal{"schemas are too complex", "non_strict"},
    Signal{"strict tool", "non_strict"},
};
// Words that determine the kind if there is no HTTP status: errors inside a stream.
constexpr std::array kStreamCodes{
    Signal{"overloaded", "overloaded"},
    Signal{"unavailable", "overloaded"},
    Signal{"rate_limit", "rate_limit"},
    Signal{"ratelimit", "rate_limit"},
    Signal{"too_many_requests", "rate_limit"},
    Signal{"resource_exhausted", "rate_limit"},
    Signal{"timeout", "timeout"},
    Signal{"invalid_request", "invalid_request"},
    Signal{"tool_use_failed", "invalid_request"},
    Signal{"permission", "auth"},
    Signal{"not_found", "not_found"},
};

std::string_view find_signal(std::string_view lowered, std::span<const Signal> signals) {
  const auto hit = std::ranges::find_if(signals, [&](const Signal& s) { return lowered.contains(s.word); });
  return hit == signals.end() ? std::string_view{} : hit->kind;
}

std::string_view kind_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return "auth";
    case 402:
      return "billing";
    case 404:
      return "not_found";
    case 408:
      return "timeout";
    case 409:
      return "server";
    case 413:
      return "context_overflow";
    case 429:
      return "rate_limit";
    case 503:
    case 529:
      return "overloaded";
    default:
      if (status >= 500) return "server";
      return status >= 400 ? "invalid_request" : "protocol";
  }
}

/// The number after `word`, as in "Limit 7000, Used 0, Requested ~12903"; 0 if there is no number.
std::int64_t number_after(std::string_view lowered, std::string_view word) {
  const std::size_t at = lowered.find(word);
  if (at == std::string_view::npos) return 0;
  lowered.remove_prefix(at + word.size());
  lowered.remove_prefix(std::min(lowered.size(), lowered.find_first_not_of(" ~:")));
  std::int64_t value = 0;
  std::from_chars(lowered.data(), lowered.data() + lowered.size(), value);
  return value;
}

/// Whether this request alone exceeds a rate limit: waiting cannot help.
bool never_fits(std::string_view lowered) {
  const std::int64_t limit = number_after(lowered, " limit ");
  return limit > 0 && number_after(lowered, "requested ") > limit;
}

std::string_view kind_of(std::string_view code, std::string_view message, const ErrorEnvelope& envelope,
                         int status) {
  if (const auto kind = find_signal(code, kCodes); !kind.empty()) return kind;
  if (const auto kind = find_signal(message, kPhrases); !kind.empty()) return kind;
  if (never_fits(message)) return "context_overflow";
  if (status >= 300) return kind_of_status(status);
  if (envelope.status >= 400 && envelope.status < 600) return kind_of_status(envelope.status);
  if (const auto kind = find_signal(code, kStreamCodes); !kind.empty()) return kind;
  return "server";
}

/// The change to the request that makes a retry worthwhile; empty if unknown.
std::string_view change_for(std::string_view kind, std::string_view code, std::string_view message) {
  if (kind == "context_overflow") return "compact";
  if (const auto change = find_signal(code, kChangeCodes); !change.empty()) return change;
  if (message.starts_with("item with id") && message.contains("not found")) return "full_history";
  return kind == "invalid_request" ? find_signal(message, kChangePhrases) : std::string_view{};
}

std::string bounded(std::string_view text, std::size_t limit) {
  return text.size() <= limit ? repair_utf8(text) : repair_utf8(text.substr(0, limit)) + "...";
}

/// Parses "Please try again in 1m2.5s.", "Please retry in 48.9s."
std::optional<std::int64_t> delay_in_text(std::string_view text) {
  for (const std::string_view phrase : {"try again in ", "retry in "}) {
    const std::size_t at = text.find(phrase);
    if (at == std::string_view::npos) continue;
    std::string_view delay = text.substr(at + phrase.size());
    delay = delay.substr(0, delay.find_first_not_of("0123456789.hms"));
    while (delay.ends_with('.')) delay.remove_suffix(1);
    if (const auto ms = parse_duration_ms(delay)) return ms;
  }
  return std::nullopt;
}

void add_word(std::string& words, std::string_view word) {
  if (word.empty()) return;
  if (!words.empty()) words += ' ';
  words += word;
}

/// The `detail` field of web frameworks: a string, or a list of `{loc, msg}`.
std::string detail_text(const Json& detail) {
  if (const auto* text = detail.if_string()) return std::string(*text);
  const JsonArray* list = detail.if_array();
  if (list == nullptr) return to_json_text(detail);
  std::string out;
  for (const Json& item : *list) {
    if (!out.empty()) out += "; ";
    out += json_string(item, "msg");
    if (const Json& where = json_at(item, "loc"); !where.is_null()) out += " at " + to_json_text(where);
  }
  return out;
}

void read_message(ErrorEnvelope& out, const Json& message) {
  if (const auto* text = message.if_string()) {
    out.message = *text;
    if (!out.message.starts_with('{')) return;
    if (const auto nested = parse_json(out.message)) {  // a nested envelope
      if (auto inner = read_error_envelope(*nested)) out = *std::move(inner);
    }
  } else if (const Json& detail = json_at(message, "detail"); !detail.is_null()) {
    out.message = detail_text(detail);
  } else if (message.is_object()) {
    out.message = to_json_text(message);
  }
}

/// Parses text that is exactly one finite number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(static_cast<double>(value)))
    return std::nullopt;
  return value;
}

/// Gemini's `details`: the reason, the quota and the delay.
void read_details(ErrorEnvelope& out, const Json& details) {
  const JsonArray* list = details.if_array();
  if (list == nullptr) return;
  for (const Json& item : *list) {
    if (const auto delay = parse_duration_ms(json_string(item, "retryDelay"))) out.retry_after_ms = delay;
    if (to_json_text(item).contains("PerDay")) add_word(out.words, "insufficient_quota");
    add_word(out.words, json_text(item, "reason"));
  }
}

/// Codes are words, numbers, or quoted numbers.
void read_code(ErrorEnvelope& out, const Json& error) {
  const Json& code = json_at(error, "code");
  if (!code.is_string() && !code.is_number()) return;
  out.code = code;
  const auto number =
      code.is_number() ? json_int(error, "code") : parse_number<int>(json_text(error, "code"));
  out.status = static_cast<int>(std::clamp<std::int64_t>(number.value_or(0), 0, 999));
}

void read_fields(ErrorEnvelope& out, const Json& error) {
  read_code(out, error);
  if (const int raw = static_cast<int>(std::clamp<std::int64_t>(json_int(error, "raw_status_code"), 0, 999)))
    out.status = raw;
  for (const std::string_view key : {"type", "status"}) {
    const std::string_view word = json_text(error, key);
    if (out.type.empty() && word != "error") out.type = word;  // "error" is the event's name
  }
  read_details(out, json_at(error, "details"));
  add_word(out.words, json_text(json_at(error, "innererror"), "code"));
  if (const std::string_view raw = json_text(json_at(error, "metadata"), "raw"); !raw.empty()) {
    out.message.append(": ").append(raw);
  }
}

std::int64_t clamp_delay(double ms) {
  return static_cast<std::int64_t>(std::ceil(std::clamp(ms, 0.0, kMaxDelayMs)));
}

}  // namespace

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == std::string_view::npos) return std::nullopt;
    const auto number = parse_number<double>(text.substr(0, digits));
    text.remove_prefix(digits);
    const auto unit = std::ranges::find_if(kUnits, [&](const auto& u) { return text.starts_with(u.first); });
    if (!number || unit == kUnits.end()) return std::nullopt;
    total += *number * unit->second;
    text.remove_prefix(unit->first.size());
  }
  return clamp_delay(total);
}

std::optional<std::int64_t> retry_after_header(const HttpHeaders& headers) {
  if (const auto text = find_header(headers, "retry-after-ms")) {
    if (const auto ms = parse_number<double>(*text)) return clamp_delay(*ms);
  }
  const auto text = find_header(headers, "retry-after");
  if (!text) return std::nullopt;
  if (const auto seconds = parse_number<double>(*text)) return clamp_delay(*seconds * 1000);
  const auto until = from_http_date(*text);
  const auto now = from_http_date(find_header(headers, "date").value_or(""));
  if (!until || !now) return std::nullopt;
  return clamp_delay(static_cast<double>(until->value - now->value));
}

std::string request_id(const HttpHeaders& headers) {
  for (const std::string_view name :
       {"x-request-id", "request-id", "mistral-correlation-id", "x-ds-trace-id", "apim-request-id"}) {
    if (const auto id = find_header(headers, name)) return bounded(*id, kMaxWord);
  }
  return {};
}

std::optional<ErrorEnvelope> read_error_envelope(const Json& json) {
  if (const JsonArray* list = json.if_array()) {
    return list->empty() || !list->front().is_object() ? std::nullopt : read_error_envelope(list->front());
  }
  if (!json.is_object()) return std::nullopt;
  ErrorEnvelope out;
  const Json& error = json_at(json, "error");
  if (error.is_object()) {
    read_message(out, json_at(error, "message"));
    read_fields(out, error);
    return out;
  }
  const Json& message = json_at(json, "message");
  const Json& detail = json_at(json, "detail");
  if (error.is_string()) {
    read_message(out, error);
  } else if (!detail.is_null()) {
    out.message = detail_text(detail);
  } else if (message.is_string() || !json_at(message, "detail").is_null()) {
    read_message(out, message);
  } else {
    return std::nullopt;
  }
  read_fields(out, json);
  return out;
}

Error model_error(std::string_view kind, std::string message) {
  constexpr std::array<std::string_view, 6> kRetriable{"rate_limit", "overloaded", "server",
                                                       "network",    "timeout",    "truncated_stream"};
  Error error{ErrorCode::kModel, std::move(message), std::ranges::find(kRetriable, kind) != kRetriable.end(),
              nullptr, nullptr};
  error.detail = JsonObject{{"kind", kind}};
  return error;
}

Error vendor_error(const ErrorEnvelope& envelope, int status) {
  std::string code = lower_case(envelope.type);
  if (const auto* text = envelope.code.if_string()) add_word(code, lower_case(*text));
  add_word(code, lower_case(envelope.words));
  const std::string said = lower_case(envelope.message);
  const std::string_view kind = kind_of(code, said, envelope, status);
  std::string message(kind);
  if (status >= 300) message += " (status " + std::to_string(status) + ")";
  const std::string words = bounded(envelope.message, kMaxMessage);
  if (!words.empty()) message += ": " + words;
  Error error = model_error(kind, std::move(message));
  JsonObject& detail = error.detail.get_object();
  if (const int known = status >= 300 ? status : envelope.status; known != 0) detail["status"] = known;
  if (!envelope.type.empty()) detail["type"] = bounded(envelope.type, kMaxWord);
  if (const auto* text = envelope.code.if_string()) {
    detail["code"] = bounded(*text, kMaxWord);
  } else if (!envelope.code.is_null()) {
    detail["code"] = envelope.code;
  }
  if (!words.empty()) detail["message"] = words;
  if (const auto change = change_for(kind, code, said); !change.empty()) detail["change"] = change;
  const auto delay = envelope.retry_after_ms ? envelope.retry_after_ms : delay_in_text(envelope.message);
  if (delay) detail["retry_after_ms"] = *delay;
  return error;
}

void add_headers(Error& error, const HttpHeaders& headers) {
  JsonObject& detail = error.detail.get_object();
  if (const auto delay = retry_after_header(headers)) detail["retry_after_ms"] = *delay;
  if (const std::string id = request_id(headers); !id.empty()) detail["request_id"] = id;
  if (const auto should = find_header(headers, "x-should-retry")) {
    if (*should == "true" || *should == "false") error.retriable = *should == "true";
  }
}

Error http_error(const HttpResponseHead& head, std::string_view body) {
  const auto json = parse_json(body);
  auto envelope = json ? read_error_envelope(*json) : std::nullopt;
  Error error = vendor_error(envelope.value_or(ErrorEnvelope{}), head.status);
  if (!envelope) error.detail.get_object()["body"] = bounded(body, kMaxKeptBody);
  add_headers(error, head.headers);
  return error;
}

Error transport_error(const Error& error, bool answering) {
  if (error.code != ErrorCode::kModel) return error;
  const std::string cause = json_string(error.detail, "kind");
  std::string_view kind = answering ? "truncated_stream" : "network";
  if (cause.starts_with("timeout")) kind = "timeout";
  if (cause == "protocol" || cause == "too_large") kind = "protocol";
  Error out = model_error(kind, std::string(kind) + ": " + error.message);
  out.retriable = error.retriable;
  out.detail.get_object()["transport"] = cause;
  return out;
}

void report_usage(Error& error, const Usage& usage) {
  if (usage.total() == 0 && usage.cost.value == 0) return;
  if (!error.detail.is_object()) error.detail.emplace_object();
  error.detail.get_object()[kReportedUsage] = to_json(usage);
}

std::optional<Usage> take_reported_usage(Error& error) {
  JsonObject* detail = error.detail.if_object();
  const Json* stated = detail == nullptr ? nullptr : detail->if_contains(kReportedUsage);
  if (stated == nullptr) return std::nullopt;
  const Usage usage = usage_from_json(*stated);
  detail->erase(kReportedUsage);
  if (detail->empty()) error.detail = nullptr;
  return usage;
}

bool may_have_cost(const Error& error) {
  constexpr std::array<std::string_view, 4> kBrokeOff{"network", "timeout", "truncated_stream", "protocol"};
  constexpr std::array<std::string_view, 5> kNotSent{"dns", "connect", "proxy", "tls", "timeout_connect"};
  if (error.code == ErrorCode::kCancelled) return true;
  return std::ranges::count(kBrokeOff, json_text(error.detail, "kind")) != 0 &&
         std::ranges::count(kNotSent, json_text(error.detail, "transport")) == 0;
}

}  // namespace praxis
