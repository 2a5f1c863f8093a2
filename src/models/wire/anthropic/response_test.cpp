#include "models/wire/anthropic/response.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/testing/events.hpp"
#include "models/testing/listener.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::messages {
namespace {

const CodecTarget kTarget{.provider = "anthropic", .model = "m", .dialect = nullptr, .facts = {}};

using Events = std::vector<std::string>;

std::string vendor(const VendorStatePtr& state) { return state ? state->raw : ""; }

std::string describe(const Part& part) {
  if (const auto* text = std::get_if<TextPart>(&part))
    return "text(" + text->text + ")" + vendor(text->vendor);
  if (const auto* thought = std::get_if<ReasoningPart>(&part)) {
    return "thought(" + thought->text + ")" + vendor(thought->vendor);
  }
  if (const auto* call = std::get_if<ToolCallPart>(&part)) {
    return std::string(call->valid ? "call(" : "invalid(") + call->id.value + "," + call->name + "," +
           call->arguments + ")" + vendor(call->vendor);
  }
  if (const auto* compaction = std::get_if<CompactionPart>(&part)) {
    return "compaction(" + compaction->summary + ")" + vendor(compaction->vendor);
  }
  const auto* opaque = std::get_if<OpaquePart>(&part);
  return opaque != nullptr ? "opaque(" + opaque->kind + ")" + vendor(opaque->vendor) : "other";
}

std::string describe(const Result<ModelResponse>& response) {
  if (!response) return "error " + json_string(response.error().detail(), "kind");
  std::string out;
  for (const Part& part : response->parts) out += describe(part) + " ";
  return out + std::string(to_string(response->finish));
}

Result<ModelResponse> finish(ResponseReader& reader, const Events& events) {
  for (const std::string& event : events) {
    if (const Status read = reader.read_event({}, event); !read) return fail(read.error());
  }
  return reader.finish();
}

Result<ModelResponse> read(const Events& events) {
  ResponseReader reader(kTarget, {.call_prefix = "new_"});
  return finish(reader, events);
}

Result<ModelResponse> read_whole(std::string_view body) {
  ResponseReader reader(kTarget, {.call_prefix = "new_"});
  if (const Status read = reader.read_whole(body); !read) return fail(read.error());
  return reader.finish();
}

const std::string kStart =
    R"({"type":"message_start","message":{"id":"msg_1","model":"m-1","content":[],"usage":{"input_tokens":7,"output_tokens":1}}})";
const std::string kStop = R"({"type":"message_stop"})";

std::string start(int index, const std::string& block) {
  return R"({"type":"content_block_start","index":)" + std::to_string(index) + R"(,"content_block":)" +
         block + "}";
}
std::string delta(int index, const std::string& fields) {
  return R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":)" + fields + "}";
}
std::string stop(int index) {
  return R"({"type":"content_block_stop","index":)" + std::to_string(index) + "}";
}
std::string ending(const std::string& reason, const std::string& usage = R"({"output_tokens":5})") {
  return R"({"type":"message_delta","delta":{"stop_reason":")" + reason + R"("},"usage":)" + usage + "}";
}
/// A complete stream with these content events.
Events stream(Events content, const std::string& reason = "end_turn") {
  content.insert(content.begin(), kStart);
  content.push_back(ending(reason));
  content.push_back(kStop);
  return content;
}

const std::string kText = R"({"type":"text","text":""})";
const std::string kCall = R"({"type":"tool_use","id":"toolu_1","name":"add","input":{}})";

std::string text_delta(const std::string& text) {
  return delta(0, R"({"type":"text_delta","text":")" + text + R"("})");
}
std::string input_delta(const std::string& json) {
  return delta(0, R"({"type":"input_json_delta","partial_json":")" + json + R"("})");
}

struct BlockCase {
  std::string name;
  Events events;
  std::string expected;
};

const std::vector<BlockCase> kBlocks{
    {"text", stream({start(0, kText), text_delta("Hel"), text_delta("lo "), stop(0)}), "text(Hello ) stop"},
    {"text at the start", stream({start(0, R"({"type":"text","text":"a"})"), text_delta("b"), stop(0)}),
     "text(ab) stop"},
    {"citations",
     stream({start(0, R"({"type":"text","text":"","citations":[]})"),
             delta(0, R"({"type":"citations_delta","citation":{"type":"x","cited_text":"q","url":"u"}})"),
             text_delta("a"), stop(0)}),
     R"(text(a){"citations":[{"type":"x","cited_text":"q","url":"u"}]} stop)"},
    {"thinking",
     stream({start(0, R"({"type":"thinking","thinking":"","signature":""})"),
             delta(0, R"({"type":"thinking_delta","thinking":"hm"})"),
             delta(0, R"({"type":"signature_delta","signature":"s="})"), stop(0)}),
     R"(thought(hm){"signature":"s="} stop)"},
    {"redacted thinking", stream({start(0, R"({"type":"redacted_thinking","data":"d"})"), stop(0)}),
     R"(thought(){"type":"redacted_thinking","data":"d"} stop)"},
    {"call",
     stream({start(0, kCall), input_delta(""), input_delta(R"({\"a\")"), input_delta(":1}"), stop(0)},
            "tool_use"),
     R"(call(toolu_1,add,{"a":1}) tool_calls)"},
    {"call without input", stream({start(0, kCall), input_delta(""), stop(0)}, "tool_use"),
     "call(toolu_1,add,) tool_calls"},
    {"call that says all at its start",
     stream({start(0, R"({"type":"tool_use","id":"i","name":"f","input":{"a":2}})"), stop(0)}, "tool_use"),
     R"(call(i,f,{"a":2}) tool_calls)"},
    {"the input at the start is ignored if deltas follow",
     stream(
         {start(0, R"({"type":"tool_use","id":"i","name":"f","input":{"a":2}})"), input_delta("{}"), stop(0)},
         "tool_use"),
     "call(i,f,{}) tool_calls"},
    {"call by a program",
     stream(
         {start(
              0,
              R"({"type":"tool_use","id":"i","name":"f","input":{},"caller":{"type":"code","tool_id":"t"}})"),
          stop(0)},
         "tool_use"),
     R"(call(i,f,){"caller":{"type":"code","tool_id":"t"}} tool_calls)"},
    {"call without an id",
     stream({start(0, R"({"type":"tool_use","id":null,"name":"f","input":{}})"), stop(0)}, "tool_use"),
     "call(new_1,f,) tool_calls"},
    {"server tool",
     stream({start(0, R"({"type":"server_tool_use","id":"s","name":"search","input":{}})"),
             input_delta(R"({\"q\":\"x\"})"), stop(0)}),
     R"(opaque(server_tool_use){"type":"server_tool_use","id":"s","name":"search","input":{"q":"x"}} stop)"},
    {"unknown block",
     stream({start(0, R"({"type":"hologram","z":1.5,"t":"a"})"),
             delta(0, R"({"type":"hologram_delta","t":"b"})"), delta(0, R"({"type":"other_delta","t":"c"})"),
             stop(0)}),
     R"(opaque(hologram){"type":"hologram","z":1.5,"t":"ab"} stop)"},
    {"compaction",
     stream({start(0, R"({"type":"compaction","content":null})"),
             delta(0, R"({"type":"compaction_delta","content":"so far","encrypted_content":"e"})"), stop(0)}),
     R"(compaction(so far){"type":"compaction","content":"so far","encrypted_content":"e"} stop)"},
    {"compaction that failed", stream({start(0, R"({"type":"compaction","content":null})"), stop(0)}),
     R"(opaque(compaction){"type":"compaction","content":null} stop)"},
    {"interleaved blocks",
     stream({start(0, kText), start(1, kText), text_delta("a"),
             delta(1, R"({"type":"text_delta","text":"b"})"), text_delta("c"), stop(0), stop(1)}),
     "text(ac) text(b) stop"},
    {"content in the start",
     {R"({"type":"message_start","message":{"id":"i","content":[{"type":"text","text":"all"}]}})",
      ending("end_turn"), kStop},
     "text(all) stop"},
};

TEST(MessagesResponse, EveryKindOfBlock_IsRead) {
  for (const BlockCase& c : kBlocks) EXPECT_EQ(describe(read(c.events)), c.expected) << c.name;
}

TEST(MessagesResponse, UnknownEvents_AreSkipped) {
  const Events events =
      stream({R"({"type":"ping"})", start(0, kText), R"({"type":"aura","index":0})", text_delta("a"),
              delta(0, R"({"type":"aura_delta","x":1})"), delta(9, R"({"type":"text_delta","text":"z"})"),
              stop(9), R"({"type":"content_block_start","index":3})", stop(0), text_delta("late")});
  EXPECT_EQ(describe(read(events)), "text(a) stop");
}

TEST(MessagesResponse, StopReason_IsMapped) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"end_turn", "stop"},    {"max_tokens", "length"},  {"stop_sequence", "stop_sequence"},
      {"pause_turn", "pause"}, {"refusal", "refusal"},    {"model_context_window_exceeded", "context_window"},
      {"compaction", "pause"}, {"something_new", "other"}};
  for (const auto& [raw, finish] : cases) {
    const auto response = read(stream({}, raw));
    ASSERT_TRUE(response) << raw;
    EXPECT_EQ(to_string(response->finish), finish) << raw;
    EXPECT_EQ(response->finish_raw, raw);
  }
}

