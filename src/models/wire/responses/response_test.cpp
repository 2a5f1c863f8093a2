#include "models/wire/responses/response.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/testing/events.hpp"
#include "models/testing/listener.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::responses {
namespace {

struct Describe {
  std::string operator()(const TextPart& p) const { return "text(" + p.text + ")"; }
  std::string operator()(const RefusalPart& p) const { return "refusal(" + p.text + ")"; }
  std::string operator()(const ReasoningPart& p) const {
    return "reasoning(" + p.summary + (p.text.empty() ? "" : "|" + p.text) + ")";
  }
  std::string operator()(const ToolCallPart& p) const {
    return std::string(p.valid ? "call" : "invalid") + "(" + p.id.value + "," + p.name + "," + p.arguments +
           ")";
  }
  std::string operator()(const OpaquePart& p) const { return "opaque(" + p.kind + ")"; }
  std::string operator()(const CompactionPart&) const { return "compaction"; }
  std::string operator()(const auto&) const { return "?"; }
};

std::string describe(const Result<ModelResponse>& response) {
  if (!response) return "error " + json_string(response.error().detail(), "kind");
  std::string out;
  for (const Part& part : response->parts) out += std::visit(Describe{}, part) + " ";
  return out + std::string(to_string(response->finish)) + "/" + response->finish_raw;
}

const CodecTarget kTarget{.provider = "openai", .model = "m"};

using Events = std::vector<std::string>;

Result<ModelResponse> read(const Events& events, ModelSink* deltas = nullptr) {
  ResponseReader reader(kTarget, {.deltas = deltas, .call_prefix = "new_", .call_taken = {}});
  for (const std::string& event : events) {
    if (const Status status = reader.read_event("", event); !status) return fail(status.error());
  }
  return reader.finish();
}

Result<ModelResponse> read_whole(std::string_view body) {
  ResponseReader reader(kTarget, {.deltas = nullptr, .call_prefix = "new_", .call_taken = {}});
  if (const Status status = reader.read_whole(body); !status) return fail(status.error());
  return reader.finish();
}

/// An event of the item at `index`; `rest`: additional fields, with a leading comma.
std::string event(std::string_view type, int index, std::string_view rest) {
  return R"({"type":"response.)" + std::string(type) + R"(","output_index":)" + std::to_string(index) +
         std::string(rest) + "}";
}
std::string added(int index, std::string_view item) {
  return event("output_item.added", index, ",\"item\":" + std::string(item));
}
std::string done(int index, std::string_view item) {
  return event("output_item.done", index, ",\"item\":" + std::string(item));
}
std::string delta(std::string_view kind, int index, std::string_view text, std::string_view rest = "") {
  return event(std::string(kind) + ".delta", index,
               ",\"delta\":\"" + std::string(text) + "\"" + std::string(rest));
}
/// The last event; `fields`: fields of the response, with a leading comma.
std::string end(std::string_view status, std::string_view fields = R"(,"output":[])") {
  return R"({"type":"response.)" + std::string(status) +
         R"(","response":{"id":"r1","model":"m-1","status":")" + std::string(status) + "\"" +
         std::string(fields) + "}}";
}

const std::string kCreated = R"({"type":"response.created","response":{"id":"r1","status":"in_progress"}})";
const std::string kCompleted = end("completed");
const std::string kCut =
    end("incomplete", R"(,"incomplete_details":{"reason":"max_output_tokens"},"output":[])");
const std::string kHi =
    R"({"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Hi","annotations":[]}]})";
const std::string kThought =
    R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"E"})";
const std::string kCallStart =
    R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"","status":"in_progress"})";
const std::string kCall =
    R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}","status":"completed"})";
const std::string kSearch = R"({"type":"web_search_call","id":"ws_1","action":{"query":"q"}})";

struct Case {
  std::string_view promise;
  Events events;
  std::string_view answer;
};

