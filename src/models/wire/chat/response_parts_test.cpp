// Parts of an answer other than its text: usage, reasoning, signatures, citations and media.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/testing/chat_events.hpp"
#include "models/testing/events.hpp"
#include "models/testing/listener.hpp"
#include "models/wire/chat/response.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

TEST(ChatResponse, RepeatedUsage_IsReplacedNotAdded) {
  const auto input = [](const Events& events) { return read(events).value().usage.input; };
  const std::string text = chunk(R"({"content":"a"})");
  EXPECT_EQ(
      input({text,
             R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}})"}),
      3);
  EXPECT_EQ(
      input({text,
             R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":4}}]})"}),
      4);
  EXPECT_EQ(input({text, kStop, R"({"choices":[],"x_groq":{"usage":{"prompt_tokens":5}}})"}), 5);
  const std::string repeated =
      R"({"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":6}})";
  EXPECT_EQ(input({repeated, repeated, kStop, R"({"choices":[],"usage":null})"}), 6);
}

const std::string& state_of(const Result<ModelResponse>& response, std::size_t part) {
  return std::visit(
      [](const auto& p) -> const std::string& {
        static const std::string kNone = "none";
        if constexpr (requires { p.vendor; }) return p.vendor ? p.vendor->raw : kNone;
        return kNone;
      },
      response->parts.at(part));
}

TEST(ChatResponse, Reasoning_RemembersItsField) {
  EXPECT_EQ(state_of(read({chunk(R"({"reasoning":"hm"})"), kStop}), 0), R"({"field":"reasoning"})");
  EXPECT_EQ(state_of(read({chunk(R"({"content":[{"type":"thinking","thinking":"hm"}]})"), kStop}), 0),
            R"({"field":"content"})");
}

TEST(ChatResponse, ReasoningDetails_AreEmittedOnceAndKept) {
  const auto detail = [](std::string_view fields) {
    return chunk(R"({"reasoning_details":[{"type":"reasoning.text",)" + std::string(fields) + "}]}");
  };
  const auto response = read({detail(R"("text":"a")"), detail(R"("text":"b")"), chunk(R"({"content":"so"})"),
                              detail(R"("signature":"s")"), kStop});
  EXPECT_EQ(describe(response), "reasoning(ab) text(so) stop");
  EXPECT_EQ(state_of(response, 0),
            R"({"reasoning_details":[{"type":"reasoning.text","text":"ab","signature":"s"}]})");
}

TEST(ChatResponse, EncryptedReasoning_IsKeptWithoutText) {
  const auto response =
      read({chunk(R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]})"), kStop});
  EXPECT_EQ(describe(response), "reasoning() stop");
  EXPECT_EQ(state_of(response, 0), R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]})");
}

TEST(ChatResponse, Signatures_StayWithTheirParts) {
  const std::string signature = R"("extra_content":{"google":{"thought_signature":"s"}})";
  const std::string kept = '{' + signature + '}';
  const auto calls =
      read({fragments(R"({"id":"a","function":{"name":"f","arguments":"{}"},)" + signature + "}"),
            fragments(R"({"id":"b","function":{"name":"f","arguments":"{}"}})"), kCalls});
  EXPECT_EQ(state_of(calls, 0), kept);
  EXPECT_EQ(state_of(calls, 1), "none");
  const auto text = read({chunk(R"({"content":"a",)" + signature + "}"), kStop});
  EXPECT_EQ(describe(text), "text(a) reasoning() stop");
  EXPECT_EQ(state_of(text, 1), kept);
}

TEST(ChatResponse, Citations_AreAttachedToTheText) {
  const auto cited = [](const Events& events) {
    std::string out;
    const auto response = read(events);
    for (const Citation& c : std::get<TextPart>(response->parts.back()).citations) {
      out += c.url + '|' + c.title + '|' + c.quote + ' ';
    }
    return out;
  };
  const std::string text = chunk(R"({"content":"a"})");
  EXPECT_EQ(cited({text,
                   chunk(R"({"annotations":[{"type":"url_citation","url_citation":)"
                         R"({"url":"u","title":"t","content":"q"}},{"type":"file","file":{}}]})"),
                   kStop}),
            "u|t|q ");
  const auto with = [](std::string_view sources) {
    return R"({"choices":[{"index":0,"delta":{"content":"b"}}],)" + std::string(sources) + "}";
  };
  EXPECT_EQ(cited({text, with(R"("citations":["u"])"), with(R"("citations":["u","v"])"), kStop}), "u|| v|| ");
  EXPECT_EQ(
      cited({with(R"("citations":["u"],"search_results":[{"url":"u","title":"t","snippet":"q"}])"), kStop}),
      "u|t|q ");
}

TEST(ChatResponse, ImagesAndAudio_AreKept) {
  const auto image =
      read({chunk(R"({"content":"a"})"),
            chunk(R"({"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}},)"
                  R"({"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]})"),
            kStop});
  const auto& inlined = std::get<ImagePart>(image->parts.at(1)).source;
  EXPECT_EQ(inlined.mime, "image/png");
  EXPECT_EQ(inlined.data, "\x89PNG");
  EXPECT_EQ(std::get<ImagePart>(image->parts.at(2)).source.url, "https://example.com/a.png");

  const auto sound = read({chunk(R"({"audio":{"id":"s","transcript":"he"}})"),
                           chunk(R"({"audio":{"transcript":"y","data":"AA"}})"),
                           chunk(R"({"audio":{"data":"BB"}})"), kStop});
  EXPECT_EQ(describe(sound), "text(hey) opaque stop");
  EXPECT_EQ(state_of(sound, 1), R"({"id":"s","transcript":"hey","data":"AABB"})");
  EXPECT_EQ(describe(read({chunk(R"({"content":"a","audio":{"id":"","data":"","transcript":""}})"), kStop})),
            "text(a) stop");
}

TEST(ChatResponse, ThinkTags_ApplyOnlyWithTheirFlag) {
  const std::string text = chunk(R"({"content":"<think>hm</think>so"})");
  EXPECT_EQ(describe(read({text, kStop})), "text(<think>hm</think>so) stop");
  const Dialect tags{.think_tags = true};
  ResponseReader reader(kTarget, tags, {});
  for (const std::string& event : {text, chunk(R"({"content":" it is <think>"})"), kStop}) {
    EXPECT_TRUE(reader.read_event("", event));
  }
  EXPECT_EQ(describe(reader.finish()), "reasoning(hm) text(so it is <think>) stop");
}

TEST(ChatResponse, MissingUsage_IsMarkedAsEstimated) {
  const auto response = read({chunk(R"({"content":"a"})"), kStop}).value();
  EXPECT_TRUE(response.usage.estimated);
  EXPECT_EQ(response.response_id, "r1");
  EXPECT_EQ(response.model, "gpt-x");
  EXPECT_EQ(response.finish_raw, "stop");
}

}  // namespace
}  // namespace praxis::wire::chat
