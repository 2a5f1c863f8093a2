#include "models/answer_parser.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

Result<ModelResponse> parse(std::string_view api, const HttpResponseHead& head, std::string_view body,
                            const Status& transport = {}) {
  const auto codec = make_codec(api, {.provider = "p", .model = "m"}).value();
  AnswerParser parser(*codec, {.call_prefix = "call_"});
  parser.head(head);
  parser.feed(body);
  return parser.finish(transport);
}

std::string kind_of(const Result<ModelResponse>& answer) {
  return answer ? "none" : json_string(answer.error().detail(), "kind");
}

constexpr std::string_view kWhole =
    R"({"id":"r","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]})";
constexpr std::string_view kBegun = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";

TEST(AnswerParser, FirstByte_DeterminesTheShape) {
  EXPECT_TRUE(parse("chat", {200, {{"content-type", "text/event-stream"}}}, kWhole));
  EXPECT_TRUE(parse("chat", {200, {}}, "\xEF\xBB\xBF \r\n" + std::string(kWhole)))
      << "behind a byte order mark";
  EXPECT_TRUE(parse("chat", {200, {}}, std::string(kBegun) + "data: [DONE]\n\n"));
  EXPECT_EQ(kind_of(parse("chat", {200, {}}, "<html>sign in</html>")), "protocol");
  EXPECT_EQ(kind_of(parse("chat", {200, {}}, "")), "truncated_stream");
  EXPECT_EQ(kind_of(parse("chat", {200, {}}, " \n")), "truncated_stream");
}

TEST(AnswerParser, ErrorAfterTheEvents_IsTheStreamsError) {
  const auto answer =
      parse("chat", {200, {}},
            std::string(kBegun) + "proxy says\n{\n \"error\": {\"message\": \"no\", \"code\": 503}\n}\n");
  EXPECT_EQ(kind_of(answer), "overloaded");
}

TEST(AnswerParser, RetryDelayOfTheHeaders_AppliesToAnErrorInTheStream) {
  const auto answer = parse("chat", {200, {{"retry-after", "3"}, {"x-request-id", "q"}}},
                            R"(data: {"error":{"message":"slow","code":"rate_limit_exceeded"}})"
                            "\n\n");
  ASSERT_EQ(kind_of(answer), "rate_limit");
  EXPECT_EQ(json_int(answer.error().detail(), "retry_after_ms"), 3000);
  EXPECT_EQ(json_string(answer.error().detail(), "request_id"), "q");
}

TEST(AnswerParser, Answer_CarriesTheRequestId) {
  EXPECT_EQ(parse("chat", {200, {{"Request-Id", "req_1"}}}, kWhole)->request_id, "req_1");
}

TEST(AnswerParser, UsageStatedBeforeTheCallFailed_ComesWithTheError) {
  const std::string begun =
      std::string(kBegun) +
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n";
  const Usage stated{.input = 9, .output = 4, .estimated = true};
  const Status cut = fail(ErrorCode::kModel, ErrorKind::kClosed, "closed", true);
  auto answer = parse("chat", {200, {}}, begun, cut);
  EXPECT_EQ(kind_of(answer), "truncated_stream");
  EXPECT_EQ(take_reported_usage(answer.error()), stated);
  EXPECT_EQ(take_reported_usage(answer.error()), std::nullopt) << "it was taken";
  answer = parse("chat", {200, {}}, begun, fail(ErrorCode::kCancelled, "cancelled"));
  EXPECT_EQ(take_reported_usage(answer.error()), stated);
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(answer.error().detail().is_null());
  answer = parse("chat", {200, {}}, kBegun, cut);
  EXPECT_EQ(take_reported_usage(answer.error()), std::nullopt);
}

TEST(AnswerParser, CutConnection_FailsOnlyAnUnfinishedAnswer) {
  const Status cut = fail(make_error(ErrorCode::kModel, ErrorKind::kClosed, "closed", true));
  EXPECT_EQ(kind_of(parse("chat", {200, {}}, kBegun, cut)), "truncated_stream");
  EXPECT_TRUE(parse("chat", {200, {}}, std::string(kBegun) + "data: [DONE]\n\n", cut));
}

TEST(AnswerParser, LastLineWithoutNewline_IsRead) {
  const std::string first = R"({"message":{"content":"Hi"},"done":false})";
  const std::string last = R"({"message":{"content":""},"done":true,"done_reason":"stop"})";
  EXPECT_TRUE(parse("ollama", {200, {}}, first + "\n" + last));
  EXPECT_TRUE(parse("ollama", {200, {}}, first + "\r\n\r\n" + last + "\r\n"));
  EXPECT_EQ(kind_of(parse("ollama", {200, {}}, first + "\n" + last.substr(0, 20))), "truncated_stream");
}

TEST(AnswerParser, ByteOrderMarkBeforeLines_IsSkipped) {
  const std::string only = R"({"message":{"content":"Hi"},"done":true,"done_reason":"stop"})";
  EXPECT_TRUE(parse("ollama", {200, {}}, "\xEF\xBB\xBF" + only));
  EXPECT_TRUE(parse("ollama", {200, {}}, "\xEF\xBB\xBF" + only + "\n"));
}

TEST(AnswerParser, EmptyBody_IsAnError) {
  EXPECT_EQ(kind_of(parse("chat", {200, {}}, R"({"choices":[null]})")), "truncated_stream");
  EXPECT_EQ(kind_of(parse("chat", {200, {}}, R"({"choices":[{}]})")), "truncated_stream");
  EXPECT_EQ(kind_of(parse("messages", {200, {}}, R"({"content":[]})")), "truncated_stream");
  EXPECT_EQ(kind_of(parse("responses", {200, {}}, R"({"output":[]})")), "truncated_stream");
  EXPECT_TRUE(parse("messages", {200, {}}, R"({"content":[],"stop_reason":"end_turn"})"));
  EXPECT_TRUE(parse("responses", {200, {}}, R"({"output":[],"status":"completed"})"));
}

TEST(AnswerParser, OversizedEvent_IsAProtocolError) {
  EXPECT_EQ(kind_of(parse("chat", {200, {}}, "data: " + std::string(20'000'000, 'x'))), "protocol");
}

}  // namespace
}  // namespace praxis