const std::vector<Case> kStreams{
    {"text by deltas",
     {kCreated, added(0, R"({"type":"message","id":"msg_1","content":[]})"), delta("output_text", 0, "H"),
      delta("output_text", 0, "i"), done(0, kHi), kCompleted},
     "text(Hi) stop/completed"},
    {"the item counts, not its deltas",
     {kCreated, delta("output_text", 0, "Ho"), done(0, kHi), kCompleted},
     "text(Hi) stop/completed"},
    {"no item at all but in the end",
     {kCreated, end("completed", ",\"output\":[" + kThought + "," + kHi + "]")},
     "reasoning(Hm.) text(Hi) stop/completed"},
    {"an item that only the end has stands at its place",
     {kCreated, done(0, kThought), done(2, kCall),
      end("completed", ",\"output\":[" + kThought + "," + kHi + "," + kCall + "]")},
     "reasoning(Hm.) text(Hi) call(c1,f,{}) tool_calls/completed"},
    {"gaps between the indexes",
     {kCreated, done(0, kThought), done(2, kHi),
      end("completed", ",\"output\":[" + kThought + "," + kHi + "]")},
     "reasoning(Hm.) text(Hi) stop/completed"},
    {"items out of order",
     {kCreated, done(1, kHi), done(0, kThought), kCompleted},
     "reasoning(Hm.) text(Hi) stop/completed"},
    {"ids that change all the time",
     {kCreated, added(0, R"({"type":"message","id":"x1","content":[]})"),
      delta("output_text", 0, "Hi", R"(,"item_id":"x2")"), done(0, kHi),
      end("completed",
          R"(,"output":[{"type":"message","id":"x3","content":[{"type":"output_text","text":"Hi"}]}])")},
     "text(Hi) stop/completed"},
    {"events without an index",
     {kCreated, R"({"type":"response.output_item.added","item":)" + kCallStart + "}",
      R"({"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{}"})",
      R"({"type":"response.output_item.done","item":)" + kCall + "}", kCompleted},
     "call(c1,f,{}) tool_calls/completed"},
    {"several content parts",
     {kCreated, delta("output_text", 0, "a"), delta("refusal", 0, "no", R"(,"content_index":1)"),
      done(
          0,
          R"({"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"no"}]})"),
      kCompleted},
     "text(a) refusal(no) refusal/completed"},
    {"reasoning of both kinds",
     {kCreated, delta("reasoning_summary_text", 0, "S"), delta("reasoning_text", 0, "raw"),
      done(0, R"({"type":"reasoning","summary":[{"text":"S"},{"text":"T"}],"content":[{"text":"raw"}]})"),
      kCompleted},
     "reasoning(ST|raw) stop/completed"},
    {"a call",
     {kCreated, added(0, kCallStart), delta("function_call_arguments", 0, "{}"), done(0, kCall), kCompleted},
     "call(c1,f,{}) tool_calls/completed"},
    {"a call whose end is only its arguments'",
     {kCreated, added(0, kCallStart), event("function_call_arguments.done", 0, R"(,"arguments":"{}")"),
      kCompleted},
     "call(c1,f,{}) tool_calls/completed"},
    {"a call whose end never came",
     {kCreated, added(0, kCallStart), kCompleted},
     "invalid(c1,f,) malformed_tool_call/completed"},
    {"a call without an id",
     {kCreated, done(0, R"({"type":"function_call","name":"f","arguments":{"a":1}})"), kCompleted},
     R"(call(new_1,f,{"a":1}) tool_calls/completed)"},
    {"half a call",
     {kCreated, added(0, kCallStart), delta("function_call_arguments", 0, "{\\\"a"), kCut},
     R"(invalid(c1,f,{"a) length/incomplete:max_output_tokens)"},
    {"a call in an answer that is cut",
     {kCreated, done(0, kCall), kCut},
     "invalid(c1,f,{}) length/incomplete:max_output_tokens"},
    {"a call that is still open when the answer is broken off",
     {kCreated,
      end("incomplete", R"(,"incomplete_details":{"reason":"steered"},"output":[)" + kCallStart + "]")},
     "invalid(c1,f,) other/incomplete:steered"},
    {"a call that says that it is not whole",
     {kCreated,
      done(0, R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}","status":"incomplete"})"),
      kCompleted},
     "invalid(c1,f,{}) malformed_tool_call/completed"},
    {"filtered",
     {kCreated, done(0, kHi), end("incomplete", R"(,"incomplete_details":{"reason":"content_filter"})")},
     "text(Hi) content_filter/incomplete:content_filter"},
    {"cut, though called completed",
     {kCreated, done(0, kHi),
      R"({"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}})"},
     "text(Hi) length/incomplete:max_output_tokens"},
    {"what the vendor did itself",
     {kCreated, added(0, R"({"type":"web_search_call"})"),
      R"({"type":"response.web_search_call.searching","output_index":0})", done(0, kSearch),
      done(1, R"({"type":"custom_tool_call","input":"x"})"), done(2, R"({"type":"new"})"),
      done(3, R"({"type":"compaction","encrypted_content":"E"})"), kCompleted},
     "opaque(web_search_call) opaque(custom_tool_call) opaque(new) compaction stop/completed"},
    {"a delta for an item of another kind",
     {kCreated, done(0, kSearch), delta("output_text", 0, "x"), added(1, kCallStart),
      delta("refusal", 1, "x"), done(1, kCall), kCompleted},
     "opaque(web_search_call) call(c1,f,{}) tool_calls/completed"},
    {"DONE behind the end", {kCreated, done(0, kHi), kCompleted, "[DONE]"}, "text(Hi) stop/completed"},
    {"the last of several responses",
     {kCreated, done(0, kCall), kCompleted, kCreated, done(0, kHi), kCompleted},
     "text(Hi) stop/completed"},

    {"an error, fields on top",
     {kCreated, R"({"type":"error","code":"rate_limit_exceeded","message":"slow"})", end("failed")},
     "error rate_limit"},
    {"an error, fields within",
     {kCreated, R"({"type":"error","error":{"code":"context_length_exceeded","message":"long"}})"},
     "error context_overflow"},
    {"an error without a type",
     {kCreated, R"({"error":{"code":"server_error","message":"x"}})"},
     "error server"},
    {"failed",
     {kCreated, end("failed", R"(,"error":{"code":"insufficient_quota","message":"pay"})")},
     "error billing"},
    {"cancelled", {kCreated, done(0, kHi), end("cancelled")}, "error server"},
    {"nonsense", {kCreated, "<html>"}, "error protocol"},
    {"nothing", {}, "error truncated_stream"},
    {"nothing but DONE", {kCreated, done(0, kHi), "[DONE]"}, "error truncated_stream"},
};

