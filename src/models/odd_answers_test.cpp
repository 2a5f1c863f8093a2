// Answers that deviate from the documentation: missing fields, nulls, other types, unknown parts, errors and
// usage in unexpected places. Every protocol reads what can be understood.
#include <gtest/gtest.h>

#include "models/answer_parser.hpp"

namespace praxis {
namespace {

Result<ModelResponse> parse(std::string_view api, std::string_view body) {
  const auto codec = make_codec(api, {.provider = "p", .model = "m"}).value();
  AnswerParser parser(*codec, {.call_prefix = "call_"});
  parser.head({200, {}});
  parser.feed(body);
  return parser.finish({});
}

/// Text, calls (`!` before an invalid one), finish reason and tokens in one line.
std::string summary(const Result<ModelResponse>& answer) {
  if (!answer) return "error " + json_string(answer.error().detail(), "kind");
  std::string out;
  for (const Part& part : answer->parts) {
    if (const auto* text = std::get_if<TextPart>(&part)) out += "text(" + text->text + ") ";
    if (const auto* thought = std::get_if<ReasoningPart>(&part))
      out += "thought(" + thought->text + thought->summary + ") ";
    if (const auto* refusal = std::get_if<RefusalPart>(&part)) out += "refusal(" + refusal->text + ") ";
    if (const auto* opaque = std::get_if<OpaquePart>(&part)) out += "opaque(" + opaque->kind + ") ";
    const auto* call = std::get_if<ToolCallPart>(&part);
    if (call != nullptr) out += (call->valid ? "" : "!") + call->name + "(" + call->arguments + ") ";
  }
  out += to_string(answer->finish);
  if (answer->usage.estimated) return out;
  return out + " " + std::to_string(answer->usage.input) + "+" + std::to_string(answer->usage.output);
}

struct Case {
  std::string_view api;
  std::vector<std::string> pieces;  ///< events of a stream, or one whole body
  std::string expected;
};

std::string body_of(const Case& one) {
  if (one.pieces.size() == 1) return one.pieces.front();
  std::string body;
  for (const std::string& piece : one.pieces)
    body += one.api == "ollama" ? piece + "\n" : "data: " + piece + "\n\n";
  return body;
}

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases)
    EXPECT_EQ(summary(parse(one.api, body_of(one))), one.expected) << body_of(one);
}

TEST(OddAnswers, UnpairedSurrogate_IsReplaced) {
  check(
      {{"chat",
        {R"({"choices":[{"index":0,"delta":{"content":"a\ud83d"}}]})",
         R"({"choices":[{"index":0,"delta":{"content":"\\ud83d \ud83d\ude00"}}]})",
         R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})", "[DONE]"},
        "text(a\xEF\xBF\xBD\\ud83d \xF0\x9F\x98\x80) stop"},
       {"chat",
        {R"({"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":\"\\ude00\"}"}}]},"finish_reason":"tool_calls"}]})"},
        R"(f({"a":"\ufffd"}) tool_calls)"},
       {"gemini",
        {R"({"candidates":[{"content":{"parts":[{"text":"\udc00b"}]},"finishReason":"STOP"}]})"},
        "text(\xEF\xBF\xBD"
        "b) stop"},
       {"ollama",
        {R"({"message":{"content":"a\ud800"},"done":false})",
         R"({"message":{"content":""},"done":true,"done_reason":"stop"})"},
        "text(a\xEF\xBF\xBD) stop"},
       {"messages",
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\xFF\"}],\"stop_reason\":\"end_turn\"}"},
        "text(a\xEF\xBF\xBD) stop"}});
}

TEST(OddAnswers, FieldOfAnotherType_CountsAsMissing) {
  check(
      {{"chat",
        {R"({"id":7,"model":null,"choices":[{"index":"0","message":{"content":7,"refusal":{},"tool_calls":{},"reasoning":[],"annotations":"no","function_call":""},"finish_reason":"stop"}],"usage":"none"})"},
        "stop"},
       {"chat",
        {R"({"choices":[{"message":{"content":"a","tool_calls":[null,7,{"id":5,"function":{"name":"f","arguments":null}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":null,"completion_tokens":4.0,"total_tokens":"9"}})"},
        "text(a) f() tool_calls 0+4"},
       {"responses",
        {R"({"status":"completed","output":[null,7,{"type":5},{"type":"message","content":[null,{"type":"output_text","text":7},{"type":"output_text","text":"a","annotations":null}]},{"type":"function_call","call_id":null,"name":"f","arguments":null}],"usage":{"input_tokens":2,"output_tokens":null}})"},
        "opaque() opaque() text(a) f() tool_calls 2+0"},
       {"messages",
        {R"({"content":[null,7,{"type":"text","text":null},{"type":"text","text":"a","citations":null},{"type":"tool_use","id":null,"name":"f","input":null}],"stop_reason":"tool_use","usage":{"input_tokens":null,"output_tokens":3}})"},
        "text() text(a) f() tool_calls 0+3"},
       {"gemini",
        {R"({"candidates":[{"index":null,"content":{"parts":[null,7,{"text":null},{"text":"a","thoughtSignature":7},{"functionCall":{"name":"f","args":null}}]},"finishReason":"STOP","citationMetadata":7}],"usageMetadata":{"promptTokenCount":null,"candidatesTokenCount":2}})"},
        "text(a) f({}) tool_calls 0+2"},
       {"ollama",
        {R"({"message":{"role":null,"content":"a","thinking":null,"tool_calls":[null,{"function":{"name":"f","arguments":null}}]},"done":true,"done_reason":null,"eval_count":null,"prompt_eval_count":3})"},
        "text(a) f(null) tool_calls 3+0"}});
}

