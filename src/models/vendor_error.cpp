#include "models/vendor_error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "base/ascii.hpp"
#include "base/exhausted.hpp"
#include "praxis/base/dates.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/models/model.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxMessage = 2000;
constexpr std::size_t kMaxWord = 200;
constexpr std::size_t kMaxKeptBody = 4000;
constexpr std::string_view kReportedUsage = "usage";
constexpr double kMaxDelayMs = 365.0 * 24 * 3600 * 1000;

/// What a word found in an error stands for.
template <class Meaning>
struct Sign {
  std::string_view word;
  Meaning meaning;
};
using Signal = Sign<ErrorKind>;
using Change = Sign<std::string_view>;

// Words in error codes, types and status names that determine the kind, for every HTTP status.
constexpr std::array kCodes{
    Signal{"context_length_exceeded", ErrorKind::kContextOverflow},
    Signal{"exceed_context_size", ErrorKind::kContextOverflow},
    Signal{"too_many_prompt_tokens", ErrorKind::kContextOverflow},
    Signal{"request_too_large", ErrorKind::kContextOverflow},
    Signal{"insufficient_quota", ErrorKind::kBilling},
    Signal{"billing", ErrorKind::kBilling},
    Signal{"invalid_api_key", ErrorKind::kAuth},
    Signal{"api_key_invalid", ErrorKind::kAuth},
    Signal{"authentication_error", ErrorKind::kAuth},
    Signal{"model_not_found", ErrorKind::kNotFound},
    Signal{"invalid_model", ErrorKind::kNotFound},
    Signal{"content_filter", ErrorKind::kContentPolicy},
    Signal{"content_policy", ErrorKind::kContentPolicy},
    Signal{"responsibleaipolicy", ErrorKind::kContentPolicy},
    Signal{"invalid_prompt", ErrorKind::kContentPolicy},
    Signal{"bio_policy", ErrorKind::kContentPolicy},
};
// Phrases in messages that determine the kind.
constexpr std::array kPhrases{
    Signal{"maximum context length", ErrorKind::kContextOverflow},
    Signal{"prompt is too long", ErrorKind::kContextOverflow},
    Signal{"prompt too long", ErrorKind::kContextOverflow},
    Signal{"input token count", ErrorKind::kContextOverflow},
    Signal{"maximum prompt length", ErrorKind::kContextOverflow},
    Signal{"reduce the length of the messages", ErrorKind::kContextOverflow},
    Signal{"request too large", ErrorKind::kContextOverflow},
    Signal{"exceeds the available context size", ErrorKind::kContextOverflow},
    Signal{"credit balance is too low", ErrorKind::kBilling},
    Signal{"extra usage is required", ErrorKind::kBilling},
    Signal{"incorrect api key", ErrorKind::kAuth},
    Signal{"api key not valid", ErrorKind::kAuth},
    Signal{"not a valid model", ErrorKind::kNotFound},
};
// Words and phrases for which a changed request can succeed, and the change.
constexpr std::array kChangeCodes{
    Change{"tool_use_failed", "note"},
    Change{"previous_response_not_found", "full_history"},
};
constexpr std::array kChangePhrases{
    Change{"schema is too complex", "non_strict"},
    Change{"schemas are too complex", "non_strict"},
    Change{"strict tool", "non_strict"},
};
// Words that determine the kind if there is no HTTP status: errors inside a stream.
constexpr std::array kStreamCodes{
    Signal{"overloaded", ErrorKind::kOverloaded},
    Signal{"unavailable", ErrorKind::kOverloaded},
    Signal{"rate_limit", ErrorKind::kRateLimit},
    Signal{"ratelimit", ErrorKind::kRateLimit},
    Signal{"too_many_requests", ErrorKind::kRateLimit},
    Signal{"resource_exhausted", ErrorKind::kRateLimit},
    Signal{"timeout", ErrorKind::kTimeout},
    Signal{"invalid_request", ErrorKind::kInvalidRequest},
    Signal{"tool_use_failed", ErrorKind::kInvalidRequest},
    Signal{"permission", ErrorKind::kAuth},
    Signal{"not_found", ErrorKind::kNotFound},
};

/// The meaning of the first word that stands in `lowered`; a default one (`kNone`, empty) when none does.
template <class Meaning, std::size_t N>
Meaning find_signal(std::string_view lowered, const std::array<Sign<Meaning>, N>& signals) {
  const auto hit =
      std::ranges::find_if(signals, [&](const Sign<Meaning>& s) { return lowered.contains(s.word); });
  return hit == signals.end() ? Meaning{} : hit->meaning;
}

ErrorKind kind_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return ErrorKind::kAuth;
    case 402:
      return ErrorKind::kBilling;
    case 404:
      return ErrorKind::kNotFound;
    case 408:
      return ErrorKind::kTimeout;
    case 409:
      return ErrorKind::kServer;
    case 413:
      return ErrorKind::kContextOverflow;
    case 429:
      return ErrorKind::kRateLimit;
    case 503:
    case 529:
      return ErrorKind::kOverloaded;
    default:
      if (status >= 500) return ErrorKind::kServer;
      return status >= 400 ? ErrorKind::kInvalidRequest : ErrorKind::kProtocol;
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

