#include <gtest/gtest.h>

#include "base/testing/manual_executor.hpp"
#include "praxis/models/model.hpp"

namespace praxis {
namespace {

/// Records deltas and requests a stop after `stop_after` pieces.
class Listener final : public ModelSink {
 public:
  void on_delta(const ModelDelta& delta) override {
    EXPECT_FALSE(response) << "a delta after the end";
    std::visit([this](const auto& d) { note(d); }, delta);
    if (pieces.size() == stop_after) stop.request_stop();
  }
  void on_done(Result<ModelResponse> result) override {
    EXPECT_FALSE(response) << "two ends";
    response = std::move(result);
  }

  std::vector<std::string> pieces;
  std::size_t stop_after = 0;
  std::stop_source stop;
  std::optional<Result<ModelResponse>> response;

 private:
  void note(const TextChunk& d) { pieces.emplace_back(d.text); }
  void note(const ReasoningChunk& d) { pieces.push_back("~" + std::string(d.text)); }
  void note(const ToolCallChunk& d) { pieces.push_back(std::string(d.id) + "=" + std::string(d.name)); }
  void note(const ToolArgumentsChunk& d) { pieces.emplace_back(d.bytes); }
  void note(const auto&) {}
};

class ScriptModelTest : public testing::Test {
 protected:
  std::shared_ptr<Model> model(std::string_view script) {
    auto made = script_model(script, "test.jsonl", executor_);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : nullptr;
  }

  /// Starts a call; the script plays when the executor runs.
  std::shared_ptr<Listener> start(std::string_view script, const ModelRequest& request,
                                  std::size_t stop_after = 0) {
    const auto listener = std::make_shared<Listener>();
    listener->stop_after = stop_after;
    session_ = model(script)->open_session();
    session_->start(request, listener, listener->stop.get_token());
    return listener;
  }

  Result<ModelResponse> play(std::string_view script, const ModelRequest& request) {
    const auto listener = start(script, request);
    executor_->advance(std::chrono::hours(1));
    return listener->response.value();
  }

  /// The text, or the error kind, of a call.
  std::string outcome(std::string_view script, std::uint64_t ordinal, std::string agent = "") {
    ModelRequest request;
    request.ordinal = ordinal;
    request.agent = std::move(agent);
    const auto response = play(script, request);
    return response ? std::get<TextPart>(response->parts.at(0)).text
                    : json_string(response.error().detail(), "kind");
  }

  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>();
  std::unique_ptr<ModelSession> session_;
};

TEST_F(ScriptModelTest, Lines_AreUsedInOrderAndCommentsSkipped) {
  constexpr auto kScript = "# greeting\n{\"text\": \"one\"}\n\n  \r\n{\"text\": \"two\"}";
  EXPECT_EQ(outcome(kScript, 0), "one");
  EXPECT_EQ(outcome(kScript, 1), "two");
}

TEST_F(ScriptModelTest, CallBeyondTheScript_ReportsTheNumberOfLines) {
  ModelRequest request;
  request.ordinal = 1;
  const auto response = play(R"({"text": "one"})", request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kModel);
  EXPECT_FALSE(response.error().retriable);
  EXPECT_EQ(response.error().message, "test.jsonl: the script has 1 line for this agent, and this is call 2");
}

TEST_F(ScriptModelTest, ErrorLines_AreUsedInOrderToo) {
  constexpr auto kScript = R"({"text": "one"}
{"error": {"status": 500}}
{"error": {"code": "rate_limit_exceeded", "status": 429, "retry_after_ms": 40, "message": "slow"}}
{"text": "two"})";
  EXPECT_EQ(outcome(kScript, 0), "one");
  EXPECT_EQ(outcome(kScript, 0), "one") << "the same call again, after a crash say";
  EXPECT_EQ(outcome(kScript, 1), "server");
  EXPECT_EQ(outcome(kScript, 2), "rate_limit");
  EXPECT_EQ(outcome(kScript, 3), "two");
  EXPECT_EQ(outcome(kScript, 4), "not_found");
}

TEST_F(ScriptModelTest, ErrorLine_ProducesAVendorError) {
  const auto response = play(
      R"({"error": {"code": "rate_limit_exceeded", "status": 429, "retry_after_ms": 40, "message": "slow"}})",
      {});
  ASSERT_FALSE(response);
  EXPECT_TRUE(response.error().retriable);
  EXPECT_EQ(json_int(response.error().detail(), "retry_after_ms"), 40);
  EXPECT_EQ(json_int(response.error().detail(), "status"), 429);
  EXPECT_NE(response.error().message.find("slow"), std::string::npos);
}

TEST_F(ScriptModelTest, LinesOfAnAgent_AreSkippedByOthers) {
  constexpr auto kScript = R"({"agent": "child", "text": "c1"}
{"text": "any"}
{"agent": "root", "text": "r1"})";
  EXPECT_EQ(outcome(kScript, 0, "child"), "c1");
  EXPECT_EQ(outcome(kScript, 1, "child"), "any");
  EXPECT_EQ(outcome(kScript, 2, "child"), "not_found");
  EXPECT_EQ(outcome(kScript, 0, "root"), "any");
  EXPECT_EQ(outcome(kScript, 1, "root"), "r1");
}

