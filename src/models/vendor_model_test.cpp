#include "models/vendor_model.hpp"

#include <gtest/gtest.h>

#include <future>

#include "net/testing/test_server.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

const std::string kHello = R"(data: {"id":"r","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}

: keep-alive

data: {"id":"r","model":"m","choices":[{"index":0,"delta":{"content":"lo"}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}

data: [DONE]

)";
const std::string kCall =
    R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

)";
const std::string kWholeAnswer =
    R"({"id":"r","choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}]})";

std::string event_stream(std::string_view body) {
  return http_reply(200, body, "Content-Type: text/event-stream\r\n");
}

/// Sends an answer that ends with its connection, in two writes.
void write_until_close(TestConnection& to, std::string_view first, std::string_view second = "") {
  to.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
  to.write(first);
  if (!second.empty()) to.write(second);
  to.close();
}

ModelRequest request_of(bool stream = true) {
  ModelRequest request;
  request.history = normalise({text_message(Role::kUser, "hi")}).history;
  request.stream = stream;
  return request;
}

class VendorModelTest : public testing::Test {
 protected:
  std::shared_ptr<Model> model(const TestServer& server, HttpTimeouts timeouts = {}) {
    return model_at(server.url("/v1"), timeouts);
  }
  std::shared_ptr<Model> model_at(const std::string& base_url, HttpTimeouts timeouts = {}) {
    const CodecTarget target{.provider = "openai", .model = "m", .dialect = nullptr};
    return vendor_model(target, chat_codec(target).value(),
                        {.base_url = base_url, .key = key_, .timeouts = timeouts}, http_);
  }

  /// Makes one call to a server that answers every request with `reply`.
  Result<ModelResponse> ask(const std::string& reply, bool stream = true) {
    const TestServer server([&](const TestRequest&, TestConnection& to) { to.write(reply); });
    deltas_.clear();
    return complete(*model(server), request_of(stream), {}, [this](const ModelDelta& delta) {
      if (const auto* text = std::get_if<TextChunk>(&delta)) deltas_ += text->text;
    });
  }

  Result<ModelResponse> ask(TestServer::Handler handler, HttpTimeouts timeouts = {}) {
    const TestServer server(std::move(handler));
    return complete(*model(server, timeouts), request_of());
  }

  static std::string text(const Result<ModelResponse>& response) {
    if (!response) return response.error().message;
    return response->parts.empty() ? "" : std::get<TextPart>(response->parts[0]).text;
  }
  static std::string kind(const Result<ModelResponse>& response) {
    return response ? "none"
                    : json_string(response.error().detail(), "kind") +
                          (response.error().retriable ? " retriable" : "");
  }

  std::shared_ptr<HttpClient> http_ = make_http_client();
  std::string key_ = "sk-secret";
  std::string deltas_;
};

TEST_F(VendorModelTest, Stream_IsForwardedAsItArrives) {
  const auto response = ask(event_stream(kHello));
  EXPECT_EQ(text(response), "Hello");
  EXPECT_EQ(deltas_, "Hello");
  EXPECT_EQ(response->usage, (Usage{.input = 7, .output = 2}));
}

TEST_F(VendorModelTest, CallWithoutStreaming_ReturnsTheWholeAnswer) {
  EXPECT_EQ(text(ask(http_reply(200, kWholeAnswer), false)), "Hello");
  EXPECT_EQ(deltas_, "");
}

TEST_F(VendorModelTest, UnexpectedShape_IsRecognised) {
  EXPECT_EQ(text(ask(event_stream(kWholeAnswer))), "Hello") << "JSON where a stream was asked for";
  EXPECT_EQ(text(ask(http_reply(200, kHello), false)), "Hello") << "a stream where JSON was asked for";
}

TEST_F(VendorModelTest, MissingUsage_IsEstimated) {
  const auto response = ask(http_reply(200, kWholeAnswer), false);
  EXPECT_TRUE(response->usage.estimated);
  EXPECT_GT(response->usage.input, 0);
  EXPECT_GT(response->usage.output, 0);
}

TEST_F(VendorModelTest, Request_CarriesKeyAndBody) {
  const TestServer server([](const TestRequest&, TestConnection& to) { to.write(event_stream(kHello)); });
  ASSERT_TRUE(complete(*model(server), request_of()));
  const TestRequest request = server.requests().at(0);
  EXPECT_EQ(request.method + ' ' + request.target, "POST /v1/chat/completions");
  EXPECT_EQ(find_header(request.headers, "authorization"), "Bearer sk-secret");
  EXPECT_EQ(find_header(request.headers, "content-type"), "application/json");
  EXPECT_EQ(json_string(parse_json(request.body).value(), "model"), "m");
}

