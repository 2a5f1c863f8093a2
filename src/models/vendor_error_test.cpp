#include "models/vendor_error.hpp"

#include <gtest/gtest.h>

#include "praxis/models/model.hpp"

namespace praxis {
namespace {

struct VendorErrorCase {
  std::string_view what;
  int status;
  std::string_view body;
  std::string_view kind;
  bool retriable;
  std::string_view message;  ///< a substring of it
};

constexpr VendorErrorCase kCases[] = {
    {"OpenAI", 401,
     R"({"error":{"message":"Bad key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}})",
     "auth", false, "Bad key"},
    {"forbidden", 403, R"({"error":{"message":"no","status":"PERMISSION_DENIED"}})", "auth", false, "no"},
    {"quota", 429,
     R"({"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}})",
     "billing", false, "quota"},
    {"no money", 402, "", "billing", false, "402"},
    {"rate", 429, R"({"error":{"message":"slow down","type":"tokens","code":"rate_limit_exceeded"}})",
     "rate_limit", true, "slow down"},
    {"too large for the tier", 429,
     R"({"error":{"message":"Request too large for gpt-x: Limit 100, Requested 200","code":"rate_limit_exceeded"}})",
     "context_overflow", false, "Requested 200"},
    {"overflow code", 400, R"({"error":{"message":"too many","code":"context_length_exceeded"}})",
     "context_overflow", false, "too many"},
    {"overflow text", 400, R"({"error":{"message":"This model's maximum context length is 4096 tokens"}})",
     "context_overflow", false, "4096"},
    {"llama-server", 400,
     R"({"error":{"code":400,"message":"the request exceeds","type":"exceed_context_size_error","n_ctx":8}})",
     "context_overflow", false, "exceeds"},
    {"policy", 400,
     R"({"error":{"message":"filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}})",
     "content_policy", false, "filtered"},
    {"model", 404, R"({"error":{"message":"no such model","code":"model_not_found"}})", "not_found", false,
     "no such model"},
    {"model as 400", 400, R"({"error":{"message":"x/y is not a valid model ID","code":400},"user_id":"u"})",
     "not_found", false, "x/y"},
    {"parameter", 400,
     R"({"error":{"message":"Unsupported parameter: 'max_tokens'","code":"unsupported_parameter"}})",
     "invalid_request", false, "max_tokens"},
    {"Gemini list", 400,
     R"([{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}])", "auth", false,
     "API key not valid"},
    {"double-encoded", 503,
     R"({"error":{"message":"{\"error\":{\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}"}})", "overloaded",
     true, "busy"},
    {"OpenRouter", 502,
     R"({"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream died"}}})",
     "server", true, "upstream died"},
    {"Mistral", 401,
     R"({"object":"error","message":"Unauthorized","type":"invalid","code":"3051","raw_status_code":401})",
     "auth", false, "Unauthorized"},
    {"detail text", 404, R"({"detail":"Not Found"})", "not_found", false, "Not Found"},
    {"detail list", 422, R"({"detail":[{"loc":["body","model"],"msg":"field required"}]})", "invalid_request",
     false, R"(field required at ["body","model"])"},
    {"message with detail", 422, R"({"object":"error","message":{"detail":[{"loc":["a"],"msg":"bad"}]}})",
     "invalid_request", false, "bad"},
    {"xAI", 400, R"({"code":"Client specified an invalid argument","error":"Incorrect API key provided"})",
     "auth", false, "Incorrect API key"},
    {"Ollama", 500, R"({"error":"model runner has stopped"})", "server", true, "runner"},
    {"vLLM", 400,
     R"({"object":"error","message":"bad schema","type":"BadRequestError","param":null,"code":400})",
     "invalid_request", false, "bad schema"},
    {"HTML", 502, "<html><h1>502 Bad Gateway</h1></html>", "server", true, "502"},
    {"empty", 500, "", "server", true, "500"},
    {"overloaded", 529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
     "overloaded", true, "Overloaded"},
    {"lock", 409, "{}", "server", true, "409"},
    {"timeout", 408, "", "timeout", true, "408"},
    {"gateway timeout", 504, "", "server", true, "504"},
    {"too large", 413, "", "context_overflow", false, "413"},
    {"more than a minute's tokens", 429,
     R"({"error":{"message":"Tokens per minute: Limit 7000, Used 0, Requested ~12903. Try again in 50s.","type":"tokens"}})",
     "context_overflow", false, "12903"},
    {"a minute's tokens used up", 429,
     R"({"error":{"message":"Tokens per minute: Limit 7000, Used 6900, Requested 500.","type":"tokens"}})",
     "rate_limit", true, "6900"},
    {"long context costs extra", 429,
     R"({"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}})",
     "billing", false, "long context"},
    {"Gemini's reason", 400,
     R"({"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}})",
     "auth", false, "no"},
    {"redirect", 302, "", "protocol", false, "302"},
};