TEST(ResponsesResponse, Streams_AreReadByTheRules) {
  for (const Case& c : kStreams) EXPECT_EQ(describe(read(c.events)), c.answer) << c.promise;
}

TEST(ResponsesResponse, CutAfterAnyEvent_IsATruncatedStream) {
  for (const Case& c : kStreams) {
    Events events;
    for (const std::string& next : c.events) {
      EXPECT_EQ(describe(read(events)), "error truncated_stream") << c.promise << " cut at " << events.size();
      events.push_back(next);
      if (describe(read(events)) != "error truncated_stream") break;  // reached the end, or an error
    }
  }
}

TEST(ResponsesResponse, NoiseBetweenEvents_ChangesNothing) {
  for (const Case& c : kStreams) {
    for (const auto* noise :
         {": keep-alive", "", R"({"type":"ping"})", R"({"type":"steer.new","x":1})",
          R"({"type":"response.shell_call_command.delta","output_index":9,"delta":"l"})",
          R"({"type":"response.content_part.added","output_index":0,"part":{"type":"new"}})"}) {
      Events noisy;
      for (const std::string& one : c.events) {
        noisy.emplace_back(noise);
        noisy.push_back(one);
      }
      EXPECT_EQ(describe(read(noisy)), c.answer) << c.promise << " with " << noise;
    }
  }
}