TEST_F(VendorModelTest, Session_ReusesItsConnection) {
  const TestServer server([](const TestRequest&, TestConnection& to) { to.write(event_stream(kHello)); });
  const auto m = model(server);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(complete(*m, request_of()));
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(VendorModelTest, AnyReadBoundary_GivesTheSameAnswer) {
  std::string crlf;
  for (const char c : kHello) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  for (const std::string& stream : {kHello, crlf}) {
    for (std::size_t cut = 1; cut < stream.size(); cut += 3) {
      const auto response = ask([&](const TestRequest&, TestConnection& to) {
        write_until_close(to, std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut));
      });
      ASSERT_EQ(text(response), "Hello") << cut;
      ASSERT_EQ(response->usage.input, 7) << cut;
    }
  }
}

TEST_F(VendorModelTest, CutAnswer_IsAnErrorAndNeverAValidCall) {
  const std::size_t finish = kCall.find("tool_calls\"}]}");
  for (std::size_t cut = 0; cut < finish; cut += 5) {
    const auto response = ask([&](const TestRequest&, TestConnection& to) {
      write_until_close(to, std::string_view(kCall).substr(0, cut));
    });
    ASSERT_FALSE(response) << cut;
    ASSERT_EQ(response.error().code, ErrorCode::kModel) << cut;
    ASSERT_TRUE(response.error().retriable) << cut << ": " << response.error().message;
  }
  const auto whole = ask([&](const TestRequest&, TestConnection& to) { write_until_close(to, kCall); });
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_TRUE(std::get<ToolCallPart>(whole->parts[0]).valid);
}

TEST_F(VendorModelTest, CutWithinContentLength_IsATruncatedStream) {
  const auto response = ask([](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + kCall.substr(0, 150));
    to.close();
  });
  EXPECT_EQ(kind(response), "truncated_stream retriable");
}

TEST_F(VendorModelTest, ConnectionErrorAfterTheEnd_IsIgnored) {
  const auto response = ask([](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + kHello);
    to.close();
  });
  EXPECT_EQ(text(response), "Hello");
}

TEST_F(VendorModelTest, UnreachableServer_IsANetworkError) {
  const auto down = model_at("http://127.0.0.1:1/v1");
  const auto response = complete(*down, request_of());
  EXPECT_EQ(kind(response), "network retriable");
  EXPECT_TRUE(response.error().message.starts_with("openai:m: ")) << response.error().message;
}

TEST_F(VendorModelTest, SlowServer_TimesOut) {
  const auto silent =
      ask([](const TestRequest&, TestConnection& to) { to.wait_for_close(); }, {.first_byte = 50ms});
  EXPECT_EQ(kind(silent), "timeout retriable");
  const auto stuck = ask(
      [](const TestRequest&, TestConnection& to) {
        to.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + kHello.substr(0, 90));
        to.wait_for_close();
      },
      {.idle = 50ms});
  EXPECT_EQ(kind(stuck), "timeout retriable");
}

TEST_F(VendorModelTest, ErrorStatuses_AreClassified) {
  EXPECT_EQ(kind(ask(http_reply(401, R"({"error":{"message":"bad key","code":"invalid_api_key"}})"))),
            "auth");
  EXPECT_EQ(kind(ask(http_reply(500, "<html>oops</html>"))), "server retriable");
  const auto limited = ask(http_reply(429, R"({"error":{"message":"slow"}})", "retry-after: 3\r\n"));
  EXPECT_EQ(kind(limited), "rate_limit retriable");
  EXPECT_EQ(json_int(limited.error().detail(), "retry_after_ms"), 3000);
  EXPECT_EQ(json_int(limited.error().detail(), "status"), 429);
}

TEST_F(VendorModelTest, TruncatedErrorBody_KeepsItsStatus) {
  const auto response = ask([](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 429 Slow\r\nContent-Length: 1000\r\nretry-after: 2\r\n\r\n{\"error\":");
    to.close();
  });
  EXPECT_EQ(kind(response), "rate_limit retriable");
  EXPECT_EQ(json_int(response.error().detail(), "retry_after_ms"), 2000);
}