TEST_F(ScriptModelTest, LineWithAsked_AnswersEveryMatchingPrompt) {
  constexpr auto kScript = R"({"asked": "cake", "text": "chocolate"}
{"text": "one"}
{"text": "two"})";
  const auto after = [&](Role role, std::string said, std::uint64_t ordinal) {
    HistoryBuilder builder;
    builder.push(std::make_shared<Message>(text_message(role, std::move(said))));
    ModelRequest request;
    request.history = builder.history();
    request.ordinal = ordinal;
    return std::get<TextPart>(play(kScript, request)->parts.at(0)).text;
  };
  EXPECT_EQ(after(Role::kUser, "Which cake?", 0), "chocolate");
  EXPECT_EQ(after(Role::kUser, "Which cake?", 7), "chocolate");
  EXPECT_EQ(after(Role::kUser, "Which games?", 1), "two");
  EXPECT_EQ(after(Role::kAssistant, "I like cake", 0), "one");
  EXPECT_EQ(outcome(kScript, 2), "not_found");
}

TEST_F(ScriptModelTest, Text_StreamsInChunksOfTheGivenSize) {
  const auto listener = start(
      R"({"reasoning": "hm", "text": "hello", "tool_calls": [{"name": "f", "arguments": {"a": 1}}], "chunk": 3})",
      {});
  EXPECT_FALSE(listener->response) << "a call must not end before it has started";
  executor_->run_ready();
  executor_->advance({});
  EXPECT_EQ(listener->pieces,
            (std::vector<std::string>{"~hm", "hel", "lo", "call_1_1=f", R"({"a)", R"(":1)", "}"}));
  const ModelResponse& response = listener->response->value();
  EXPECT_EQ(response.finish, FinishReason::kToolCalls);
  ASSERT_EQ(response.parts.size(), 3U);
  const auto& call = std::get<ToolCallPart>(response.parts[2]);
  EXPECT_EQ(call.id.value, "call_1_1");
  EXPECT_EQ(call.arguments, R"({"a":1})");
  EXPECT_TRUE(call.valid);
}

TEST_F(ScriptModelTest, CallWithoutStreaming_EmitsNoDeltas) {
  ModelRequest request;
  request.stream = false;
  const auto listener = start(R"({"text": "hello", "tool_calls": [{"name": "f"}]})", request);
  executor_->advance({});
  EXPECT_TRUE(listener->pieces.empty());
  EXPECT_EQ(listener->response->value().parts.size(), 2U);
}

TEST_F(ScriptModelTest, CallIds_CountCallsAndTools) {
  ModelRequest request;
  request.ordinal = 1;
  const auto response = play(R"({"text": "x"}
{"tool_calls": [{"name": "f"}, {"name": "g", "id": "mine"}, {"name": "h"}]})",
                             request);
  ASSERT_TRUE(response);
  const auto id = [&](std::size_t n) { return std::get<ToolCallPart>(response->parts[n]).id.value; };
  EXPECT_EQ(id(0), "call_2_1");
  EXPECT_EQ(id(1), "mine");
  EXPECT_EQ(id(2), "call_2_3");
}

TEST_F(ScriptModelTest, TruncatedCall_IsInvalid) {
  const auto cut = play(R"({"tool_calls": [{"name": "f", "arguments": "{\"a"}]})", {});
  EXPECT_FALSE(std::get<ToolCallPart>(cut->parts[0]).valid);
  EXPECT_EQ(cut->finish, FinishReason::kMalformedToolCall);
  const auto length = play(R"({"tool_calls": [{"name": "f", "arguments": {}}], "finish": "length"})", {});
  EXPECT_FALSE(std::get<ToolCallPart>(length->parts[0]).valid);
  EXPECT_EQ(length->finish, FinishReason::kLength);
}

TEST_F(ScriptModelTest, Usage_IsScriptedOrEstimated) {
  const auto given = play(R"({"text": "x", "usage": {"input": 10, "output": 2}})", {});
  EXPECT_EQ(given->usage.total(), 12);
  EXPECT_FALSE(given->usage.estimated);
  ModelRequest request;
  request.instructions = "be brief";
  const auto estimated = play(R"({"text": "a longer answer"})", request);
  EXPECT_TRUE(estimated->usage.estimated);
  EXPECT_GT(estimated->usage.input, 0);
  EXPECT_GT(estimated->usage.output, 0);
}