TEST(VendorError, EveryEnvelope_IsParsed) {
  for (const VendorErrorCase& c : kCases) {
    const Error error = http_error({c.status, {}}, c.body);
    EXPECT_EQ(error.code, ErrorCode::kModel) << c.what;
    EXPECT_EQ(json_string(error.detail(), "kind"), c.kind) << c.what;
    EXPECT_EQ(json_int(error.detail(), "status"), c.status) << c.what;
    EXPECT_EQ(error.retriable, c.retriable) << c.what;
    EXPECT_NE(error.message.find(c.message), std::string::npos) << c.what << ": " << error.message;
  }
}

TEST(VendorError, CodeInAStream_ReplacesTheHttpStatus) {
  const auto kind = [](std::string_view body) {
    const Error error = vendor_error(read_error_envelope(parse_json(body).value()).value(), 0);
    return json_string(error.detail(), "kind") + (error.retriable ? " retriable" : "");
  };
  EXPECT_EQ(kind(R"({"error":{"message":"x","code":502}})"), "server retriable");
  EXPECT_EQ(kind(R"({"error":{"message":"x","code":429}})"), "rate_limit retriable");
  EXPECT_EQ(kind(R"({"error":{"message":"x","type":"overloaded_error"}})"), "overloaded retriable");
  EXPECT_EQ(kind(R"({"error":{"message":"x","type":"invalid_request_error"}})"), "invalid_request");
  EXPECT_EQ(kind(R"({"error":{"message":"x","type":"server_error"}})"), "server retriable");
  EXPECT_EQ(kind(R"({"error":{"message":"x","code":"rate_limit_exceeded"}})"), "rate_limit retriable");
}

TEST(VendorError, VendorsMessage_IsKept) {
  const auto words = [](std::string_view body) {
    const Error error = vendor_error(read_error_envelope(parse_json(body).value()).value(), 400);
    return to_json_text(json_at(error.detail(), "type")) + ' ' +
           to_json_text(json_at(error.detail(), "code")) + ' ' + json_string(error.detail(), "message");
  };
  EXPECT_EQ(words(R"({"error":{"message":"m","type":"t","param":null,"code":"c"}})"), R"("t" "c" m)");
  EXPECT_EQ(words(R"({"error":{"code":404,"message":"m","status":"NOT_FOUND"}})"), R"("NOT_FOUND" 404 m)");
  EXPECT_EQ(words(R"({"type":"error","error":{"type":"overloaded_error","message":"m"}})"),
            R"("overloaded_error" null m)");
  EXPECT_EQ(words(R"({"type":"error","code":"c","message":"m"})"), R"(null "c" m)")
      << "the event's name is no type";
  EXPECT_EQ(words(R"({"object":"error","message":"m","type":"t","code":"3051"})"), R"("t" "3051" m)");
  EXPECT_EQ(words(R"({"code":"c","error":"m"})"), R"(null "c" m)");
  EXPECT_EQ(words(R"({"error":"m"})"), "null null m");
}

