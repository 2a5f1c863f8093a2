#include "models/wire/chat/response.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/testing/chat_events.hpp"
#include "models/testing/events.hpp"
#include "models/testing/listener.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

struct Case {
  std::string_view promise;
  Events events;
  std::string_view answer;
};

const std::vector<Case> kStreams{
    {"text",
     {chunk(R"({"role":"assistant","content":""})"), chunk(R"({"content":"Hel"})"),
      chunk(R"({"content":"lo"})"), kStop, kDone},
     "text(Hello) stop"},
    {"white space is content",
     {chunk(R"({"content":"a"})"), chunk(R"({"content":" "})"), chunk(R"({"content":"\n"})"),
      chunk(R"({"content":"b"})"), kStop, kDone},
     "text(a \nb) stop"},
    {"finish with the last text",
     {chunk(R"({"content":"a"})"), chunk(R"({"content":"b"})", "\"stop\""), kDone},
     "text(ab) stop"},
    {"finish and no DONE", {chunk(R"({"content":"a"})"), kStop}, "text(a) stop"},
    {"DONE and no finish", {chunk(R"({"content":"a"})"), kDone}, "text(a) stop"},
    {"length", {chunk(R"({"content":"a"})"), chunk("{}", "\"length\""), kDone}, "text(a) length"},
    {"empty finish is ignored", {chunk(R"({"content":"a"})", "\"\""), kStop, kDone}, "text(a) stop"},
    {"empty finish without a delta",
     {chunk(R"({"content":"a"})"), R"({"choices":[{"index":0,"finish_reason":""}]})"},
     "error truncated_stream"},
    {"another field named content",
     {chunk(R"({"extra":{"content":"q"},"content":"a"})"),
      chunk(R"({"extra":{"content":"z"},"content":"a"})"), kStop, kDone},
     "text(aa) stop"},
    {"unknown finish", {chunk(R"({"content":"a"})"), chunk("{}", "\"eos\""), kDone}, "text(a) other"},
    {"empty choices",
     {R"({"choices":[],"prompt_filter_results":[]})", chunk(R"({"content":"a"})"), kStop, kDone},
     "text(a) stop"},
    {"other choices",
     {chunk(R"({"content":"a"})"), R"({"choices":[{"index":1,"delta":{"content":"b"}}]})", kStop, kDone},
     "text(a) stop"},
    {"comments as data", {": ping", chunk(R"({"content":"a"})"), kStop, kDone}, "text(a) stop"},
    {"unknown events",
     {R"({"type":"ping"})", chunk(R"({"content":"a"})"), R"({"new":[1]})", kStop, kDone},
     "text(a) stop"},
    {"refusal",
     {chunk(R"({"refusal":"I "})"), chunk(R"({"refusal":"won't"})"), kStop, kDone},
     "refusal(I won't) refusal"},
    {"reasoning_content",
     {chunk(R"({"reasoning_content":"hm","content":null})"), chunk(R"({"content":"a"})"), kStop, kDone},
     "reasoning(hm) text(a) stop"},
    {"reasoning",
     {chunk(R"({"reasoning":"h"})"), chunk(R"({"reasoning":"m"})"), chunk(R"({"content":"a"})"), kStop,
      kDone},
     "reasoning(hm) text(a) stop"},
    {"reasoning twice counts once",
     {chunk(R"({"reasoning":"hm","reasoning_content":"hm","reasoning_details":[{"text":"hm"}]})"),
      chunk(R"({"content":"a"})"), kStop, kDone},
     "reasoning(hm) text(a) stop"},
    {"reasoning_details",
     {chunk(R"({"reasoning_details":[{"type":"reasoning.text","text":"hm"}]})"), chunk(R"({"content":"a"})"),
      kStop, kDone},
     "reasoning(hm) text(a) stop"},
    {"content parts",
     {chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]})"),
      chunk(R"({"content":[{"type":"text","text":"a"}]})"), chunk(R"({"content":"b"})"), kStop, kDone},
     "reasoning(hm) text(ab) stop"},
    {"unknown content part", {chunk(R"({"content":[{"type":"hologram"}]})"), kStop, kDone}, "opaque stop"},
    {"invalid UTF-8", {chunk("{\"content\":\"a\xFF\"}"), kStop, kDone}, "text(a\xEF\xBF\xBD) stop"},

    {"a call",
     {fragments(R"({"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}})"),
      fragments(R"({"index":0,"function":{"arguments":"{\"a\""}})"),
      fragments(R"({"index":0,"function":{"arguments":":1}"}})"), kCalls, kDone},
     R"(call(c1,f,{"a":1}) tool_calls)"},
    {"text before a call",
     {chunk(R"({"content":"so"})"),
      fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}})"), kCalls, kDone},
     "text(so) call(c1,f,{}) tool_calls"},
    {"finish stop with calls",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}})"), kStop, kDone},
     "call(c1,f,{}) tool_calls"},
    {"1: interleaved by index",
     {fragments(
          R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{"}},{"index":1,"id":"c2","function":{"name":"g","arguments":"{"}})"),
      fragments(R"({"index":1,"function":{"arguments":"}"}})"),
      fragments(R"({"index":0,"function":{"arguments":"}"}})"), kCalls, kDone},
     "call(c1,f,{}) call(c2,g,{}) tool_calls"},
    {"1: constant index, new id and name",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}})"),
      fragments(R"({"index":0,"id":"c2","function":{"name":"g","arguments":"{}"}})"),
      fragments(R"({"index":0,"function":{"arguments":" "}})"), kCalls, kDone},
     "call(c1,f,{}) call(c2,g,{} ) tool_calls"},
    {"1: id repeated in each fragment",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{"}})"),
      fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"}"}})"), kCalls, kDone},
     "call(c1,f,{}) tool_calls"},
    {"1: other id without a name",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{"}})"),
      fragments(R"({"index":0,"id":"x","function":{"arguments":"}"}})"), kCalls, kDone},
     "call(c1,f,{}) tool_calls"},
    {"2: no index, by id",
     {fragments(R"({"id":"c1","function":{"name":"f","arguments":"{"}})"),
      fragments(R"({"id":"c2","function":{"name":"g","arguments":"{}"}})"),
      fragments(R"({"id":"c1","function":{"arguments":"}"}})"), kCalls, kDone},
     "call(c1,f,{}) call(c2,g,{}) tool_calls"},
    {"2: no index, no id, no name",
     {fragments(R"({"id":"c1","function":{"name":"f","arguments":"{"}})"),
      fragments(R"({"function":{"arguments":"}"}})"), kCalls, kDone},
     "call(c1,f,{}) tool_calls"},
    {"2: no index, no id, two names",
     {fragments(R"({"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}})"),
      kCalls, kDone},
     "call(new_1,f,{}) call(new_2,g,{}) tool_calls"},
    {"2: no index, no id, a chunk each",
     {fragments(R"({"function":{"name":"f","arguments":"{\"a\":1}"}})"),
      fragments(R"({"function":{"name":"f","arguments":"{\"a\":2}"}})"), kCalls, kDone},
     R"(call(new_1,f,{"a":1}) call(new_2,f,{"a":2}) tool_calls)"},
    {"3: empty id later",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{"}})"),
      fragments(R"({"index":0,"id":"","function":{"arguments":"}"}})"),
      fragments(R"({"index":0,"id":null,"function":{"arguments":" "}})"), kCalls, kDone},
     "call(c1,f,{} ) tool_calls"},
    {"3: never an id",
     {fragments(R"({"index":0,"id":"","function":{"name":"f","arguments":"{}"}})"), kCalls, kDone},
     "call(new_1,f,{}) tool_calls"},
    {"3: id used before in the conversation",
     {fragments(R"({"index":0,"id":"used","function":{"name":"f","arguments":"{}"}})"), kCalls, kDone},
     "call(new_1,f,{}) tool_calls"},
    {"4: name in every fragment",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{"}})"),
      fragments(R"({"index":0,"function":{"name":"f","arguments":"}"}})"), kCalls, kDone},
     "call(c1,f,{}) tool_calls"},
    {"4: name after arguments",
     {fragments(R"({"index":0,"id":"c1","function":{"arguments":"{"}})"),
      fragments(R"({"index":0,"function":{"name":"f","arguments":"}"}})"), kCalls, kDone},
     "call(c1,f,{}) tool_calls"},
    {"4: never a name",
     {fragments(R"({"index":0,"id":"c1","function":{"arguments":"{}"}})"), kCalls, kDone},
     "invalid(c1,,{}) malformed_tool_call"},
    {"5: arguments as object",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":{"a":1}}})"), kCalls, kDone},
     R"(call(c1,f,{"a":1}) tool_calls)"},
    {"5: arguments null",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"null"}})"), kCalls, kDone},
     "call(c1,f,null) tool_calls"},
    {"5: arguments absent",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f"}})"), kCalls, kDone},
     "call(c1,f,) tool_calls"},
    {"5: arguments repeated whole",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}})"),
      fragments(R"({"index":0,"function":{"arguments":"1}"}})"),
      fragments(R"({"index":0,"function":{"arguments":"{\"a\":1}"}})"), kCalls, kDone},
     R"(call(c1,f,{"a":1}) tool_calls)"},
    {"6: no call at all",
     {chunk(
          R"({"content":"a","function_call":{"name":"","arguments":""},"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":""}}]})"),
      kStop, kDone},
     "text(a) stop"},
    {"7: legacy call",
     {chunk(R"({"function_call":{"name":"f","arguments":""}})"),
      chunk(R"({"function_call":{"arguments":"{}"}})"), chunk("{}", "\"function_call\""), kDone},
     "call(new_1,f,{}) tool_calls"},

    {"a call cut by length",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}})"),
      chunk("{}", "\"length\""), kDone},
     R"(invalid(c1,f,{"a":) length)"},
    {"even a whole call when cut by length",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}})"),
      chunk("{}", "\"length\""), kDone},
     "invalid(c1,f,{}) length"},
    {"filtered",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}})"),
      chunk("{}", "\"content_filter\""), kDone},
     "invalid(c1,f,{}) content_filter"},
    {"cut, though called tool_calls",
     {fragments(R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}})"), kCalls, kDone},
     R"(invalid(c1,f,{"a":) malformed_tool_call)"},
    {"one of two cut",
     {fragments(
          R"({"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"c2","function":{"name":"f","arguments":"{"}})"),
      kCalls, kDone},
     "call(c1,f,{}) invalid(c2,f,{) tool_calls"},

    {"an error instead", {R"({"error":{"message":"busy","code":503}})"}, "error overloaded"},
    {"an error in the middle",
     {chunk(R"({"content":"a"})"), R"({"error":{"message":"x","type":"server_error"}})", kDone},
     "error server"},
    {"an error after the finish",
     {chunk(R"({"content":"a"})"), kStop,
      R"({"error":{"message":"x","code":502},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]})",
      kDone},
     "error server"},
    {"finish error", {chunk(R"({"content":"a"})"), chunk("{}", "\"error\""), kDone}, "error server"},
    {"nonsense", {chunk(R"({"content":"a"})"), "<html>"}, "error protocol"},
    {"nothing", {}, "error truncated_stream"},
    {"nothing but DONE", {kDone}, "error truncated_stream"},
    {"nothing but usage", {R"({"choices":[],"usage":{"prompt_tokens":1}})", kDone}, "error truncated_stream"},
};