TEST_F(ScriptModelTest, Delay_PostponesTheAnswer) {
  const auto listener = start(R"({"text": "x", "delay_ms": 100})", {});
  executor_->advance(std::chrono::milliseconds(99));
  EXPECT_TRUE(listener->pieces.empty());
  executor_->advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(listener->response);
}

TEST_F(ScriptModelTest, CancelWhileWaiting_EndsAtOnceAndDropsTheTimer) {
  const auto listener = start(R"({"text": "x", "delay_ms": 100000})", {});
  listener->stop.request_stop();
  executor_->run_ready();
  ASSERT_TRUE(listener->response);
  EXPECT_EQ(listener->response->error().code, ErrorCode::kCancelled);
  EXPECT_EQ(executor_->pending_timers(), 0U);
}

TEST_F(ScriptModelTest, CancelBeforeTheStart_EndsCancelled) {
  const auto listener = std::make_shared<Listener>();
  listener->stop.request_stop();
  session_ = model(R"({"text": "x"})")->open_session();
  session_->start({}, listener, listener->stop.get_token());
  executor_->advance({});
  EXPECT_EQ(listener->response->error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(listener->pieces.empty());
}

TEST_F(ScriptModelTest, CancelWhileStreaming_StopsBetweenPieces) {
  const auto listener = start(R"({"text": "abcdef", "chunk": 1})", {}, 2);
  executor_->advance({});
  EXPECT_EQ(listener->pieces, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(listener->response->error().code, ErrorCode::kCancelled);
}

TEST_F(ScriptModelTest, InvalidLine_IsReportedWithItsNumberAndASuggestion) {
  const auto error = [&](std::string_view script) {
    return script_model(script, "test.jsonl", executor_).error().message;
  };
  EXPECT_EQ(error("{\"text\": \"a\"}\n\n{\"txt\": \"b\"}"),
            "test.jsonl, line 3: has an unknown key \"txt\"; did you mean \"text\"?");
  EXPECT_EQ(error(R"({"tool_calls": [{"nmae": "f"}]})"),
            "test.jsonl, line 1: has an unknown key \"nmae\"; did you mean \"name\"?");
  EXPECT_EQ(error(R"({"tool_calls": [{"arguments": {}}]})"),
            "test.jsonl, line 1: a tool call needs a \"name\"");
  EXPECT_EQ(error(R"({"tool_calls": {}})"), "test.jsonl, line 1: \"tool_calls\" must be an array");
  EXPECT_EQ(error(R"({"text": 1})"), "test.jsonl, line 1: \"text\" must be a string");
  EXPECT_EQ(error(R"({"chunk": 0})"),
            "test.jsonl, line 1: \"chunk\" must be an integer from 1 to 1000000000");
  EXPECT_EQ(error(R"({"delay_ms": "soon"})"),
            "test.jsonl, line 1: \"delay_ms\" must be an integer from 0 to 1000000000");
  EXPECT_EQ(error(R"({"finish": "lenght"})"),
            "test.jsonl, line 1: \"finish\" has the unknown value \"lenght\"; did you mean \"length\"?");
  EXPECT_EQ(error(R"({"usage": {"inputs": 1}})"),
            "test.jsonl, line 1: has an unknown key \"inputs\"; did you mean \"input\"?");
  EXPECT_EQ(error(R"({"error": {"statu": 500}})"),
            "test.jsonl, line 1: has an unknown key \"statu\"; did you mean \"status\"?");
  EXPECT_EQ(error("[1]"), "test.jsonl, line 1: must be a JSON object");
  EXPECT_TRUE(error("{\"text\": \"a\"}\n{\"text\":").starts_with("test.jsonl, line 2: invalid JSON"));
}

TEST(Complete, Call_WaitsForTheAnswerAndForwardsDeltas) {
  const auto model = script_model(R"({"text": "hello world"})", "test", make_executor()).value();
  std::string streamed;
  const auto response = complete(*model, {}, {}, [&](const ModelDelta& delta) {
    if (const auto* text = std::get_if<TextChunk>(&delta)) streamed += text->text;
  });
  ASSERT_TRUE(response);
  EXPECT_EQ(streamed, "hello world");
  EXPECT_EQ(std::get<TextPart>(response->parts[0]).text, "hello world");
}

TEST(Complete, StopRequest_CancelsTheCall) {
  const auto model = script_model(R"({"text": "x", "delay_ms": 600000})", "test", make_executor()).value();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(complete(*model, {}, stop.get_token()).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace praxis