TEST(VendorError, RequiredChange_IsReported) {
  const auto change = [](std::string_view error) {
    const Error read = http_error({400, {}}, R"({"error":)" + std::string(error) + '}');
    return json_string(read.detail(), "change") + (read.retriable ? " retriable" : "");
  };
  EXPECT_EQ(change(R"({"message":"prompt is too long: 9 tokens > 8 maximum"})"), "compact");
  EXPECT_EQ(change(R"({"message":"no call","code":"tool_use_failed","failed_generation":"x"})"), "note");
  EXPECT_EQ(change(R"({"message":"Schema is too complex for compilation.","type":"invalid_request_error"})"),
            "non_strict");
  EXPECT_EQ(change(R"({"message":"gone","code":"previous_response_not_found"})"), "full_history");
  EXPECT_EQ(change(R"({"message":"Item with id 'rs_1' not found."})"), "full_history");
  EXPECT_EQ(change(R"({"message":"Unsupported parameter"})"), "");
}

TEST(VendorError, Headers_ApplyToAnErrorInsideAStream) {
  Error error = vendor_error({.message = "slow down", .type = "rate_limit_error"}, 0);
  add_headers(error, {{"retry-after", "9"}, {"request-id", "req_1"}, {"x-should-retry", "false"}});
  EXPECT_EQ(json_int(error.detail(), "retry_after_ms"), 9000);
  EXPECT_EQ(json_string(error.detail(), "request_id"), "req_1");
  EXPECT_FALSE(error.retriable);
}

TEST(VendorError, Answer_IsNotAnEnvelope) {
  EXPECT_FALSE(read_error_envelope(parse_json(R"({"choices":[{"message":{}}],"error":null})").value()));
  EXPECT_FALSE(read_error_envelope(parse_json(R"({"id":"x"})").value()));
  EXPECT_FALSE(read_error_envelope(parse_json("[1]").value()));
  EXPECT_FALSE(read_error_envelope(parse_json("7").value()));
  EXPECT_FALSE(read_error_envelope(parse_json(R"({"message":{"role":"assistant"},"done":true})").value()));
}

std::int64_t delay(HttpHeaders headers, std::string_view body = "") {
  return json_int(http_error({429, std::move(headers)}, body).detail(), "retry_after_ms", -1);
}