TEST_F(VendorModelTest, ErrorsOnStatus200_AreErrors) {
  EXPECT_EQ(kind(ask(http_reply(200, R"({"error":{"message":"busy","code":503}})"))), "overloaded retriable");
  EXPECT_EQ(kind(ask(event_stream(
                "event: error\ndata: {\"error\":{\"message\":\"x\",\"type\":\"server_error\"}}\n\n"))),
            "server retriable");
  EXPECT_EQ(kind(ask(event_stream(kCall.substr(0, kCall.find("\n\n") + 2) +
                                  R"({"error":{"message":"x","code":429}})"))),
            "rate_limit retriable");
  EXPECT_EQ(kind(ask(http_reply(200, "<html>log in</html>"))), "protocol");
  EXPECT_EQ(kind(ask(event_stream("data: nonsense\n\n"))), "protocol");
  EXPECT_EQ(kind(ask(http_reply(200, ""))), "truncated_stream retriable");
  EXPECT_EQ(kind(ask(http_reply(200, "just words\n"))), "truncated_stream retriable");
}

TEST_F(VendorModelTest, HugeErrorBody_IsBounded) {
  const auto response = ask(http_reply(500, std::string(1'000'000, 'x')));
  EXPECT_EQ(kind(response), "server retriable");
  EXPECT_LT(to_json_text(to_json(response.error())).size(), 10'000U);
}

TEST_F(VendorModelTest, TheKey_NeverAppearsInErrors) {
  for (const auto* body :
       {R"({"error":{"message":"no such key: sk-secret","code":"sk-secret"}})", "key sk-secret?"}) {
    const auto response = ask(http_reply(401, body));
    EXPECT_EQ(to_json_text(to_json(response.error())).find("sk-secret"), std::string::npos) << body;
  }
}

TEST_F(VendorModelTest, TruncatedKey_DoesNotAppearInErrors) {
  for (std::size_t before = 1985; before < 2000; ++before) {  // texts are truncated at 2000 bytes
    const std::string said = std::string(before, 'w') + "sk-secret and more";
    const auto response = ask(http_reply(401, R"({"error":{"message":")" + said + R"("}})"));
    EXPECT_EQ(to_json_text(to_json(response.error())).find("sk-sec"), std::string::npos) << before;
  }
}

TEST_F(VendorModelTest, AnswerWithTheKey_IsMaskedInDeltasAndResponse) {
  key_ = "sk-0123456789abcdef";
  std::string body;
  for (const char* piece :
       {"first s", "k-01234", "56789abcdef, then sk", "y, then c2stMDEyMzQ1Njc4OWFiY2RlZg==", " s"})
    body += std::string(R"(data: {"choices":[{"index":0,"delta":{"content":")") + piece + "\"}}]}\n\n";
  body += "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
  const auto response = ask(event_stream(body));
  const std::string masked = "first [key], then sky, then [key]g== s";
  EXPECT_EQ(deltas_, masked);
  EXPECT_EQ(text(response), masked);
}

TEST_F(VendorModelTest, ToolCallWithTheKey_IsMasked) {
  key_ = "sk-0123456789abcdef";
  std::string body = kCall;
  body.replace(body.find("1}"), 1, R"(\"sk-0123456789abcdef\")");
  const auto response = ask(event_stream(body));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(std::get<ToolCallPart>(response->parts.at(0)).arguments, R"({"a":"[key]"})");
}

TEST_F(VendorModelTest, ShortPlaceholderKey_DoesNotChangeAnswers) {
  key_ = "ollama";
  std::string body = kHello;
  body.replace(body.find("Hel"), 3, "ollama, hel");
  EXPECT_EQ(text(ask(event_stream(body))), "ollama, hello");
}

TEST_F(VendorModelTest, Cancelling_ClosesTheConnection) {
  std::stop_source stop;
  const TestServer server([&](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + kHello.substr(0, 90));
    to.wait_for_close();
  });
  const auto response = complete(*model(server), request_of(), stop.get_token(),
                                 [&](const ModelDelta&) { stop.request_stop(); });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kCancelled);
  server.wait_until_idle();
}

TEST_F(VendorModelTest, BytesWithoutContent_EmitKeepAlive) {
  std::promise<void> heard;
  std::size_t alive = 0;
  const TestServer server([&](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\n\r\n: waiting\n\n");
    heard.get_future().wait();
    to.write(kHello);
    to.close();
  });
  const auto response = complete(*model(server), request_of(), {}, [&](const ModelDelta& delta) {
    if (std::holds_alternative<KeepAlive>(delta) && ++alive == 1) heard.set_value();
  });
  EXPECT_EQ(text(response), "Hello");
}

}  // namespace
}  // namespace praxis
