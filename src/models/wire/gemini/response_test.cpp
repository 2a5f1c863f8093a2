#include "models/wire/gemini/response.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/answer_parser.hpp"
#include "models/testing/events.hpp"
#include "models/testing/listener.hpp"
#include "praxis/base/base64.hpp"

namespace praxis::wire::gemini {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string described(const VendorStatePtr& state) { return state ? " " + state->raw : ""; }
std::string described(const TextPart& part) { return "text(" + part.text + ")" + described(part.vendor); }
std::string described(const ReasoningPart& part) {
  return "thought(" + part.summary + ")" + described(part.vendor);
}
std::string described(const ToolCallPart& part) {
  return (part.valid ? "call(" : "invalid(") + part.id.value + "," + part.name + "," + part.arguments + ")" +
         described(part.vendor);
}
std::string described(const ImagePart& part) {
  return "image(" + part.source.mime + "," + part.source.data + ")" + described(part.vendor);
}
std::string described(const FilePart& part) { return "file(" + part.source.mime + ")"; }
std::string described(const OpaquePart& part) { return part.kind + described(part.vendor); }
std::string described(const auto&) { return "something else"; }

std::vector<std::string> described(const ModelResponse& response) {
  std::vector<std::string> out;
  for (const Part& part : response.parts) {
    out.push_back(std::visit([](const auto& p) { return described(p); }, part));
  }
  return out;
}

Result<ModelResponse> read(const std::string& body, std::size_t step = std::string::npos,
                           ModelSink* deltas = nullptr) {
  const CodecPtr codec = gemini_codec({.provider = "google", .model = "gemini-3"}).value();
  AnswerParser parser(*codec, {.deltas = deltas, .call_prefix = "new_", .call_taken = {}});
  parser.head({200, {}});
  for (std::size_t at = 0; at < body.size(); at += std::min(step, body.size() - at)) {
    parser.feed(std::string_view(body).substr(at, step));
  }
  return parser.finish({});
}

/// A response with these parts, as an event or a whole body.
std::string response(const std::string& parts, const std::string& finish = "", const std::string& more = "") {
  return R"({"candidates":[{"content":{"role":"model","parts":[)" + parts + "]}" +
         (finish.empty() ? "" : R"(,"finishReason":")" + finish + '"') + R"(,"index":0}])" + more + "}";
}

std::string stream(const std::vector<std::string>& events) {
  std::string out;
  for (const std::string& event : events) out += "data: " + event + "\r\n\r\n";
  return out;
}

std::string kind_of(const Result<ModelResponse>& answer) {
  return answer ? "none" : json_string(answer.error().detail(), "kind");
}

const std::vector<std::string> kEvents{
    response(R"({"text":"Let me ","thought":true})", "",
             R"(,"usageMetadata":{"promptTokenCount":9,"thoughtsTokenCount":4,"cachedContentTokenCount":3})"),
    response(R"({"text":"see.","thought":true})"),
    response(R"({"text":"Grüße"},{"text":", \n"})"),
    response(R"({"text":"world","thoughtSignature":"sig/1"},{"text":"!"})"),
    response(R"({"functionCall":{"id":"f1","name":"add","args":{"x":1.5}},"thoughtSignature":"sig+2"})"),
    response(
        R"({"functionCall":{"name":"now"}},{"novelty":{"a":[1]}})", "",
        R"(,"modelVersion":"gemini-3-001","responseId":"r1","usageMetadata":{"trafficType":"ON_DEMAND"})"),
    response(
        R"({"text":""})", "STOP",
        R"(,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":6,"toolUsePromptTokenCount":5})"),
};

const std::vector<std::string> kParts{
    "thought(Let me see.)",
    "text(Grüße, \n)",
    R"(text(world) {"thoughtSignature":"sig/1"})",
    "text(!)",
    R"raw(call(f1,add,{"x":1.5}) {"id":"f1","thoughtSignature":"sig+2"})raw",
    "call(new_2,now,{}) {}",
    R"(novelty {"novelty":{"a":[1]}})",
};

