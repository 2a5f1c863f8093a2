#include "telemetry/otlp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "net/testing/test_server.hpp"
#include "telemetry/collector.hpp"

namespace praxis::telemetry {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<Span> two_spans() {
  Span turn{.context = {{0x0102030405060708, 0x090a0b0c0d0e0f10}, 0x1112131415161718, 0},
            .operation = Operation::kInvokeAgent,
            .subject = "writer",
            .begin = {1000},
            .end = {4000}};
  Span call{.context = {turn.context.trace, 0x2122232425262728, turn.context.span},
            .operation = Operation::kChat,
            .subject = "gpt-5",
            .begin = {2000},
            .end = {3500}};
  call.attributes = {{Key::kRequestModel, Json("gpt-5")},
                     {Key::kProvider, Json("openai")},
                     {Key::kInputTokens, Json(5)},
                     {Key::kTemperature, Json(0.5)},
                     {Key::kFinishReasons, JsonArray{"stop"}},
                     {Key::kEstimated, Json(true)}};
  call.events.push_back({{2500}, "praxis.repeated"});
  call.error = "overloaded";
  call.usage = Usage{.input = 5, .output = 70};
  return {turn, call};
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4U];
    text += kDigits[static_cast<unsigned char>(c) & 0xFU];
  }
  return text;
}

std::string value_of(const Json& span, std::string_view key) {
  for (const Json& attribute : json_at(span, "attributes").get_array()) {
    if (json_text(attribute, "key") == key) return to_json_text(json_at(attribute, "value"));
  }
  return {};
}

Json spans_in(const Json& request) {
  return request.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans");
}

TEST(Otlp, Json_HasIdsInHexadecimalAndTimesAsStrings) {
  const Json request = trace_request(two_spans(), {.version = "1"}, Convention::kGenAi138);
  const Json spans = spans_in(request);
  ASSERT_THAT(spans.get_array(), SizeIs(2));
  const Json& call = spans.at(1);
  EXPECT_EQ(json_text(call, "traceId"), "0102030405060708090a0b0c0d0e0f10");
  EXPECT_EQ(json_text(call, "parentSpanId"), "1112131415161718");
  EXPECT_EQ(json_text(call, "name"), "chat gpt-5");
  EXPECT_EQ(json_text(call, "startTimeUnixNano"), "2000000000");
  EXPECT_EQ(json_at(call, "kind"), 3);
  EXPECT_EQ(call.at("status").at("code"), 2);
  EXPECT_EQ(value_of(call, "gen_ai.operation.name"), R"({"stringValue":"chat"})");
  EXPECT_EQ(value_of(call, "gen_ai.usage.input_tokens"), R"({"intValue":"5"})");
  EXPECT_EQ(value_of(call, "gen_ai.response.finish_reasons"),
            R"({"arrayValue":{"values":[{"stringValue":"stop"}]}})");
  EXPECT_EQ(value_of(call, "error.type"), R"({"stringValue":"overloaded"})");
  EXPECT_FALSE(spans.at(0).get_object().contains("parentSpanId"));
}

TEST(Otlp, Conventions_DifferInTheirNamesOnly) {
  const auto call = [](Convention convention) {
    return spans_in(trace_request(two_spans(), {}, convention)).at(1);
  };
  EXPECT_NE(value_of(call(Convention::kGenAi138), "gen_ai.provider.name"), "");
  EXPECT_NE(value_of(call(Convention::kGenAi136), "gen_ai.system"), "");
  EXPECT_EQ(value_of(call(Convention::kGenAi136), "gen_ai.provider.name"), "");
  const Json other = call(Convention::kOpenInference);
  EXPECT_EQ(value_of(other, "openinference.span.kind"), R"({"stringValue":"LLM"})");
  EXPECT_EQ(value_of(other, "llm.token_count.prompt"), R"({"intValue":"5"})");
  EXPECT_EQ(value_of(other, "llm.model_name"), R"({"stringValue":"gpt-5"})");
}

TEST(Otlp, Names_AreUniqueWithinAConvention) {
  for (const auto convention : {Convention::kGenAi136, Convention::kGenAi138, Convention::kOpenInference}) {
    EXPECT_EQ(convention_from(to_string(convention)), convention);
    std::multiset<std::string_view> names;
    for (int key = 0; key <= static_cast<int>(Key::kTokenType); ++key)
      names.insert(name_of(static_cast<Key>(key), convention));
    for (const std::string_view name : names) {
      // The input and output of a span of OpenInference are those of a tool or of a model.
      const bool is_shared = name.empty() || name == "input.value" || name == "output.value";
      EXPECT_TRUE(is_shared || names.count(name) == 1) << name;
    }
  }
  for (int key = 0; key <= static_cast<int>(Key::kTokenType); ++key)
    EXPECT_FALSE(name_of(static_cast<Key>(key), Convention::kOpenInference).empty() &&
                 name_of(static_cast<Key>(key), Convention::kGenAi138).empty())
        << "key " << key << " is not in the table";
}

