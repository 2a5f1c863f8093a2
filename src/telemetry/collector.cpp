#include "telemetry/collector.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "app/plain_text.hpp"
#include "base/trimmed.hpp"
#include "json/uri_reference.hpp"
#include "praxis/json/json.hpp"
#include "redact/detector.hpp"

namespace praxis::telemetry {
namespace {

constexpr std::string_view kJsonProtocol = "http/json", kProtobufProtocol = "http/protobuf";

std::unexpected<Error> bad_setting(const std::string& name, const std::string& what) {
  return fail(ErrorCode::kInput, name + ' ' + what);
}

/// `a=1,b=2`, as the variables of OpenTelemetry have it.
Result<HttpHeaders> pairs_in(const std::string& variable, std::string_view text) {
  HttpHeaders pairs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trimmed(pair, " \t").empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return bad_setting(variable, "must be a list such as a=1,b=2");
    pairs.emplace_back(std::string(trimmed(pair.substr(0, equals), " \t")),
                       percent_decode(trimmed(pair.substr(equals + 1), " \t")));
  }
  return pairs;
}

/// A setting of the table, else of the variable, with the name of what gave it.
struct Given {
  std::string value, name;
};

/// How many spans a collector says that it refused: field 1 of `partial_success`, in either form.
std::int64_t refused_in(const HttpResponse& response, Protocol protocol) {
  if (protocol == Protocol::kJson) {
    const auto json = parse_json(response.body);
    if (!json) return 0;
    const Json& partial = json_at(*json, "partialSuccess");
    for (const char* name : {"rejectedSpans", "rejectedDataPoints"}) {
      const Json& count = json_at(partial, name);
      if (count.is_number()) return count.to_number<std::int64_t>();
      if (count.is_string()) return std::strtoll(std::string(count.get_string()).c_str(), nullptr, 10);
    }
    return 0;
  }
  constexpr unsigned char kFirstMessage = 0x0A, kFirstNumber = 0x08, kMore = 0x80;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(response.body[at]); };
  if (response.body.size() < 4 || byte(0) != kFirstMessage || byte(2) != kFirstNumber) return 0;
  return byte(3) < kMore ? byte(3) : kMore;
}

}  // namespace

Result<CollectorSettings> collector_settings(const TextLookup& setting, const TextLookup& variable,
                                             std::string version) {
  CollectorSettings settings;
  settings.resource.version = std::move(version);
  const auto given = [&](const std::string& key, const std::string& name) {
    std::string value = setting(key);
    if (!value.empty()) return Given{std::move(value), "telemetry." + key};
    return Given{name.empty() ? "" : variable(name), name};
  };
  settings.endpoint = given("endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT").value;
  if (setting("endpoint").empty() && variable("OTEL_SDK_DISABLED") == "true") settings.endpoint.clear();
  if (!settings.endpoint.empty()) {
    if (auto url = parse_url(settings.endpoint); !url)
      return bad_setting(given("endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT").name,
                         "must be a URL: " + url.error().message);
  }
  const Given protocol = given("protocol", "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol.value == kJsonProtocol) {
    settings.protocol = Protocol::kJson;
  } else if (!protocol.value.empty() && protocol.value != kProtobufProtocol) {
    return bad_setting(protocol.name,
                       "must be http/protobuf or http/json, not " + app::in_quotes(protocol.value));
  }
  if (const std::string names = setting("names"); !names.empty()) {
    const auto convention = convention_from(names);
    if (!convention)
      return bad_setting("telemetry.names", "must be one of " + app::joined(convention_names()));
    settings.convention = *convention;
  }
  settings.content = setting("content") == "true";
  auto headers = pairs_in("OTEL_EXPORTER_OTLP_HEADERS", variable("OTEL_EXPORTER_OTLP_HEADERS"));
  if (!headers) return fail(headers.error());
  settings.headers = *std::move(headers);
  if (const std::string timeout = variable("OTEL_EXPORTER_OTLP_TIMEOUT"); !timeout.empty()) {
    std::int64_t millis = 0;
    const auto [end, wrong] = std::from_chars(timeout.data(), timeout.data() + timeout.size(), millis);
    if (wrong != std::errc() || end != timeout.data() + timeout.size() || millis < 1)
      return bad_setting("OTEL_EXPORTER_OTLP_TIMEOUT", "must be a number of milliseconds");
    settings.timeout = Millis{millis};
  }
  auto attributes = pairs_in("OTEL_RESOURCE_ATTRIBUTES", variable("OTEL_RESOURCE_ATTRIBUTES"));
  if (!attributes) return fail(attributes.error());
  for (auto& [name, value] : *attributes) {
    (name == "service.name" ? settings.resource.service : settings.resource.attributes[name]) = value;
  }
  if (std::string service = variable("OTEL_SERVICE_NAME"); !service.empty())
    settings.resource.service = std::move(service);
  return settings;
}