TEST(MessagesResponse, Refusal_KeepsItsTextAndReason) {
  const auto response = read(
      {kStart, start(0, kText), text_delta("Hi"), stop(0),
       R"({"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"category":"cyber","explanation":"Not this."}}})",
       kStop});
  EXPECT_EQ(describe(response), "text(Hi) refusal");
  ASSERT_EQ(response->warnings.size(), 1u);
  EXPECT_EQ(response->warnings.front(), "the model stopped early (cyber): Not this.");
}

TEST(MessagesResponse, CachedInput_CountsAsInputAndNullsAreIgnored) {
  const auto response = read(
      {R"({"type":"message_start","message":{"id":"i","model":"m-1","usage":{"input_tokens":10,"cache_read_input_tokens":100,)"
       R"("cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":1}}})",
       ending(
           "end_turn",
           R"({"input_tokens":12,"cache_read_input_tokens":null,"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}})"),
       kStop});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->usage, (Usage{.input = 142,
                                    .output = 9,
                                    .cache_read = 100,
                                    .cache_write = 30,
                                    .cache_write_long = 20,
                                    .reasoning = 4}));
  EXPECT_EQ(response->model, "m-1");
  EXPECT_EQ(response->response_id, "i");
}

TEST(MessagesResponse, MissingUsage_IsMarkedAsEstimated) {
  EXPECT_TRUE(read_whole(R"({"content":[],"stop_reason":"end_turn"})")->usage.estimated);
  EXPECT_FALSE(read(stream({}))->usage.estimated);
}