TEST(ChatResponse, Streams_AreReadByTheRules) {
  for (const Case& c : kStreams) EXPECT_EQ(describe(read(c.events)), c.answer) << c.promise;
}

TEST(ChatResponse, Deltas_AddUpToTheAnswer) {
  Listener listener;
  ASSERT_TRUE(
      read({chunk(R"({"reasoning":"hm"})"), chunk(R"({"content":"a"})"), chunk(R"({"content":"b\n"})"),
            chunk(R"({"content":"c"})"), fragments(R"({"index":0,"id":"c1","function":{"arguments":"{"}})"),
            fragments(R"({"index":0,"function":{"name":"f"}})"),
            fragments(R"({"index":0,"function":{"arguments":"\"x\":"}})"),
            fragments(R"({"index":0,"function":{"arguments":"1"}})"),
            fragments(R"({"index":0,"function":{"arguments":"}"}})"), kCalls, kDone},
           &listener));
  EXPECT_EQ(listener.heard(),
            "reasoning0(hm) text1(a) text1(b\n) text1(c) call2(c1=f) arguments2({) "
            R"(arguments2("x":) arguments2(1) arguments2(}) )");
}

TEST(ChatResponse, CutAnswer_IsAnErrorAndNeverAValidCall) {
  for (const Case& c : kStreams) {
    for (std::size_t cut = 0; cut < c.events.size(); ++cut) {
      const Events events(c.events.begin(), c.events.begin() + static_cast<std::ptrdiff_t>(cut));
      const bool finished = std::ranges::any_of(events, [](const std::string& e) {
        return e.contains(R"("finish_reason":")") && !e.contains(R"("finish_reason":"")");
      });
      EXPECT_TRUE(finished || !read(events)) << c.promise << " cut at " << cut;
    }
  }
}