TEST(ResponsesResponse, SimilarEvents_AreReadAsIfAlone) {
  struct Kind {
    const char *type, *item;
  };
  for (const Kind& kind : {Kind{"output_text", R"({"type":"message","content":[]})"},
                           Kind{"refusal", R"({"type":"message","content":[]})"},
                           Kind{"reasoning_summary_text", R"({"type":"reasoning"})"},
                           Kind{"function_call_arguments", kCallStart.c_str()}}) {
    Events events{kCreated, added(0, kind.item), added(1, kind.item)};
    for (std::size_t i = 0; i < 3 * kSpelledTexts.size(); ++i) {
      const std::string rest = R"(,"content_index":)" + std::to_string(i % 5 / 3) + R"(,"sequence_number":)" +
                               std::to_string(i) + R"(,"obfuscation":")" + std::string(i % 7, 'x') + '"';
      events.push_back(
          delta(kind.type, static_cast<int>(i % 4 / 2), kSpelledTexts[i % kSpelledTexts.size()], rest));
    }
    events.push_back(kCompleted);
    Listener listener, plain;
    EXPECT_EQ(describe(read(events, &listener)), describe(read(respelled(events), &plain))) << kind.type;
    EXPECT_EQ(listener.heard(), plain.heard()) << kind.type;
    EXPECT_TRUE(listener.heard().contains("\xF0\x9F\x98\x80")) << kind.type;
  }
  for (const Case& c : kStreams) EXPECT_EQ(describe(read(respelled(c.events))), c.answer) << c.promise;
}

TEST(ResponsesResponse, Deltas_AddUpToTheAnswer) {
  const std::string kSearching = R"({"type":"response.web_search_call.searching","output_index":2})";
  Listener listener;
  ASSERT_TRUE(
      read({kCreated, added(0, R"({"type":"reasoning"})"), delta("reasoning_summary_text", 0, "H"),
            done(0, kThought), delta("output_text", 1, "H"), done(1, kHi), added(2, kSearch), kSearching,
            done(2, kSearch), added(3, kCallStart), delta("function_call_arguments", 3, "{"), done(3, kCall),
            delta("refusal", 4, "no"), R"({"type":"codex.limits"})", kCompleted},
           &listener));
  EXPECT_EQ(listener.heard(), "summary0(H) summary0(m.) text1(H) text1(i) event(" + added(2, kSearch) +
                                  ") event(" + kSearching + ") event(" + done(2, kSearch) +
                                  ") call3(c1=f) arguments3({) arguments3(}) refusal4(no) " +
                                  R"(event({"type":"codex.limits"}) )");
}

std::string state_of(const Part& part) {
  return std::visit(
      [](const auto& p) -> std::string {
        if constexpr (requires { p.vendor; }) return p.vendor ? p.vendor->raw : "none";
        return "none";
      },
      part);
}

TEST(ResponsesResponse, VendorState_HoldsTheFieldsThatPartsLack) {
  const auto response =
      read(
          {kCreated, done(0, kThought),
           done(
               1,
               R"({"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary",)"
               R"("content":[{"type":"output_text","text":"Hi","annotations":[{"type":"url_citation","url":"u","title":"t"}]}]})"),
           done(
               2,
               R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}","namespace":"n","caller":null})"),
           done(3, kSearch), kCompleted})
          .value();
  ASSERT_EQ(response.parts.size(), 4U);
  EXPECT_EQ(
      state_of(response.parts[0]),
      R"({"item":{"type":"reasoning","id":"rs_1","encrypted_content":"E","summary":[{"type":"summary_text","text":"Hm."}]},"next":"msg_1"})");
  EXPECT_EQ(
      state_of(response.parts[1]),
      R"({"item":{"id":"msg_1","phase":"commentary"},"part":{"annotations":[{"type":"url_citation","url":"u","title":"t"}]}})");
  EXPECT_EQ(state_of(response.parts[2]), R"({"item":{"id":"fc_1","namespace":"n"}})");
  EXPECT_EQ(state_of(response.parts[3]), kSearch);
  EXPECT_EQ(std::get<TextPart>(response.parts[1]).citations, (std::vector<Citation>{{"u", "t", ""}}));
}

TEST(ResponsesResponse, EncryptedPayloadAtTheEnd_IsTaken) {
  const auto response =
      read({kCreated, done(0, R"({"type":"reasoning","id":"rs_1","summary":[{"text":"Hm."}]})"),
            end("completed", R"(,"output":[{"type":"reasoning","id":"rs_2","encrypted_content":"E"}])")})
          .value();
  EXPECT_EQ(
      state_of(response.parts.at(0)),
      R"({"item":{"type":"reasoning","id":"rs_2","encrypted_content":"E","summary":[{"text":"Hm."}]}})");
}