TEST(GeminiReader, Stream_BecomesPartsWhereverItIsSplit) {
  for (const std::size_t step : {std::string::npos, std::size_t{1}, std::size_t{13}}) {
    const auto answer = read(stream(kEvents), step);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(described(*answer), kParts);
    EXPECT_EQ(answer->finish, FinishReason::kToolCalls);
    EXPECT_EQ(answer->finish_raw, "STOP");
    EXPECT_EQ(answer->usage, (Usage{.input = 15, .output = 10, .cache_read = 3, .reasoning = 4}));
    EXPECT_EQ(answer->model, "gemini-3-001");
    EXPECT_EQ(answer->response_id, "r1");
    EXPECT_THAT(answer->warnings, IsEmpty());
  }
}

TEST(GeminiReader, EveryPiece_IsEmittedAsItArrives) {
  Listener listener;
  ASSERT_TRUE(read(stream(kEvents), 7, &listener));
  EXPECT_EQ(listener.heard(),
            "summary0(Let me ) summary0(see.) text1(Grüße) text1(, \n) text2(world) text3(!) "
            R"raw(call4(f1=add) arguments4({"x":1.5}) call5(new_2=now) arguments5({}) )raw"
            R"(event({"novelty":{"a":[1]}}) )");
}

TEST(GeminiReader, SimilarEvents_AreReadAsIfAlone) {
  std::vector<std::string> events;
  for (std::size_t i = 0; i < 3 * kSpelledTexts.size(); ++i) {
    events.push_back(response(R"({"text":")" + kSpelledTexts[i % kSpelledTexts.size()] +
                                  (i % 6 < 2 ? R"(","thought":true})" : "\"}"),
                              "",
                              R"(,"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":)" +
                                  std::to_string(5 * i) + R"(},"modelVersion":"m","responseId":"r")"));
  }
  events.push_back(response("", "STOP"));
  Listener listener, plain;
  const auto answer = read(stream(events), 100, &listener);
  const auto expected = read(stream(respelled(events)), 100, &plain);
  ASSERT_TRUE(answer && expected);
  EXPECT_EQ(described(*answer), described(*expected));
  EXPECT_EQ(listener.heard(), plain.heard());
  EXPECT_EQ(answer->usage, expected->usage);
  EXPECT_EQ(answer->usage.output, static_cast<std::int64_t>(5 * (3 * kSpelledTexts.size() - 1)));
}

TEST(GeminiReader, ArrayWithoutEvents_IsReadLikeAStream) {
  std::string array = "[" + kEvents.front();
  for (std::size_t i = 1; i < kEvents.size(); ++i) array += "\n,\n" + kEvents[i];
  const auto answer = read(array + "]", 11);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(described(*answer), kParts);
  EXPECT_EQ(kind_of(read(array)), "truncated_stream");
  EXPECT_EQ(kind_of(read("[" + kEvents[2] + "]")), "truncated_stream");
}

TEST(GeminiReader, CutStream_IsAnErrorOrHasNoValidCall) {
  for (std::size_t count = 0; count < kEvents.size(); ++count) {
    const auto answer = read(stream({kEvents.begin(), kEvents.begin() + static_cast<std::ptrdiff_t>(count)}));
    EXPECT_EQ(kind_of(answer), "truncated_stream") << count;
  }
}