TEST(ChatResponse, NoiseBetweenEvents_ChangesNothing) {
  for (const Case& c : kStreams) {
    for (const auto* noise :
         {": keep-alive", "", R"({"type":"ping"})", R"({"choices":[],"obfuscation":"x"})"}) {
      Events noisy;
      for (const std::string& event : c.events) {
        noisy.push_back(event);
        noisy.emplace_back(noise);
      }
      EXPECT_EQ(describe(read(noisy)), c.answer) << c.promise << " with " << noise;
    }
  }
}

TEST(ChatResponse, SimilarChunks_AreReadAsIfAlone) {
  // Other members of a delta, before and after the text.
  const std::vector<std::string> others{R"("refusal":null)",          R"("extra":"content")",
                                        R"("extra":{"content":"q"})", R"("reasoning":"r")",
                                        R"("\u0063ontent":"q")",      R"("p":"content")"};
  for (const std::string field : {"content", "reasoning_content"}) {
    for (const std::string& other : others) {
      for (const bool before : {true, false}) {
        Events events;
        for (const std::string& text : kSpelledTexts) {
          const std::string pair = '"' + field + "\": \"" + text + '"';
          events.push_back(R"({"choices":[{"index":0,"delta":{)" +
                           (before ? other + ',' + pair : pair + ',' + other) + R"(}}],"obfuscation":")" +
                           std::string(events.size(), 'x') + "\"}");
        }
        events.push_back(kStop);
        EXPECT_EQ(describe(read(events)), describe(read(respelled(events))))
            << field << ' ' << other << before;
      }
    }
  }
  for (const Case& c : kStreams) EXPECT_EQ(describe(read(respelled(c.events))), c.answer) << c.promise;
}