TEST(MessagesResponse, PassesOfAnotherModel_AddAWarning) {
  const auto response = read(
      {kStart,
       ending(
           "end_turn",
           R"({"output_tokens":1,"iterations":[{"type":"message","input_tokens":7},{"type":"advisor_message","model":"big","input_tokens":40,"output_tokens":2}]})"),
       kStop});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->usage.input, 7);
  ASSERT_EQ(response->warnings.size(), 1u);
  EXPECT_EQ(response->warnings.front(), "the turn's usage leaves out 42 tokens of model big");
}

TEST(MessagesResponse, ExtraPasses_AreAddedToTheCost) {
  const MicroUsd dollar{1'000'000};
  const CodecTarget priced{.provider = "anthropic",
                           .model = "m",
                           .dialect = nullptr,
                           .facts = {.prices = {{.input = dollar, .output = dollar}}}};
  ResponseReader reader(priced, {});
  const auto response = finish(
      reader,
      {kStart,
       ending(
           "end_turn",
           R"({"output_tokens":3,"iterations":[{"type":"compaction","input_tokens":20,"output_tokens":5},{"type":"message","input_tokens":7,"output_tokens":3}]})"),
       kStop});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->usage.total(), 10);
  EXPECT_EQ(response->usage.cost, MicroUsd{10 + 25});
}