TEST(VendorError, RetryAfter_IsReadInEverySpelling) {
  EXPECT_EQ(delay({}), -1);
  EXPECT_EQ(delay({{"retry-after-ms", "1500"}}), 1500);
  EXPECT_EQ(delay({{"Retry-After", "7"}}), 7000);
  EXPECT_EQ(delay({{"retry-after", "0.25"}}), 250);
  EXPECT_EQ(delay({{"retry-after", "7"}, {"retry-after-ms", "20"}}), 20);
  EXPECT_EQ(
      delay({{"retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"}, {"date", "Wed, 21 Oct 2015 07:28:00 GMT"}}),
      30'000);
  EXPECT_EQ(
      delay({{"retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"}, {"date", "Wed, 21 Oct 2015 07:28:30 GMT"}}), 0)
      << "in the past";
  EXPECT_EQ(delay({{"retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"}}), -1)
      << "against no date of the server's";
  EXPECT_EQ(delay({{"retry-after", "soon"}}), -1);
  EXPECT_EQ(delay({{"retry-after", "-5"}}), 0);
  EXPECT_EQ(delay({}, R"({"error":{"message":"m","details":[{"@type":"RetryInfo","retryDelay":"48s"}]}})"),
            48'000);
  EXPECT_EQ(delay({}, R"({"error":{"message":"Please try again in 1m2.5s. Visit us."}})"), 62'500);
  EXPECT_EQ(delay({}, R"({"error":{"message":"try again in 644ms"}})"), 644);
  EXPECT_EQ(delay({}, R"({"error":{"message":"Please try again in 9m38.016s"}})"), 578'016);
  EXPECT_EQ(delay({}, R"({"error":{"message":"Quota exceeded\nPlease retry in 48.9s."}})"), 48'900);
  EXPECT_EQ(delay({{"retry-after", "3"}}, R"({"error":{"message":"try again in 644ms"}})"), 3000);
}

TEST(VendorError, RetryAfter_IsAFiniteNumber) {
  for (const std::string value : {"nan", "-nan", "inf", "-inf", "infinity"}) {
    EXPECT_EQ(retry_after_header({{"retry-after", value}}), std::nullopt) << value;
    EXPECT_EQ(retry_after_header({{"retry-after-ms", value}}), std::nullopt) << value;
  }
}

TEST(VendorError, Durations_AreStrict) {
  EXPECT_EQ(parse_duration_ms("6m0s"), 360'000);
  EXPECT_EQ(parse_duration_ms("17ms"), 17);
  EXPECT_EQ(parse_duration_ms("1h"), 3'600'000);
  for (const auto* bad : {"", "5", "s", "1x", "1.2.3s", "m5s", "..s"})
    EXPECT_FALSE(parse_duration_ms(bad)) << bad;
}

TEST(VendorError, ShouldRetryHeader_OverridesTheStatus) {
  EXPECT_FALSE(http_error({500, {{"x-should-retry", "false"}}}, "").retriable);
  EXPECT_TRUE(http_error({400, {{"x-should-retry", "true"}}}, "").retriable);
}

TEST(VendorError, DailyQuota_IsNotRetriable) {
  const Error error =
      http_error({429, {}}, R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota",)"
                            R"("details":[{"violations":[{"quotaId":"RequestsPerDayPerModel"}]}]}})");
  EXPECT_EQ(error.kind(), ErrorKind::kBilling);
  EXPECT_FALSE(error.retriable);
}

TEST(VendorError, LongBody_IsTruncated) {
  const Error error = http_error({500, {}}, std::string(100'000, 'x'));
  EXPECT_LT(error.message.size(), 5000U);
  EXPECT_LT(json_string(error.detail(), "body").size(), 5000U);
  EXPECT_LT(http_error({500, {}}, R"({"error":")" + std::string(50'000, 'x') + "\"}").message.size(), 5000U);
}

TEST(VendorError, TransportError_KeepsItsRetriability) {
  const auto kind = [](std::string_view cause, bool answering) {
    const Error error = make_error(ErrorCode::kModel, error_kind_from(cause), "no", true);
    return json_string(transport_error(error, answering).detail(), "kind");
  };
  EXPECT_EQ(kind("connect", false), "network");
  EXPECT_EQ(kind("closed", false), "network");
  EXPECT_EQ(kind("closed", true), "truncated_stream");
  EXPECT_EQ(kind("timeout_idle", true), "timeout");
  EXPECT_EQ(kind("protocol", true), "protocol");
}

TEST(VendorError, BrokenOffCall_MayHaveCost) {
  const auto broke = [](std::string_view cause, bool answering) {
    const Error error = make_error(ErrorCode::kModel, error_kind_from(cause), "no", true);
    return may_have_cost(transport_error(error, answering));
  };
  for (const char* unsent : {"dns", "connect", "proxy", "tls", "timeout_connect"}) {
    EXPECT_FALSE(broke(unsent, false)) << unsent;
  }
  EXPECT_TRUE(broke("closed", false));
  EXPECT_TRUE(broke("closed", true));
  EXPECT_TRUE(broke("timeout_first_byte", false));
  EXPECT_TRUE(may_have_cost(make_error(ErrorCode::kCancelled, "cancelled")));
  EXPECT_FALSE(may_have_cost(http_error({429, {}}, "{}")));
  EXPECT_FALSE(may_have_cost(http_error({500, {}}, "{}")));
}

}  // namespace
}  // namespace praxis