TEST(Otlp, Protobuf_HasTheFieldsOfThePublishedDefinition) {
  Span span{.context = {{1, 2}, 3, 4, "a=1"}, .operation = Operation::kWait, .begin = {1}, .end = {2}};
  const std::string bytes =
      hex(to_protobuf(trace_request({span}, {.service = "s", .version = "v"}, Convention::kOpenInference),
                      OtlpMessage::kTraces));
  EXPECT_THAT(bytes, HasSubstr("0a10"
                               "00000000000000010000000000000002"  // trace_id = 1
                               "1208"
                               "0000000000000003"  // span_id = 2
                               "1a03"
                               "613d31"  // trace_state = 3
                               "2208"
                               "0000000000000004"  // parent_span_id = 4
                               "2a04"
                               "77616974"  // name = 5
                               "3001"      // kind = 6
                               "39"
                               "40420f0000000000"  // start = 7, fixed64
                               "41"
                               "80841e0000000000"));  // end = 8
  // A key and a value: `service.name`, `s`.
  EXPECT_THAT(bytes, HasSubstr("0a13"
                               "0a0c"
                               "736572766963652e6e616d65"
                               "1203"
                               "0a0173"));
}

TEST(Otlp, Metrics_CountEachCallInItsBucket) {
  Metrics metrics;
  metrics.add(two_spans());
  const Json request = metrics.request({}, Convention::kGenAi138);
  const Json all = request.at("resourceMetrics").at(0).at("scopeMetrics").at(0).at("metrics");
  ASSERT_THAT(all.get_array(), SizeIs(2));
  EXPECT_EQ(json_text(all.at(0), "name"), "gen_ai.client.token.usage");
  const Json points = all.at(0).at("histogram").at("dataPoints");
  ASSERT_THAT(points.get_array(), SizeIs(2));
  EXPECT_EQ(value_of(points.at(0), "gen_ai.token.type"), R"({"stringValue":"input"})");
  EXPECT_EQ(points.at(0).at("sum"), 5.0);
  EXPECT_EQ(to_json_text(points.at(0).at("bucketCounts")),
            R"(["0","0","1","0","0","0","0","0","0","0","0","0","0","0","0"])");
  const Json durations = all.at(1).at("histogram").at("dataPoints");
  ASSERT_THAT(durations.get_array(), SizeIs(2));
  EXPECT_EQ(durations.at(0).at("sum"), 1.5);
  EXPECT_EQ(value_of(durations.at(0), "error.type"), R"({"stringValue":"overloaded"})");
}

// ---- the collector

class CollectorTest : public ::testing::Test {
 protected:
  static CollectorSettings settings_for(const TestServer& server) {
    CollectorSettings settings;
    settings.endpoint = server.url("/otlp/");
    settings.headers = {{"x-key", "k"}};
    return settings;
  }
};

TEST_F(CollectorTest, Spans_ArePostedInRequestsOfBoundedSize) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "")); });
  Collector collector(settings_for(server));
  ASSERT_TRUE(collector.send(std::vector<Span>(600, two_spans()[1])));
  const auto requests = server.requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].target, "/otlp/v1/traces");
  EXPECT_EQ(find_header(requests[0].headers, "content-type"), "application/x-protobuf");
  EXPECT_EQ(find_header(requests[0].headers, "x-key"), "k");
  EXPECT_EQ(requests[1].body,
            to_protobuf(trace_request(std::vector<Span>(88, two_spans()[1]), {}, Convention::kGenAi138),
                        OtlpMessage::kTraces));
}

TEST_F(CollectorTest, Refusal_IsAnErrorThatSaysWhetherToTryAgain) {
  int status = 503;
  std::string body;
  TestServer server([&](const TestRequest&, TestConnection& to) { to.write(http_reply(status, body)); });
  CollectorSettings settings = settings_for(server);
  settings.protocol = Protocol::kJson;
  Collector collector(settings);
  const auto busy = collector.send(two_spans());
  ASSERT_FALSE(busy);
  EXPECT_TRUE(busy.error().retriable);
  status = 400;
  const auto wrong = collector.send(two_spans());
  ASSERT_FALSE(wrong);
  EXPECT_FALSE(wrong.error().retriable);
  status = 200;
  body = R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}})";
  const auto partly = collector.send(two_spans());
  ASSERT_FALSE(partly);
  EXPECT_THAT(partly.error().message, HasSubstr("refused 2"));
  body = "{}";
  EXPECT_TRUE(collector.send(two_spans()));
}

TEST(CollectorSettings, TableComesBeforeTheVariablesOfOpenTelemetry) {
  std::map<std::string, std::string> table,
      variables{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://there:4318"},
                {"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-team = blue"},
                {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"},
                {"OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,host.name=h1"}};
  const auto read = [&] {
    return collector_settings([&](const std::string& name) { return table[name]; },
                              [&](const std::string& name) { return variables[name]; }, "1");
  };
  auto settings = read();
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->endpoint, "http://there:4318");
  EXPECT_EQ(settings->protocol, Protocol::kJson);
  EXPECT_EQ(settings->headers, (HttpHeaders{{"authorization", "Bearer abc"}, {"x-team", "blue"}}));
  EXPECT_EQ(settings->resource.service, "shop");
  EXPECT_EQ(settings->resource.attributes.at("host.name"), "h1");
  table = {{"endpoint", "http://here:1"}, {"protocol", "http/protobuf"}, {"names", "openinference"}};
  settings = read();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint, "http://here:1");
  EXPECT_EQ(settings->protocol, Protocol::kProtobuf);
  EXPECT_EQ(settings->convention, Convention::kOpenInference);
  table = {{"protocol", "grpc"}};
  settings = read();
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr("telemetry.protocol must be http/protobuf or http/json"));
  table.clear();
  variables["OTEL_SDK_DISABLED"] = "true";
  EXPECT_EQ(read()->endpoint, "");
}

}  // namespace
}  // namespace praxis::telemetry