TEST(MessagesResponse, ImplausibleCounts_AreBounded) {
  const auto response = read(
      {kStart,
       ending(
           "end_turn",
           R"({"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807,"output_tokens":-1})"),
       kStop});
  ASSERT_TRUE(response);
  EXPECT_GT(response->usage.input, 0);
  EXPECT_EQ(response->usage.output, 0);
}

TEST(MessagesResponse, ErrorEvent_IsClassifiedLikeAnHttpError) {
  const auto response = read(
      {kStart, start(0, kText), text_delta("a"),
       R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"})"});
  EXPECT_EQ(describe(response), "error overloaded");
  EXPECT_TRUE(response.error().retriable);
  EXPECT_EQ(
      describe(read_whole(R"({"type":"error","error":{"type":"invalid_request_error","message":"no"}})")),
      "error invalid_request");
}

TEST(MessagesResponse, RepeatedStart_IsIgnoredAndAnotherAnswersStartIsAnError) {
  EXPECT_EQ(describe(read(stream({kStart, start(0, kText), text_delta("a"), kStart, stop(0)}))),
            "text(a) stop");

  ResponseReader reader(kTarget, {});
  const auto spliced = finish(
      reader, stream({start(0, kText), text_delta("a"), stop(0), start(1, kCall),
                      delta(1, R"({"type":"input_json_delta","partial_json":"{\"a"})"),
                      R"({"type":"message_start","message":{"id":"msg_2","usage":{"input_tokens":99}}})"}));
  EXPECT_EQ(describe(spliced), "error protocol");
  ASSERT_EQ(reader.so_far().parts.size(), 2u);
  EXPECT_EQ(reader.so_far().usage.input, 7);
}

TEST(MessagesResponse, Answer_EndsAtMessageStopOrDone) {
  ResponseReader reader(kTarget, {});
  EXPECT_EQ(describe(finish(reader, {kStart, start(0, kText), text_delta("a"), stop(0), ending("end_turn"),
                                     "[DONE]", text_delta("b")})),
            "text(a) stop");
  EXPECT_TRUE(reader.is_done());
  EXPECT_EQ(describe(read({kStart, "[DONE]"})), "error truncated_stream");
  EXPECT_EQ(describe(read({kStop})), "error protocol");
  EXPECT_EQ(describe(read({})), "error truncated_stream");
}

TEST(MessagesResponse, CutAnswer_NeverEndsAndHasNoValidCall) {
  const Events events =
      stream({start(0, kCall), input_delta("{}"), stop(0), start(1, kText), stop(1)}, "tool_use");
  ASSERT_EQ(describe(read(events)), "call(toolu_1,add,{}) text() tool_calls");
  for (std::size_t n = 0; n + 1 < events.size(); ++n) {
    const Events cut(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(describe(read(cut)), "error truncated_stream") << n;
  }
}

TEST(MessagesResponse, CallWithoutAnEnd_IsInvalid) {
  EXPECT_EQ(describe(read(stream({start(0, kCall), input_delta("{}"), stop(0)}, "max_tokens"))),
            "invalid(toolu_1,add,{}) length");
  EXPECT_EQ(describe(read(stream({start(0, kCall), input_delta(R"({\"a)"), stop(0)}, "tool_use"))),
            R"(invalid(toolu_1,add,{"a) malformed_tool_call)");
  EXPECT_EQ(describe(read(stream({start(0, kCall), input_delta("{}")}, "tool_use"))),
            "invalid(toolu_1,add,{}) malformed_tool_call");
  // The next block replaces one that has not ended.
  EXPECT_EQ(describe(read(stream({start(0, kCall), start(0, kText), text_delta("a"), stop(0)}, "end_turn"))),
            "invalid(toolu_1,add,) text(a) malformed_tool_call");
}

