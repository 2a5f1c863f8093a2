// `praxis traces` as its users see it (docs/observability.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"

namespace praxis::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class CliTraces : public CommandLine {
 protected:
  CliTraces() {
    file("lead.jsonl", R"({"tool_calls": [{"name": "helper", "arguments": {"prompt": "help"}}]}
{"text": "Led."}
)");
    file("helper.jsonl", "{\"text\": \"Helped.\", \"usage\": {\"input\": 11, \"output\": 4}}\n");
    file("helper.toml", "model = \"script:helper.jsonl\"\n");
    file("lead.toml",
         "model = \"script:lead.jsonl\"\n[agents.helper]\nfile = \"helper.toml\"\ndescription = \"Helps\"\n");
    const CommandResult result = praxis({"run", "lead.toml", "Lead this"});
    EXPECT_EQ(result.status, 0) << result.err;
  }
  static Json spans_in(const std::string& text) {
    const auto request = parse_json(text);
    if (!request) throw std::runtime_error(request.error().message);
    return request->at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans");
  }
};

TEST_F(CliTraces, Export_WritesTheTreeAsOneTrace) {
  const CommandResult result = praxis({"traces", "export", "last", "-o", "trace.json", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json spans = spans_in(contents("trace.json"));
  ASSERT_THAT(spans.get_array(), SizeIs(6)) << "two turns, three model calls, one tool call";
  std::set<std::string> ids;
  for (const Json& span : spans.get_array()) {
    EXPECT_EQ(json_text(span, "traceId"), json_string(result.last_line(), "trace_id"));
    EXPECT_TRUE(ids.empty() || ids.contains(json_string(span, "parentSpanId")));
    ids.insert(json_string(span, "spanId"));
  }
  EXPECT_EQ(json_int(result.last_line(), "spans"), 6);
  EXPECT_EQ(contents("trace.json").find("Lead this"), std::string::npos);
  EXPECT_THAT(praxis({"traces", "export", "last", "-o", "-", "--content"}).out, HasSubstr("Lead this"));
}

TEST_F(CliTraces, StateOfTheCaller_IsThatOfEachSpanOfTheTree) {
  ProcessOptions options = options_;
  options.env["TRACEPARENT"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  options.env["TRACESTATE"] = "rojo=1, congo=t61";
  ASSERT_EQ(praxis({"run", "lead.toml", "Lead this"}, options).status, 0);
  const Json spans = spans_in(praxis({"traces", "export", "last", "-o", "-"}).out);
  ASSERT_THAT(spans.get_array(), SizeIs(6));
  for (const Json& span : spans.get_array()) EXPECT_EQ(json_text(span, "traceState"), "rojo=1,congo=t61");
}

TEST_F(CliTraces, Export_SendsSpansAndMetricsToTheConfiguredCollector) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "{}")); });
  ProcessOptions options = options_;
  options.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = server.url("");
  options.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/json";
  options.env["no_proxy"] = "127.0.0.1";
  const CommandResult result = praxis({"traces", "export", "last"}, options);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("sent 6 spans of trace [0-9a-f]+"));
  const auto requests = server.requests();
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].target, "/v1/traces");
  EXPECT_EQ(requests[2].target, "/v1/metrics");
  EXPECT_THAT(spans_in(requests[0].body).get_array(), SizeIs(4)) << "those of the lead";
}

TEST_F(CliTraces, CollectorThatIsAway_IsSaidWithItsAddress) {
  const CommandResult result = praxis({"traces", "export", "last", "--endpoint", "http://127.0.0.1:1"});
  EXPECT_EQ(result.status, 6);
  EXPECT_THAT(result.err, HasSubstr("the collector http://127.0.0.1:1/v1/traces cannot be reached"));
  const CommandResult nowhere = praxis({"traces", "export", "last"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("there is no collector; give --endpoint URL, or -o FILE"));
}

TEST_F(CliTraces, ConfiguredCollector_GetsEachTurnAndWhatItMissedWhileItWasAway) {
  std::atomic<int> status = 503;
  TestServer server([&](const TestRequest&, TestConnection& to) { to.write(http_reply(status, "{}")); });
  file("config/praxis/config.toml",
       "[telemetry]\nendpoint = \"" + server.url("") + "\"\nprotocol = \"http/json\"\n");
  ProcessOptions options = options_;
  options.env["no_proxy"] = "127.0.0.1";
  const CommandResult away = praxis({"run", "helper.toml", "Help"}, options);
  EXPECT_EQ(away.status, 0);
  EXPECT_EQ(away.out, "Helped.\n");
  EXPECT_THAT(away.err, HasSubstr("praxis: warning: traces wait: the collector"));
  const auto missed = server.requests().size();
  status = 200;
  // A process that finds that the collector was away lately sends nothing in its last moment, but looks at
  // the journal a second after its start.
  file("slow.toml", "model = \"script:slow.jsonl\"\n");
  file("slow.jsonl", "{\"text\": \"Late.\", \"delay_ms\": 1500}\n");
  EXPECT_EQ(praxis({"run", "slow.toml", "Help"}, options).status, 0);
  const auto requests = server.requests();
  ASSERT_GT(requests.size(), missed);
  EXPECT_THAT(spans_in(requests[missed].body).get_array(), SizeIs(2)) << "the turn that was missed";
}

}  // namespace
}  // namespace praxis::testing