ErrorKind kind_of(std::string_view code, std::string_view message, const ErrorEnvelope& envelope,
                  int status) {
  if (const auto kind = find_signal(code, kCodes); kind != ErrorKind::kNone) return kind;
  if (const auto kind = find_signal(message, kPhrases); kind != ErrorKind::kNone) return kind;
  if (never_fits(message)) return ErrorKind::kContextOverflow;
  if (status >= 300) return kind_of_status(status);
  if (envelope.status >= 400 && envelope.status < 600) return kind_of_status(envelope.status);
  if (const auto kind = find_signal(code, kStreamCodes); kind != ErrorKind::kNone) return kind;
  return ErrorKind::kServer;
}

/// The change to the request that makes a retry worthwhile; empty if unknown.
std::string_view change_for(ErrorKind kind, std::string_view code, std::string_view message) {
  if (kind == ErrorKind::kContextOverflow) return "compact";
  if (const auto change = find_signal(code, kChangeCodes); !change.empty()) return change;
  if (message.starts_with("item with id") && message.contains("not found")) return "full_history";
  return kind == ErrorKind::kInvalidRequest ? find_signal(message, kChangePhrases) : std::string_view{};
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

Error model_error(ErrorKind kind, std::string message) {
  using enum ErrorKind;
  constexpr std::array kRetriable{kRateLimit, kOverloaded, kServer, kNetwork, kTimeout, kTruncatedStream};
  return make_error(ErrorCode::kModel, kind, std::move(message),
                    std::ranges::find(kRetriable, kind) != kRetriable.end());
}

Error vendor_error(const ErrorEnvelope& envelope, int status) {
  std::string code = lower_case(envelope.type);
  if (const auto* text = envelope.code.if_string()) add_word(code, lower_case(*text));
  add_word(code, lower_case(envelope.words));
  const std::string said = lower_case(envelope.message);
  const ErrorKind kind = kind_of(code, said, envelope, status);
  std::string message(to_string(kind));
  if (status >= 300) message += " (status " + std::to_string(status) + ")";
  const std::string words = bounded(envelope.message, kMaxMessage);
  if (!words.empty()) message += ": " + words;
  Error error = model_error(kind, std::move(message));
  if (const int known = status >= 300 ? status : envelope.status; known != 0) error.set("status", known);
  if (!envelope.type.empty()) error.set("type", bounded(envelope.type, kMaxWord));
  if (const auto* text = envelope.code.if_string()) {
    error.set("code", bounded(*text, kMaxWord));
  } else if (!envelope.code.is_null()) {
    error.set_value("code", envelope.code);
  }
  if (!words.empty()) error.set("message", words);
  if (const auto change = change_for(kind, code, said); !change.empty()) error.set("change", change);
  const auto delay = envelope.retry_after_ms ? envelope.retry_after_ms : delay_in_text(envelope.message);
  if (delay) error.set("retry_after_ms", *delay);
  return error;
}

void add_headers(Error& error, const HttpHeaders& headers) {
  if (const auto delay = retry_after_header(headers)) error.set("retry_after_ms", *delay);
  if (const std::string id = request_id(headers); !id.empty()) error.set("request_id", id);
  if (const auto should = find_header(headers, "x-should-retry")) {
    if (*should == "true" || *should == "false") error.retriable = *should == "true";
  }
}

Error http_error(const HttpResponseHead& head, std::string_view body) {
  const auto json = parse_json(body);
  auto envelope = json ? read_error_envelope(*json) : std::nullopt;
  Error error = vendor_error(envelope.value_or(ErrorEnvelope{}), head.status);
  if (!envelope) error.set("body", bounded(body, kMaxKeptBody));
  add_headers(error, head.headers);
  return error;
}

Error transport_error(const Error& error, bool answering) {
  if (error.code != ErrorCode::kModel || is_exhausted(error)) return error;
  const std::string cause = json_string(error.detail(), "kind");
  ErrorKind kind = answering ? ErrorKind::kTruncatedStream : ErrorKind::kNetwork;
  if (cause.starts_with("timeout")) kind = ErrorKind::kTimeout;
  if (error.kind() == ErrorKind::kProtocol || error.kind() == ErrorKind::kTooLarge)
    kind = ErrorKind::kProtocol;
  Error out = model_error(kind, std::string(to_string(kind)) + ": " + error.message);
  out.retriable = error.retriable;
  out.set("transport", cause);
  return out;
}

void report_usage(Error& error, const Usage& usage) {
  if (usage.total() == 0 && usage.cost.value == 0) return;
  error.set_value(kReportedUsage, to_json(usage));
}

std::optional<Usage> take_reported_usage(Error& error) {
  const JsonObject* detail = error.detail().if_object();
  const Json* stated = detail == nullptr ? nullptr : detail->if_contains(kReportedUsage);
  if (stated == nullptr) return std::nullopt;
  const Usage usage = usage_from_json(*stated);
  JsonObject rest = *detail;
  rest.erase(kReportedUsage);
  error.facts = rest.empty() ? nullptr : std::make_shared<const Json>(std::move(rest));
  return usage;
}

bool may_have_cost(const Error& error) {
  using enum ErrorKind;
  constexpr std::array kBrokeOff{kNetwork, kTimeout, kTruncatedStream, kProtocol};
  constexpr std::array kNotSent{kDns, kConnect, kProxy, kTls, kTimeoutConnect};
  if (error.code == ErrorCode::kCancelled) return reach_of(error) != Reach::kNotSent;
  return std::ranges::count(kBrokeOff, error.kind()) != 0 &&
         std::ranges::count(kNotSent, error_kind_from(json_text(error.detail(), "transport"))) == 0;
}

}  // namespace praxis
