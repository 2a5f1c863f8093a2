// The client over HTTP, against tests/mcp/http_server.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "praxis/base/reach.hpp"
#include "praxis/mcp/mcp_client.hpp"
#include "praxis/process/process.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class McpHttpTest : public ::testing::Test {
 protected:
  /// Starts a server of this behaviour and returns its address.
  std::string serve(const std::string& behaviour) {
    ProcessSpec spec;
    spec.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/mcp/http_server.py", behaviour};
    spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    spec.channel_is_stdio = true;
    auto process = start_process(spec);
    if (!process) throw std::runtime_error(process.error().message);
    std::array<char, 16> port{};
    const ssize_t got = read(process->channel(), port.data(), port.size());
    server_ = std::make_unique<Process>(*std::move(process));
    return "http://127.0.0.1:" + std::string(port.data(), static_cast<std::size_t>(got - 1)) + "/mcp";
  }
  McpEndpoint endpoint(const std::string& behaviour, const std::string& token = "") {
    McpEndpoint made;
    made.url = serve(behaviour);
    made.token = token;
    made.http = http_;
    made.use_proxy = false;
    made.allow_address = [](std::string_view address) { return address == "127.0.0.1"; };
    return made;
  }
  static McpCallOptions within(std::chrono::milliseconds time) {
    McpCallOptions options;
    options.deadline = std::chrono::steady_clock::now() + time;
    return options;
  }
  static Result<McpResult> call(McpClient& client, const std::string& tool, const std::string& text = "x") {
    return client.call(tool, JsonObject{{"text", text}}, within(std::chrono::seconds(20)));
  }

  std::shared_ptr<HttpClient> http_ = make_http_client();
  std::unique_ptr<Process> server_;
};

TEST_F(McpHttpTest, ServerWithAHandshake_GetsItsSessionAndVersionBack) {
  McpClient client(endpoint("usual"));
  EXPECT_EQ(client.info().value().protocol, "2025-11-25");
  EXPECT_EQ(client.tools().value().tools.size(), 4U);
  EXPECT_EQ(call(client, "echo", "hello").value().text, "hello");
  EXPECT_THAT(call(client, "headers").value().text,
              AllOf(HasSubstr(R"("mcp-session-id": "session-7")"),
                    HasSubstr(R"("mcp-protocol-version": "2025-11-25")")));
}

TEST_F(McpHttpTest, StatelessServer_GetsTheHeadersOfEachRequest) {
  McpClient client(endpoint("modern"));
  const auto list = client.tools();
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->tools.size(), 3U);
  ASSERT_EQ(list->left_out.size(), 1U);
  EXPECT_THAT(list->left_out[0].why, HasSubstr("\"X\" is not a string, an integer or a boolean"));
  EXPECT_THAT(call(client, "headers").value().text,
              AllOf(HasSubstr(R"("mcp-method": "tools/call")"), HasSubstr(R"("mcp-name": "headers")")));
}

TEST_F(McpHttpTest, ArgumentsThatAToolWantsInHeaders_AreSentInThemToo) {
  McpClient client(endpoint("modern"));
  const JsonObject arguments{{"text", " padded"}, {"deep", JsonObject{{"n", 7}}}};
  const auto result = client.call("headers", arguments, within(std::chrono::seconds(20)));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->text, AllOf(HasSubstr(R"("mcp-param-text": "=?base64?IHBhZGRlZA==?=")"),
                                  HasSubstr(R"("mcp-param-n": "7")")));
  const auto without =
      client.call("headers", JsonObject{{"text", nullptr}}, within(std::chrono::seconds(20)));
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_THAT(without->text, Not(HasSubstr("mcp-param")));
}

TEST_F(McpHttpTest, CallThatLacksAHeader_IsMadeAgainByTheNewListOfTools) {
  McpClient client(endpoint("moved"));
  ASSERT_TRUE(client.tools());
  const auto result = call(client, "echo", "hello");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "hello");
}