/// The kind of an error and the usage stated before it; `~`: the output may be larger.
std::string stated_usage(std::string_view api, const std::vector<std::string>& pieces) {
  auto answer = parse(api, body_of({api, pieces, ""}));
  if (answer) return "an answer";
  const std::string kind = json_string(answer.error().detail(), "kind");
  const auto usage = take_reported_usage(answer.error());
  if (!usage) return kind;
  return kind + (usage->estimated ? " ~" : " ") + std::to_string(usage->input) + "+" +
         std::to_string(usage->output);
}

TEST(OddAnswers, ChatUsageStatedBeforeAnError_ComesWithIt) {
  const std::string text = R"({"choices":[{"index":0,"delta":{"content":"a"}}]})";
  const std::string usage = R"("usage":{"prompt_tokens":9,"completion_tokens":4})";
  const std::string counted = R"({"choices":[],)" + usage + "}";
  const std::string failed = R"("error":{"code":503,"message":"m"})";
  const std::string finish = R"("choices":[{"index":0,"delta":{},"finish_reason":"error"}])";
  const auto stated = [](const std::vector<std::string>& pieces) { return stated_usage("chat", pieces); };
  EXPECT_EQ(stated({text, counted, "{" + failed + "}"}), "overloaded ~9+4");
  EXPECT_EQ(stated({text, "{" + failed + "," + finish + "," + usage + "}"}), "overloaded 9+4");
  EXPECT_EQ(stated({text, "{" + failed + "}", counted, "[DONE]"}), "overloaded ~9+4");
  EXPECT_EQ(stated({text, "{" + finish + "," + usage + "}", "[DONE]"}), "server 9+4");
  EXPECT_EQ(
      stated({text, R"({"choices":[{"index":0,"finish_reason":"error",)" + failed + "," + usage + "}]}"}),
      "overloaded 9+4");
  EXPECT_EQ(stated({text, "{" + finish + "," + usage + "}", "{" + failed + "}"}), "overloaded 9+4");
  EXPECT_EQ(stated({counted}), "truncated_stream ~9+4") << "an answer without choices";
  EXPECT_EQ(stated({text, counted}), "truncated_stream ~9+4");
  EXPECT_EQ(stated({text, "{" + failed + "}"}), "overloaded");
}

TEST(OddAnswers, UsageStatedBeforeAnError_ComesWithIt) {
  const std::string created =
      R"({"type":"response.created","response":{"id":"r","usage":{"input_tokens":9,"output_tokens":4}}})";
  EXPECT_EQ(stated_usage("responses", {created, R"({"type":"error","code":"server_error","message":"m"})"}),
            "server ~9+4");
  EXPECT_EQ(
      stated_usage(
          "responses",
          {R"({"type":"response.created","response":{"id":"r"}})",
           R"({"type":"response.failed","response":{"error":{"code":"server_error","message":"m"},"usage":{"input_tokens":9,"output_tokens":4}}})"}),
      "server 9+4");
  const std::string start =
      R"({"type":"message_start","message":{"id":"i","content":[],"usage":{"input_tokens":9,"output_tokens":1}}})";
  const std::string error = R"({"type":"error","error":{"type":"overloaded_error","message":"m"}})";
  const std::string end =
      R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}})";
  EXPECT_EQ(stated_usage("messages", {start, error}), "overloaded ~9+1");
  EXPECT_EQ(stated_usage("messages", {start, end, error}), "overloaded 9+4");
  EXPECT_EQ(stated_usage("messages", {start, end}), "truncated_stream 9+4");
  const std::string counts = R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4})";
  const std::string text = R"({"candidates":[{"content":{"parts":[{"text":"a"}]}}],)" + counts + "}";
  const std::string failed = R"("error":{"code":503,"message":"m","status":"UNAVAILABLE"})";
  EXPECT_EQ(stated_usage("gemini", {text, "{" + failed + "}"}), "overloaded ~9+4");
  EXPECT_EQ(stated_usage("gemini", {R"({"candidates":[{"content":{"parts":[{"text":"a"}]}}]})",
                                    "{" + failed + "," + counts + "}"}),
            "overloaded ~9+4");
  EXPECT_EQ(stated_usage("gemini", {R"({"candidates":[{"finishReason":"STOP"}],)" + counts + "}"}),
            "server 9+4")
      << "an empty answer";
  EXPECT_EQ(stated_usage("ollama", {R"({"message":{"content":"a"}})", R"({"error":"m"})"}), "server")
      << "counts come with the end only";
}