TEST(MessagesResponse, WholeBody_IsRead) {
  const auto response = read_whole(
      R"({"id":"i","type":"message","model":"m-1","content":[)"
      R"({"type":"thinking","thinking":"","signature":"s"},)"
      R"({"type":"text","text":"Let me see.","citations":[{"cited_text":"q","document_title":"D"}]},)"
      R"({"type":"tool_use","id":"t","name":"f","input":{"a":[1]},"caller":{"type":"direct"}},)"
      R"({"type":"web_search_tool_result","tool_use_id":"w","content":[]}],)"
      R"("stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}})");
  EXPECT_EQ(
      describe(response),
      R"(thought(){"signature":"s"} )"
      R"(text(Let me see.){"citations":[{"cited_text":"q","document_title":"D"}]} )"
      R"(call(t,f,{"a":[1]}) )"
      R"(opaque(web_search_tool_result){"type":"web_search_tool_result","tool_use_id":"w","content":[]} )"
      "tool_calls");
  EXPECT_EQ(std::get<TextPart>(response->parts[1]).citations,
            (std::vector<Citation>{{.url = "D", .title = "D", .quote = "q"}}));
  EXPECT_EQ(response->usage.total(), 7);
}

TEST(MessagesResponse, BodyWithoutAnAnswer_IsAnError) {
  EXPECT_EQ(describe(read_whole("<html>")), "error protocol");
  EXPECT_EQ(describe(read_whole("{}")), "error protocol");
  EXPECT_EQ(describe(read_whole(R"({"content":[{"type":"te)")), "error truncated_stream");
}

TEST(MessagesResponse, SimilarEvents_AreReadAsIfAlone) {
  Events content{start(0, kText), start(1, kText), start(2, kCall)};
  for (std::size_t i = 0; i < 3 * kSpelledTexts.size(); ++i) {
    const std::string text = kSpelledTexts[i % kSpelledTexts.size()];
    content.push_back(delta(static_cast<int>(i % 4 / 2), R"({"type":"text_delta","text":")" + text + "\"}"));
  }
  for (const std::string& text : kSpelledTexts) {
    content.push_back(delta(2, R"({"type":"input_json_delta","partial_json":")" + text + "\"}"));
  }
  for (const int index : {0, 1, 2}) content.push_back(stop(index));
  EXPECT_EQ(describe(read(stream(content))), describe(read(respelled(stream(content)))));
}

TEST(MessagesResponse, EveryPiece_IsEmittedAsItArrives) {
  Listener listener;
  ResponseReader reader(kTarget, {.deltas = &listener});
  ASSERT_TRUE(finish(
      reader,
      stream({start(0, R"({"type":"thinking","thinking":""})"),
              delta(0, R"({"type":"thinking_delta","thinking":"hm"})"), stop(0), start(1, kText),
              delta(1, R"({"type":"text_delta","text":"a"})"), stop(1), start(2, kCall),
              delta(2, R"({"type":"input_json_delta","partial_json":"{}"})"), stop(2), R"({"type":"aura"})"},
             "tool_use")));
  EXPECT_EQ(listener.heard(),
            R"(reasoning0(hm) text1(a) call2(toolu_1=add) arguments2({}) event({"type":"aura"}) )");
}

}  // namespace
}  // namespace praxis::wire::messages