TEST_F(McpHttpTest, SpanOfTheCaller_IsSentInMeta) {
  for (const char* behaviour : {"usual", "modern"}) {
    McpClient client(endpoint(behaviour));
    McpCallOptions options = within(std::chrono::seconds(20));
    options.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    options.tracestate = "rojo=1";
    const auto answer = client.call("headers", JsonObject{{"text", "x"}}, options);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_THAT(answer->text, HasSubstr("\"traceparent\": \"" + options.traceparent)) << behaviour;
    EXPECT_THAT(answer->text, HasSubstr("\"tracestate\": \"rojo=1\"")) << behaviour;
    EXPECT_THAT(call(client, "headers").value().text, HasSubstr("\"traceparent\": null"));
  }
}

TEST_F(McpHttpTest, CancelledCall_ClosesItsStream) {
  McpClient client(endpoint("usual"));
  std::stop_source stop;
  McpCallOptions options;
  options.stop = stop.get_token();
  std::vector<std::string> progress;
  options.on_progress = [&](const std::string& text, std::optional<double>) {
    progress.push_back(text);
    stop.request_stop();
  };
  const auto result = client.call("wait", JsonObject{}, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reach_of(result.error()), Reach::kSent);
  EXPECT_THAT(progress, ElementsAre("half"));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string seen;
  while (!seen.contains("\"closed\": 1") && std::chrono::steady_clock::now() < end)
    seen = call(client, "headers").value().text;
  EXPECT_THAT(seen, HasSubstr("\"closed\": 1"));
}

TEST_F(McpHttpTest, CallWithoutAnAnswer_EndsAtItsDeadline) {
  McpClient client(endpoint("usual"));
  ASSERT_TRUE(client.info());
  const auto result = client.call("wait", JsonObject{}, within(std::chrono::milliseconds(200)));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kTimeout);
  EXPECT_EQ(reach_of(result.error()), Reach::kSent);
}

TEST_F(McpHttpTest, RequestsOfTheServer_AreAnswered) {
  McpBounds bounds;
  bounds.roots = {"/srv/my notes"};
  McpClient client(endpoint("usual"), bounds);
  const auto result = call(client, "requests");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text,
            R"({"other-1": {"code": -32601, "message": "this client offers no no/such"}, "ping-1": {}, )"
            R"("roots-1": {"roots": [{"uri": "file:///srv/my%20notes"}]}})");
}

TEST_F(McpHttpTest, StreamThatBreaksOffBeforeTheAnswer_IsTakenUpAgain) {
  McpClient client(endpoint("usual"));
  const auto result = call(client, "early");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "taken up");
}

TEST_F(McpHttpTest, StreamThatCannotBeTakenUp_LeavesTheOutcomeUnknown) {
  McpClient client(endpoint("usual"));
  const auto result = call(client, "lost");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("HTTP 405"));
  EXPECT_EQ(reach_of(result.error()), Reach::kSent);
}

TEST_F(McpHttpTest, Redirect_IsNotFollowed) {
  McpClient client(endpoint("redirecting"));
  const auto info = client.info();
  ASSERT_FALSE(info);
  EXPECT_THAT(info.error().message,
              AllOf(HasSubstr("a redirect to http://169.254.169.254/"), HasSubstr("not followed")));
}

TEST_F(McpHttpTest, Token_IsSentAsABearer_AndMissedByName) {
  McpClient with(endpoint("guarded", "secret-token"));
  EXPECT_TRUE(with.info());
  McpClient without(endpoint("guarded"));
  const auto info = without.info();
  ASSERT_FALSE(info);
  EXPECT_THAT(info.error().message, AllOf(HasSubstr("HTTP 401"), HasSubstr("token")));
}

TEST_F(McpHttpTest, AddressThatTheRuleRefuses_IsNotReached) {
  McpEndpoint refused = endpoint("usual");
  refused.allow_address = [](std::string_view) { return false; };
  McpClient client(refused);
  const auto info = client.info();
  ASSERT_FALSE(info);
  EXPECT_EQ(reach_of(info.error()), Reach::kNotSent);
}

}  // namespace
}  // namespace praxis