TEST(GeminiReader, WholeAnswer_NeedsNoFinishReason) {
  const auto answer = read(response(R"({"text":"Hi"})"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(described(*answer), ElementsAre("text(Hi)"));
  EXPECT_EQ(answer->finish, FinishReason::kStop);
  EXPECT_TRUE(answer->usage.estimated);
}

TEST(GeminiReader, Usage_KeepsCountsThatALaterEventOmits) {
  const auto answer =
      read(stream({response(R"({"text":"a"})", "", R"(,"usageMetadata":{"promptTokenCount":7})"),
                   response("", "STOP", R"(,"usageMetadata":{"candidatesTokenCount":2})")}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->usage, (Usage{.input = 7, .output = 2}));
}

TEST(GeminiReader, Signature_StaysWithItsPartEvenIfEmpty) {
  const auto answer = read(stream({response(R"({"text":"a"})"), response(R"({"text":"b"})"),
                                   response(R"({"text":"","thoughtSignature":"s"})", "STOP")}));
  ASSERT_TRUE(answer);
  EXPECT_THAT(described(*answer), ElementsAre("text(ab)", R"(text() {"thoughtSignature":"s"})"));
}

TEST(GeminiReader, PartWithTextAndCall_BecomesBoth) {
  const auto answer = read(response(
      R"({"text":"Looking.","functionCall":{"name":"look","args":{}},"thoughtSignature":"s"})", "STOP"));
  ASSERT_TRUE(answer);
  EXPECT_THAT(described(*answer),
              ElementsAre("text(Looking.)", R"raw(call(new_1,look,{}) {"thoughtSignature":"s"})raw"));
}

TEST(GeminiReader, DuplicateCallId_IsReplacedAndKeptAsVendorState) {
  const auto answer = read(
      response(R"({"functionCall":{"id":"1","name":"a"}},{"functionCall":{"id":"1","name":"b"}})", "STOP"));
  ASSERT_TRUE(answer);
  EXPECT_THAT(described(*answer),
              ElementsAre(R"raw(call(1,a,{}) {"id":"1"})raw", R"raw(call(new_2,b,{}) {"id":"1"})raw"));
}

TEST(GeminiReader, Media_BecomeImagesAndFilesExceptInThoughts) {
  const auto part = [](const std::string& mime, const std::string& more) {
    return R"({"inlineData":{"mimeType":")" + mime + R"(","data":")" + base64_encode("px") + "\"}" + more +
           "}";
  };
  const auto answer =
      read(response(part("image/png", R"(,"thought":true)") + "," +
                        part("image/png", R"(,"thoughtSignature":"s")") + "," + part("audio/wav", ""),
                    "STOP"));
  ASSERT_TRUE(answer);
  EXPECT_THAT(described(*answer),
              ElementsAre(HasSubstr("inlineData {"), R"raw(image(image/png,px) {"thoughtSignature":"s"})raw",
                          "file(audio/wav)"));
}

TEST(GeminiReader, AlternativeCandidates_AreIgnored) {
  const auto answer = read(R"({"candidates":[{"index":1,"content":{"parts":[{"text":"B"}]}},
      {"index":0,"content":{"parts":[{"text":"A"}]},"finishReason":"STOP"}]})");
  ASSERT_TRUE(answer);
  EXPECT_THAT(described(*answer), ElementsAre("text(A)"));
}

TEST(GeminiReader, Sources_BecomeCitationsOfTheLastText) {
  const auto answer = read(R"({"candidates":[{"content":{"parts":[{"text":"Up."}]},"finishReason":"STOP",
      "citationMetadata":{"citationSources":[{"uri":"https://a.example"},{"uri":"https://a.example"}]},
      "groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://b.example","title":"B"}}],
        "groundingSupports":[{"segment":{"text":"Up"},"groundingChunkIndices":[0,7]}]}}]})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<TextPart>(answer->parts[0]).citations,
            (std::vector<Citation>{{"https://a.example", "", ""}, {"https://b.example", "B", "Up"}}));
}

// ---- arguments that arrive in pieces ----------------------------------------------------------------------

std::string call(const std::string& fields) { return response(R"({"functionCall":{)" + fields + "}}"); }
std::string piece(const std::string& path, const std::string& value) {
  return call(R"("partialArgs":[{"jsonPath":")" + path + "\"," + value + R"(}],"willContinue":true)");
}
const std::vector<std::string> kPieces{
    response(R"({"functionCall":{"name":"cook","willContinue":true},"thoughtSignature":"s"})"),
    piece("$.list[0].name", R"("stringValue":"Egg","willContinue":true)"),
    piece("$.list[0].name", R"("stringValue":"s")"),
    piece("$.list[0].count", R"("numberValue":2)"),
    call(""),
    call(R"("name":"stop")"),
    response("", "STOP"),
};

TEST(GeminiReader, PartialArguments_AreJoined) {
  const auto answer = read(stream(kPieces), 1);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(
      described(*answer),
      ElementsAre(R"raw(call(new_1,cook,{"list":[{"name":"Eggs","count":2}]}) {"thoughtSignature":"s"})raw",
                  "call(new_2,stop,{}) {}"));
}