TEST(ResponsesResponse, OpaqueItem_IsKeptUnchanged) {
  const auto response = read({kCreated, done(0, R"({"type":"new","id":"n1","result":null,"list":[]})"),
                              end("completed", R"(,"output":[{"type":"new","id":"n1","result":"x"}])")})
                            .value();
  EXPECT_EQ(state_of(response.parts.at(0)), R"({"type":"new","id":"n1","result":"x","list":[]})");
}

TEST(ResponsesResponse, ReasoningBeforeABreak_RecordsIt) {
  const auto response = read({kCreated, done(0, kThought), kCut}).value();
  EXPECT_TRUE(state_of(response.parts.at(0)).ends_with(R"("next":null})"));
}

TEST(ResponsesResponse, StreamedAnnotations_BecomeCitations) {
  const auto response =
      read({kCreated, delta("output_text", 0, "Hi"),
            event("output_text.annotation.added", 0,
                  R"(,"annotation":{"type":"file_citation","file_id":"f1","filename":"a.pdf"})"),
            kCompleted})
          .value();
  EXPECT_EQ(std::get<TextPart>(response.parts.at(0)).citations, (std::vector<Citation>{{"a.pdf", "", ""}}));
}

TEST(ResponsesResponse, WholeAnswers_AreReadByTheSameRules) {
  const auto answer = [](std::string_view status, const std::string& output) {
    return describe(
        read_whole(R"({"id":"r","status":)" + std::string(status) + R"(,"output":[)" + output + "]}"));
  };
  EXPECT_EQ(answer("\"completed\"", kThought + "," + kHi), "reasoning(Hm.) text(Hi) stop/completed");
  EXPECT_EQ(answer("\"complete\"", kHi), "text(Hi) stop/complete");
  EXPECT_EQ(answer("null", kCall), "call(c1,f,{}) tool_calls/completed");
  EXPECT_EQ(
      answer("\"incomplete\"",
             R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}","status":"in_progress"})"),
      "invalid(c1,f,{}) other/incomplete");
  EXPECT_EQ(answer("\"incomplete\"", kCall), "call(c1,f,{}) other/incomplete");
  EXPECT_EQ(answer("\"queued\"", ""), "error protocol");
  EXPECT_EQ(answer("\"cancelled\"", kHi), "error server");
  EXPECT_EQ(describe(read_whole(
                R"({"status":"failed","output":[],"error":{"code":"server_error","message":"x"}})")),
            "error server");
}

TEST(ResponsesResponse, InvalidWholeAnswers_AreErrors) {
  EXPECT_EQ(describe(read_whole("<html>")), "error protocol");
  EXPECT_EQ(describe(read_whole(R"({"status":"completed","output":[{"type":"mess)")),
            "error truncated_stream");
  EXPECT_EQ(describe(read_whole(R"({"id":"r"})")), "error protocol");
  EXPECT_EQ(describe(read_whole(R"({"error":{"message":"x","code":"rate_limit_exceeded"}})")),
            "error rate_limit");
}

TEST(ResponsesResponse, Usage_IncludesCachedAndReasoningTokens) {
  const auto usage_of = [](std::string_view usage) {
    return read({kCreated, done(0, kHi), end("completed", R"(,"usage":)" + std::string(usage))})
        .value()
        .usage;
  };
  EXPECT_EQ(
      usage_of(R"({"input_tokens":100,"input_tokens_details":{"cached_tokens":64,"cache_write_tokens":8},)"
               R"("output_tokens":20,"output_tokens_details":{"reasoning_tokens":12},"cost":0.0015})"),
      (Usage{
          .input = 100, .output = 20, .cache_read = 64, .cache_write = 8, .reasoning = 12, .cost = {1500}}));
  EXPECT_EQ(usage_of(R"({"input_tokens":1,"output_tokens":1,"cost_in_usd_ticks":9243500})").cost.value, 924);
  EXPECT_TRUE(usage_of("null").estimated);
}

TEST(ResponsesResponse, LastResponseObject_DeterminesTheFacts) {
  const auto response = read({kCreated, done(0, kHi), kCompleted}).value();
  EXPECT_EQ(response.response_id, "r1");
  EXPECT_EQ(response.model, "m-1");
}

}  // namespace
}  // namespace praxis::wire::responses