Redaction make_redaction() {
  constexpr std::size_t kKeyBytes = 32;
  std::string key(kKeyBytes, '\0');
  randombytes_buf(key.data(), key.size());
  return [detector = redact::Detector::shared({}), key](const std::string& text) {
    return redact::replaced(text, detector->find(text), key);
  };
}

Collector::Collector(CollectorSettings settings) : settings_(std::move(settings)), http_(make_http_client()) {
  while (settings_.endpoint.ends_with('/')) settings_.endpoint.pop_back();
}

Status Collector::send(const std::vector<Span>& spans, const std::stop_token& stop) {
  constexpr std::size_t kMostSpans = 512, kMostBytes = std::size_t{4} * 1024 * 1024;
  std::vector<Span> batch;
  std::size_t bytes = 0;
  const auto flush = [&]() -> Status {
    if (batch.empty()) return {};
    auto sent =
        post(trace_request(batch, settings_.resource, settings_.convention), OtlpMessage::kTraces, stop);
    batch.clear();
    bytes = 0;
    return sent;
  };
  for (const Span& span : spans) {
    std::size_t content = 0;
    for (const auto& [key, value] : span.attributes)
      content += value.is_string() ? value.get_string().size() : 0;
    if (batch.size() == kMostSpans || bytes + content > kMostBytes) {
      if (auto sent = flush(); !sent) return sent;
    }
    bytes += content;
    batch.push_back(span);
  }
  return flush();
}

Status Collector::send(const Metrics& metrics, const std::stop_token& stop) {
  if (metrics.empty()) return {};
  return post(metrics.request(settings_.resource, settings_.convention), OtlpMessage::kMetrics, stop);
}

Status Collector::post(const Json& request, OtlpMessage message, const std::stop_token& stop) {
  constexpr int kOk = 200, kMultiple = 300, kTooMany = 429, kBadGateway = 502, kUnavailable = 503,
                kGatewayTimeout = 504;
  const bool is_json = settings_.protocol == Protocol::kJson;
  HttpRequest post;
  post.method = "POST";
  post.url = settings_.endpoint + (message == OtlpMessage::kTraces ? "/v1/traces" : "/v1/metrics");
  post.headers = settings_.headers;
  post.headers.emplace_back("content-type", is_json ? "application/json" : "application/x-protobuf");
  post.body =
      std::make_shared<const std::string>(is_json ? to_json_text(request) : to_protobuf(request, message));
  post.timeouts = {.connect = settings_.timeout,
                   .first_byte = settings_.timeout,
                   .idle = settings_.timeout,
                   .total = settings_.timeout};
  const std::string url = post.url;
  const auto response = http_fetch(*http_, std::move(post), stop);
  if (!response) {
    if (response.error().code == ErrorCode::kCancelled) return fail(response.error());
    return fail(ErrorCode::kModel, ErrorKind::kNetwork,
                "the collector " + url + " cannot be reached: " + response.error().message, true);
  }
  const int status = response->status;
  if (status < kOk || status >= kMultiple) {
    constexpr std::array kBusy{kTooMany, kBadGateway, kUnavailable, kGatewayTimeout};
    return fail(ErrorCode::kModel, ErrorKind::kServer,
                fmt::format("the collector {} answered {}", url, status),
                std::ranges::find(kBusy, status) != kBusy.end());
  }
  if (const auto refused = refused_in(*response, settings_.protocol); refused > 0)
    return fail(ErrorCode::kModel, ErrorKind::kServer,
                fmt::format("the collector {} refused {} of the spans or figures", url, refused));
  return {};
}

}  // namespace praxis::telemetry