TEST(ChatResponse, SimilarChunks_AddOnlyTheTextOfTheFirstChoice) {
  const auto answer = [](std::string_view before, std::string_view behind) {
    Events events;
    for (const std::string_view text : {"a", "b", "c"}) {
      events.push_back(R"({"choices":[)" + std::string(before) + R"({"index":0,"delta":{"content":")" +
                       std::string(text) + "\"}}" + std::string(behind) + "]}");
    }
    events.push_back(kStop);
    return describe(read(events));
  };
  EXPECT_EQ(answer("", ""), "text(abc) stop");
  EXPECT_EQ(answer("", R"(,{"index":0,"delta":{"content":"x"}})"), "text(axbxcx) stop");
  EXPECT_EQ(answer(R"({"index":0,"delta":{"content":"x"}},)", ""), "text(xaxbxc) stop");
  EXPECT_EQ(answer("", R"(,{"index":1,"delta":{"content":"x"}})"), "text(abc) stop");
  const std::string second = R"({"choices":[{"index":1,"delta":{"content":"q"}}]})";
  EXPECT_EQ(describe(read({chunk(R"({"content":"a"})"), second, second, kStop})), "text(a) stop");
}

TEST(ChatResponse, WholeAnswers_AreReadByTheSameRules) {
  const auto answer = [](std::string_view message, std::string_view finish) {
    return describe(read_whole(R"({"id":"r","choices":[{"index":0,"message":)" + std::string(message) +
                               R"(,"finish_reason":)" + std::string(finish) + "}]}"));
  };
  EXPECT_EQ(answer(R"({"content":"a"})", "\"stop\""), "text(a) stop");
  EXPECT_EQ(answer(R"({"content":"a"})", "null"), "text(a) stop");
  EXPECT_EQ(answer(R"({"content":null,"refusal":"no"})", "\"stop\""), "refusal(no) refusal");
  EXPECT_EQ(
      answer(
          R"({"content":"","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}},{"id":"x","function":{"name":"g","arguments":{}}}]})",
          "\"stop\""),
      "call(x,f,{}) call(new_2,g,{}) tool_calls");
  EXPECT_EQ(answer(R"({"function_call":{"name":"f","arguments":"{}"}})", "\"function_call\""),
            "call(new_1,f,{}) tool_calls");
  EXPECT_EQ(answer(R"({"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{\"a"}}]})", "\"length\""),
            "invalid(x,f,{\"a) length");
}

TEST(ChatResponse, InvalidWholeAnswers_AreErrors) {
  EXPECT_EQ(describe(read_whole("<html>")), "error protocol");
  EXPECT_EQ(describe(read_whole("")), "error protocol");
  EXPECT_EQ(describe(read_whole(R"({"choices":[{"message":{"content":"a)")), "error truncated_stream");
  EXPECT_EQ(describe(read_whole(R"({"choices":[]})")), "error truncated_stream");
  EXPECT_EQ(describe(read_whole(R"({"error":{"message":"x","code":"rate_limit_exceeded"}})")),
            "error rate_limit");
  EXPECT_EQ(describe(read_whole("[1,2]")), "error truncated_stream");
}

}  // namespace
}  // namespace praxis::wire::chat
