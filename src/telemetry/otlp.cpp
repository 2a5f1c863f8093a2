#include "telemetry/otlp.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "praxis/domain/trace.hpp"

namespace praxis::telemetry {
namespace {

constexpr int kErrorStatus = 2;
constexpr int kInternalSpan = 1, kClientSpan = 3;

/// 64-bit integers are strings in the JSON form.
Json nanoseconds(UnixMillis time) { return Json(std::to_string(time.value) + "000000"); }

JsonObject any_value(const Json& value) {
  if (value.is_bool()) return {{"boolValue", value}};
  if (value.is_double()) return {{"doubleValue", value}};
  if (value.is_number()) return {{"intValue", to_json_text(value)}};
  if (const JsonArray* list = value.if_array()) {
    JsonArray values;
    for (const Json& each : *list) values.emplace_back(any_value(each));
    return {{"arrayValue", JsonObject{{"values", std::move(values)}}}};
  }
  return {{"stringValue", to_plain_text(value)}};
}

JsonObject key_value(std::string_view key, const Json& value) {
  return {{"key", key}, {"value", any_value(value)}};
}

JsonArray attributes_form(const Attributes& attributes, Convention convention) {
  JsonArray form;
  for (const auto& [key, value] : attributes) {
    if (const auto name = name_of(key, convention); !name.empty()) form.emplace_back(key_value(name, value));
  }
  return form;
}

JsonObject resource_form(const Resource& resource) {
  JsonArray attributes;
  attributes.emplace_back(key_value("service.name", Json(resource.service)));
  attributes.emplace_back(key_value("service.version", Json(resource.version)));
  attributes.emplace_back(key_value("telemetry.sdk.name", Json("praxis")));
  for (const auto& [name, value] : resource.attributes) attributes.emplace_back(key_value(name, Json(value)));
  return {{"attributes", std::move(attributes)}};
}

JsonObject scope_form(const Resource& resource) {
  return {{"name", "praxis"}, {"version", resource.version}};
}

/// Adds the schema of the names to what has a resource or a scope.
JsonObject with_schema(JsonObject form, Convention convention) {
  if (const auto schema = schema_of(convention); !schema.empty()) form["schemaUrl"] = schema;
  return form;
}

/// `{LIST: [{resource, SCOPES: [{scope, ITEMS: items}]}]}`.
Json request_form(const Resource& resource, Convention convention, std::string_view list,
                  std::string_view scopes, std::string_view items_name, JsonArray items) {
  JsonObject in_scope{{"scope", scope_form(resource)}};
  in_scope[items_name] = std::move(items);
  JsonObject of_resource{{"resource", resource_form(resource)}};
  of_resource[scopes] = JsonArray{with_schema(std::move(in_scope), convention)};
  return JsonObject{{list, JsonArray{with_schema(std::move(of_resource), convention)}}};
}

JsonObject span_form(const Span& span, Convention convention) {
  std::string name(name_of(span.operation, Convention::kGenAi138));
  if (!span.subject.empty()) name += ' ' + span.subject;
  JsonObject form{{"traceId", to_hex(span.context.trace)}, {"spanId", span_hex(span.context.span)}};
  if (!span.context.state.empty()) form["traceState"] = span.context.state;
  if (span.context.parent != 0) form["parentSpanId"] = span_hex(span.context.parent);
  form["name"] = name;
  form["kind"] = span.operation == Operation::kChat ? kClientSpan : kInternalSpan;
  form["startTimeUnixNano"] = nanoseconds(span.begin);
  form["endTimeUnixNano"] = nanoseconds(std::max(span.begin, span.end));
  Attributes attributes{{Key::kOperation, Json(name_of(span.operation, convention))}};
  std::ranges::copy(span.attributes, std::back_inserter(attributes));
  if (!span.error.empty()) attributes.emplace_back(Key::kErrorType, Json(span.error));
  form["attributes"] = attributes_form(attributes, convention);
  JsonArray events;
  for (const SpanEvent& event : span.events)
    events.emplace_back(JsonObject{{"timeUnixNano", nanoseconds(event.time)}, {"name", event.name}});
  if (!events.empty()) form["events"] = std::move(events);
  JsonObject status;
  if (!span.error.empty()) status["code"] = kErrorStatus;
  if (!span.message.empty()) status["message"] = span.message;
  form["status"] = std::move(status);
  return form;
}

// ---- metrics

constexpr std::array kTokenBounds{1.0,       4.0,       16.0,       64.0,      256.0,
                                  1024.0,    4096.0,    16'384.0,   65'536.0,  262'144.0,
                                  1048576.0, 4194304.0, 16777216.0, 67108864.0};
constexpr std::array kSecondBounds{0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                   1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
constexpr int kDelta = 1;
constexpr double kMillisInSecond = 1000;

}  // namespace

Json trace_request(const std::vector<Span>& spans, const Resource& resource, Convention convention) {
  JsonArray forms;
  for (const Span& span : spans) forms.emplace_back(span_form(span, convention));
  return request_form(resource, convention, "resourceSpans", "scopeSpans", "spans", std::move(forms));
}

void Metrics::add(const std::vector<Span>& spans) {
  for (const Span& span : spans) {
    if (span.operation == Operation::kWait) continue;
    first_ = first_.value == 0 ? span.begin : std::min(first_, span.begin);
    last_ = std::max(last_, span.end);
    Attributes common{{Key::kOperation, Json(name_of(span.operation, Convention::kGenAi138))}};
    for (const Key key :
         {Key::kProvider, Key::kRequestModel, Key::kResponseModel, Key::kAgentName, Key::kToolName}) {
      if (!span.at(key).is_null()) common.emplace_back(key, span.at(key));
    }
    if (span.usage) {
      for (const auto& [type, tokens] :
           {std::pair{"input", span.usage->input}, {"output", span.usage->output}}) {
        Attributes attributes = common;
        attributes.emplace_back(Key::kTokenType, Json(type));
        add(Measure::kTokens, std::move(attributes), static_cast<double>(tokens));
      }
    }
    if (!span.error.empty()) common.emplace_back(Key::kErrorType, Json(span.error));
    const double millis = static_cast<double>((span.end - span.begin).count());
    add(Measure::kDuration, std::move(common), std::max(millis, 0.0) / kMillisInSecond);
  }
}

void Metrics::add(Measure measure, Attributes attributes, double value) {
  std::string text;
  for (const auto& [key, each] : attributes)
    text += std::to_string(static_cast<int>(key)) + '=' + to_json_text(each) + ' ';
  Series& series = series_[{measure, std::move(text)}];
  const bool is_tokens = measure == Measure::kTokens;
  const std::span<const double> bounds = is_tokens ? std::span<const double>(kTokenBounds) : kSecondBounds;
  if (series.count == 0) {
    series.attributes = std::move(attributes);
    series.buckets.resize(bounds.size() + 1);
    series.least = series.most = value;
  }
  ++series.count;
  series.sum += value;
  series.least = std::min(series.least, value);
  series.most = std::max(series.most, value);
  const auto bucket = std::ranges::lower_bound(bounds, value) - bounds.begin();
  ++series.buckets[static_cast<std::size_t>(bucket)];
}

JsonObject Metrics::histogram(Measure measure, Convention convention) const {
  const bool is_tokens = measure == Measure::kTokens;
  const std::span<const double> bounds = is_tokens ? std::span<const double>(kTokenBounds) : kSecondBounds;
  JsonArray points;
  for (const auto& [key, series] : series_) {
    if (key.first != measure) continue;
    JsonArray buckets, limits;
    for (const std::uint64_t count : series.buckets) buckets.emplace_back(std::to_string(count));
    for (const double bound : bounds) limits.emplace_back(bound);
    points.emplace_back(JsonObject{{"attributes", attributes_form(series.attributes, convention)},
                                   {"startTimeUnixNano", nanoseconds(first_)},
                                   {"timeUnixNano", nanoseconds(last_)},
                                   {"count", std::to_string(series.count)},
                                   {"sum", series.sum},
                                   {"bucketCounts", std::move(buckets)},
                                   {"explicitBounds", std::move(limits)},
                                   {"min", series.least},
                                   {"max", series.most}});
  }
  return {{"name", is_tokens ? "gen_ai.client.token.usage" : "gen_ai.client.operation.duration"},
          {"description", is_tokens ? "Number of input and output tokens used" : "GenAI operation duration"},
          {"unit", is_tokens ? "{token}" : "s"},
          {"histogram", JsonObject{{"dataPoints", std::move(points)}, {"aggregationTemporality", kDelta}}}};
}

Json Metrics::request(const Resource& resource, Convention convention) const {
  // OpenInference has no names for metrics.
  if (convention == Convention::kOpenInference) convention = Convention::kGenAi138;
  JsonArray metrics;
  for (const Measure measure : {Measure::kTokens, Measure::kDuration})
    metrics.emplace_back(histogram(measure, convention));
  return request_form(resource, convention, "resourceMetrics", "scopeMetrics", "metrics", std::move(metrics));
}

}  // namespace praxis::telemetry