TEST(GeminiReader, IncompleteOrInvalidPartialArguments_InvalidateTheCall) {
  const std::string nonsense = piece("$.list[9]", R"("stringValue":"?")");
  const std::vector<std::vector<std::string>> streams{
      {kPieces[0], kPieces[1], kPieces[6]},                         // the end of the turn comes first
      {kPieces[0], kPieces[1], kPieces[5], kPieces[6]},             // the next call comes first
      {kPieces[0], nonsense, kPieces[3], kPieces[4], kPieces[6]}};  // invalid path
  for (const auto& events : streams) {
    const auto answer = read(stream(events));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_THAT(described(*answer).front(), StartsWith("invalid(new_1,cook,{")) << events.size();
    EXPECT_FALSE(answer->warnings.empty());
  }
}

// ---- how it ends ------------------------------------------------------------------------------------------

TEST(GeminiReader, FinishReason_IsMappedAndCanInvalidateCalls) {
  struct Row {
    std::string raw;
    FinishReason finish;
    bool runs;
  };
  for (const Row& row :
       {Row{"STOP", FinishReason::kToolCalls, true}, Row{"MAX_TOKENS", FinishReason::kLength, false},
        Row{"SAFETY", FinishReason::kContentFilter, false},
        Row{"IMAGE_PROHIBITED_CONTENT", FinishReason::kContentFilter, false},
        Row{"MODEL_ARMOR", FinishReason::kContentFilter, false},
        Row{"MALFORMED_FUNCTION_CALL", FinishReason::kMalformedToolCall, false},
        Row{"UNEXPECTED_TOOL_CALL", FinishReason::kMalformedToolCall, false},
        Row{"TOO_MANY_TOOL_CALLS", FinishReason::kOther, true},
        Row{"SOMETHING_NEW", FinishReason::kOther, true}}) {
    const auto answer = read(response(R"({"functionCall":{"name":"f","args":{}}})", row.raw));
    ASSERT_TRUE(answer) << row.raw;
    EXPECT_EQ(answer->finish, row.finish) << row.raw;
    EXPECT_EQ(answer->finish_raw, row.raw);
    EXPECT_EQ(std::get<ToolCallPart>(answer->parts[0]).valid, row.runs) << row.raw;
  }
}

TEST(GeminiReader, FinishMessageOfAFailure_BecomesAWarning) {
  const std::string message = R"("finishMessage":"print f","content":{"parts":[{"text":"."}]})";
  const auto finished = [&](const std::string& reason) {
    return read(R"({"candidates":[{"finishReason":")" + reason + "\"," + message + "}]}").value().warnings;
  };
  EXPECT_THAT(finished("MALFORMED_FUNCTION_CALL"), ElementsAre("MALFORMED_FUNCTION_CALL: print f"));
  EXPECT_THAT(finished("STOP"), IsEmpty());
}

TEST(GeminiReader, BlockedPrompt_GivesAnEmptyFilteredAnswer) {
  const std::string blocked = R"({"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"Harm"}})";
  for (const std::string& body : {blocked, stream({blocked})}) {
    const auto answer = read(body);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->finish, FinishReason::kContentFilter);
    EXPECT_THAT(answer->warnings, ElementsAre("the prompt was blocked: SAFETY", "content_filter: Harm"));
    EXPECT_THAT(answer->parts, IsEmpty());
  }
}

TEST(GeminiReader, EmptyAnswer_IsRetriable) {
  for (const std::string& body : {response("", "STOP"), std::string(R"({"candidates":[]})"),
                                  std::string(R"({"this":"is something else"})")}) {
    const auto answer = read(body);
    ASSERT_FALSE(answer) << body;
    EXPECT_TRUE(answer.error().retriable) << body;
  }
}

TEST(GeminiReader, ErrorAtAnyPlace_EndsTheAnswer) {
  const std::string error = R"({"error":{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}})";
  const std::string nested = R"({"error":{"message":)" + to_json_text(Json(error)) + "}}";
  for (const std::string& body :
       {error, "[" + error + "]", "[" + kEvents[2] + "," + error + "]", stream({kEvents[2], error}),
        stream({kEvents[2], kEvents.back()}) + error, stream({kEvents[2], nested})}) {
    EXPECT_EQ(kind_of(read(body)), "overloaded") << body;
  }
}

TEST(GeminiReader, InvalidJson_IsAProtocolError) {
  EXPECT_EQ(kind_of(read("<html>proxy</html>")), "protocol");
  EXPECT_EQ(kind_of(read(stream({"{candidates"}))), "protocol");
}

}  // namespace
}  // namespace praxis::wire::gemini
