#include "models/vendor_error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <span>

namespace praxis {
namespace {

constexpr std::size_t kMaxMessage = 2000;
constexpr std::size_t kMaxKeptBody = 4000;
constexpr double kMaxDelayMs = 365.0 * 24 * 3600 * 1000;

struct Signal {
  std::string_view word;
  std::string_view kind;
};

// Words in codes, types and status names that decide whatever the HTTP status is.
constexpr std::array kCodes{
    Signal{"context_length_exceeded", "context_overflow"},
    Signal{"exceed_context_size", "context_overflow"},
    Signal{"too_many_prompt_tokens", "context_overflow"},
    Signal{"request_too_large", "context_overflow"},
    Signal{"insufficient_quota", "billing"},
    Signal{"billing", "billing"},
    Signal{"invalid_api_key", "auth"},
    Signal{"authentication_error", "auth"},
    Signal{"model_not_found", "not_found"},
    Signal{"invalid_model", "not_found"},
    Signal{"content_filter", "content_policy"},
    Signal{"content_policy", "content_policy"},
    Signal{"invalid_prompt", "content_policy"},
    Signal{"bio_policy", "content_policy"},
};
// Phrases of messages, which decide too.
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
// Words that name the kind where no HTTP status does: errors inside a stream.
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

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

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

std::string_view kind_of(const ErrorEnvelope& envelope, int status) {
  const std::string code = lower(envelope.code), message = lower(envelope.message);
  if (const auto kind = find_signal(code, kCodes); !kind.empty()) return kind;
  if (const auto kind = find_signal(message, kPhrases); !kind.empty()) return kind;
  if (status >= 300) return kind_of_status(status);
  if (envelope.status >= 400 && envelope.status < 600) return kind_of_status(envelope.status);
  if (const auto kind = find_signal(code, kStreamCodes); !kind.empty()) return kind;
  return "server";
}

std::string bounded(std::string_view text, std::size_t limit) {
  return text.size() <= limit ? repair_utf8(text) : repair_utf8(text.substr(0, limit)) + "...";
}

/// "Please try again in 1m2.5s."
std::optional<std::int64_t> delay_in_text(std::string_view text) {
  constexpr std::string_view kPhrase = "try again in ";
  const std::size_t at = text.find(kPhrase);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kPhrase.size());
  text = text.substr(0, text.find_first_not_of("0123456789.hms"));
  while (text.ends_with('.')) text.remove_suffix(1);
  return parse_duration_ms(text);
}

void add_word(std::string& words, std::string_view word) {
  if (word.empty()) return;
  if (!words.empty()) words += ' ';
  words += word;
}

/// `detail` of frameworks: a text, or a list of `{loc, msg}`.
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
    if (const auto nested = parse_json(out.message)) {  // an envelope in an envelope
      if (auto inner = read_error_envelope(*nested)) out = *std::move(inner);
    }
  } else if (message.is_object()) {
    out.message = json_at(message, "detail").is_null() ? to_json_text(message)
                                                       : detail_text(json_at(message, "detail"));
  }
}

void read_fields(ErrorEnvelope& out, const Json& error) {
  for (const std::string_view key : {"code", "type", "status"}) {
    const Json& field = json_at(error, key);
    if (const auto* text = field.if_string()) add_word(out.code, *text);
    if (field.is_number())
      out.status = static_cast<int>(std::clamp<std::int64_t>(json_int(error, key), 0, 999));
  }
  if (const Json* details = &json_at(error, "details"); details->is_array()) {
    for (const Json& item : details->get_array()) {
      if (const auto delay = parse_duration_ms(json_string(item, "retryDelay"))) out.retry_after_ms = delay;
      if (to_json_text(item).contains("PerDay")) add_word(out.code, "insufficient_quota");
    }
  }
  if (json_at(error, "innererror").is_object())
    add_word(out.code, json_string(json_at(error, "innererror"), "code"));
  if (const std::string raw = json_string(json_at(error, "metadata"), "raw"); !raw.empty())
    out.message += ": " + raw;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Seconds since 1970 of an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT`.
std::optional<std::int64_t> parse_http_date(std::string_view text) {
  const std::string date(text);  // ended by a NUL, and alive while `end` points into it
  std::tm parts{};
  const char* end = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
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
  const auto until = parse_http_date(*text);
  if (!until) return std::nullopt;
  const auto now = parse_http_date(find_header(headers, "date").value_or("")).value_or(std::time(nullptr));
  return clamp_delay(static_cast<double>(*until - now) * 1000);
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
  } else if (!message.is_null() && json_at(json, "choices").is_null()) {
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
  const std::string_view kind = kind_of(envelope, status);
  std::string message(kind);
  if (status >= 300) message += " (status " + std::to_string(status) + ")";
  if (!envelope.message.empty()) message += ": " + bounded(envelope.message, kMaxMessage);
  Error error = model_error(kind, std::move(message));
  JsonObject& detail = error.detail.get_object();
  if (const int known = status >= 300 ? status : envelope.status; known != 0) detail["status"] = known;
  if (!envelope.code.empty()) detail["code"] = bounded(envelope.code, kMaxMessage);
  const auto delay = envelope.retry_after_ms ? envelope.retry_after_ms : delay_in_text(envelope.message);
  if (delay) detail["retry_after_ms"] = *delay;
  return error;
}

Error http_error(const HttpResponseHead& head, std::string_view body) {
  const auto json = parse_json(body);
  auto envelope = json ? read_error_envelope(*json) : std::nullopt;
  Error error = vendor_error(envelope.value_or(ErrorEnvelope{}), head.status);
  JsonObject& detail = error.detail.get_object();
  if (!envelope) detail["body"] = bounded(body, kMaxKeptBody);
  if (const auto delay = retry_after_header(head.headers)) detail["retry_after_ms"] = *delay;
  if (const auto id = find_header(head.headers, "x-request-id")) detail["request_id"] = *id;
  if (const auto should = find_header(head.headers, "x-should-retry")) {
    if (*should == "true" || *should == "false") error.retriable = *should == "true";
  }
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

}  // namespace praxis