TEST(OddAnswers, ErrorAfterText_EndsTheAnswer) {
  const std::string chat = R"({"choices":[{"index":0,"delta":{"content":"a"}}]})";
  const std::string gemini = R"({"candidates":[{"content":{"parts":[{"text":"a"}]}}]})";
  check(
      {{"chat", {chat, R"({"error":"boom"})"}, "error server"},
       {"chat", {chat, R"({"error":{"code":429,"message":"slow down"},"choices":[]})"}, "error rate_limit"},
       {"chat",
        {chat,
         R"({"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":503,"message":"m"}}]})"},
        "error overloaded"},
       {"chat",
        {chat, R"({"object":"error","message":"overloaded","type":"server_error","code":500})"},
        "error server"},
       {"responses",
        {R"({"type":"response.output_text.delta","output_index":0,"delta":"a"})",
         R"({"type":"error","error":{"type":"server_error","code":"rate_limit_exceeded","message":"m"}})"},
        "error rate_limit"},
       {"messages",
        {R"({"type":"message_start","message":{"id":"i","content":[]}})",
         R"({"type":"error","error":{"type":"api_error","message":"m"}})"},
        "error server"},
       {"gemini",
        {gemini, R"({"error":{"code":503,"message":"m","status":"UNAVAILABLE"}})"},
        "error overloaded"},
       {"gemini", {gemini, R"([{"error":{"code":500,"message":"m","status":"INTERNAL"}}])"}, "error server"},
       {"ollama", {R"({"message":{"content":"a"},"done":false})", R"({"error":"boom"})"}, "error server"}});
}

TEST(OddAnswers, RepeatedUsage_IsReplacedNotAdded) {
  const std::string text = R"({"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],)";
  check(
      {{"chat",
        {text + R"("usage":{"prompt_tokens":3,"completion_tokens":1}})",
         R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}})", "[DONE]"},
        "text(a) stop 3+2"},
       {"chat",
        {text + R"("usage":null})", R"({"usage":{"prompt_tokens":3,"completion_tokens":2}})", "[DONE]"},
        "text(a) stop 3+2"},
       {"chat", {text + R"("usage":{"input_tokens":3,"output_tokens":2}})", "[DONE]"}, "text(a) stop 3+2"},
       {"gemini",
        {R"({"usageMetadata":{"promptTokenCount":3}})",
         R"({"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]})",
         R"({"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":4}})"},
        "text(a) stop 3+6"},
       {"messages",
        {R"({"type":"message_start","message":{"id":"i","content":[],"usage":{"input_tokens":3,"output_tokens":1}}})",
         R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
         R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})",
         R"({"type":"content_block_stop","index":0})",
         R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":2}})",
         R"({"type":"message_stop"})"},
        "text(a) stop 3+2"}});
}

TEST(OddAnswers, AnswerWithoutAnEndMarker_IsAnError) {
  check(
      {{"chat", {R"({"choices":[{"index":0,"delta":{"content":"a"}}]})", ": ping"}, "error truncated_stream"},
       {"gemini",
        {R"({"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":null}]})", "{}"},
        "error truncated_stream"},
       {"responses",
        {R"({"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}})",
         R"({"type":"response.output_text.delta","output_index":0,"delta":"a"})"},
        "error truncated_stream"},
       {"messages",
        {R"({"type":"message_start","message":{"id":"i","content":[]}})",
         R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})"},
        "error truncated_stream"}});
}

TEST(OddAnswers, AlternativeAnswers_AreIgnored) {
  check(
      {{"chat",
        {R"({"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"}}]})",
         R"({"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]})",
         R"({"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]})", "[DONE]"},
        "text(ab) stop"},
       {"chat",
        {R"({"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"},{"index":1,"message":{"content":"x"},"finish_reason":"length"}]})"},
        "text(a) stop"},
       {"gemini",
        {R"({"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"},{"index":1,"content":{"parts":[{"text":"x"}]},"finishReason":"MAX_TOKENS"}]})"},
        "text(a) stop"}});
}

}  // namespace
}  // namespace praxis
