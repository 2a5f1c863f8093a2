#include "praxis/net/sse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace praxis {
namespace {

using namespace std::string_literals;

// Returns each event as `name|data|id`; then the result of `finish` and the stray text, if any.
std::vector<std::string> parsed(const std::vector<std::string_view>& chunks, std::size_t limit = 1 << 20) {
  std::vector<std::string> seen;
  SseParser parser(limit);
  const auto keep = [&](const SseEvent& e) {
    seen.push_back(std::string(e.event) + "|" + std::string(e.data) + "|" + std::string(e.id));
  };
  for (const std::string_view chunk : chunks) {
    const std::string own(chunk);  // freed after the call, so that a dangling view is detected
    if (const Status ok = parser.feed(own, keep); !ok) {
      seen.push_back("error: " + ok.error().message);
      return seen;
    }
  }
  if (const Status ok = parser.finish(keep); !ok) seen.push_back("cut");
  if (!parser.stray().empty()) seen.push_back("stray: " + std::string(parser.stray()));
  return seen;
}

using Events = std::vector<std::string>;

struct Stream {
  std::string text;
  Events events;
};

std::vector<Stream> streams() {
  return {
      {"data: {\"a\":1}\n\ndata: [DONE]\n\n", {"|{\"a\":1}|", "|[DONE]|"}},
      {"event: x\ndata: 1\n\ndata: 2\n\n", {"x|1|", "|2|"}},
      {"event: x\r\ndata: 1\r\n\r\nevent: y\r\ndata:2\r\n\r\n", {"x|1|", "y|2|"}},
      {"event: x\rdata: 1\r\rdata: 2\r\r", {"x|1|", "|2|"}},
      {"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", {"|a|", "|b|", "|c|"}},
      {"data: one\ndata: two\ndata:\ndata: four\n\n", {"|one\ntwo\n\nfour|"}},
      {": ping\n\n:\n\ndata: 1\n: in between\n\n: last\n\n", {"|1|"}},
      {"data: : OPENROUTER PROCESSING\n\ndata: 1\n\n", {"|1|"}},
      {"event: ping\n\ndata: 1\n\n", {"|1|"}},
      {"id: 7\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n", {"|1|7", "|2|7", "|3|"}},
      {"data\n\ndata:\n\n", {"||", "||"}},
      {"data:  two spaces\n\ndata:none\n\n", {"| two spaces|", "|none|"}},
      {"\xef\xbb\xbf"
       "data: 1\n\n",
       {"|1|"}},
      {"data: gr\xc3\xbc\xc3\x9f"
       "e \xf0\x9f\x98\x80\n\n",
       {"|gr\xc3\xbc\xc3\x9f"
        "e \xf0\x9f\x98\x80|"}},
      {"retry: 10\ndata: 1\n\n", {"|1|"}},
      {"data: {\"last\":1}", {"|{\"last\":1}|"}},
      {"data: 1\n\ndata: [DONE]", {"|1|", "|[DONE]|"}},
      {"event: e\ndata: {\"last\":1}\n", {"e|{\"last\":1}|"}},
      {"data: 1\n\ndata: {\"cut\":", {"|1|", "cut"}},
      {"data: 1\n\nevent: only a name", {"|1|"}},
      {"data: 1\n\n{\n  \"error\": {\"code\": 503}\n}", {"|1|", "stray: {\n  \"error\": {\"code\": 503}\n}"}},
      {"", {}},
      {"\n\r\r\n\n", {}},
  };
}

TEST(Sse, WholeStreams_GiveTheirEvents) {
  for (const Stream& stream : streams()) EXPECT_EQ(parsed({stream.text}), stream.events) << stream.text;
}

TEST(Sse, StreamCutAtAnyPosition_GivesTheSameEvents) {
  for (const Stream& stream : streams()) {
    const std::string_view text = stream.text;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      for (std::size_t j = i; j <= text.size(); ++j) {
        ASSERT_EQ(parsed({text.substr(0, i), text.substr(i, j - i), text.substr(j)}), stream.events)
            << stream.text << " cut at " << i << " and " << j;
      }
    }
  }
}

TEST(Sse, StreamByteByByte_GivesTheSameEvents) {
  for (const Stream& stream : streams()) {
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < stream.text.size(); ++i)
      bytes.push_back(std::string_view(stream.text).substr(i, 1));
    EXPECT_EQ(parsed(bytes), stream.events) << stream.text;
  }
}

TEST(Sse, EventWithinOneChunk_IsNotCopied) {
  const std::string chunk = "event: name\ndata: payload\n\n";
  SseParser parser;
  int count = 0;
  ASSERT_TRUE(parser.feed(chunk, [&](const SseEvent& event) {
    ++count;
    EXPECT_EQ(event.data.data(), chunk.data() + 18);
    EXPECT_EQ(event.event.data(), chunk.data() + 7);
  }));
  EXPECT_EQ(count, 1);
}

TEST(Sse, OversizedEvents_AreRefusedHoweverTheyGrow) {
  const std::string line = "data: " + std::string(60, 'x') + "\n";
  EXPECT_EQ(parsed({line + "\n"}, 100), (Events{"|" + std::string(60, 'x') + "|"}));
  EXPECT_TRUE(parsed({line + line + "\n"}, 100).back().starts_with("error"));     // many lines
  EXPECT_TRUE(parsed({line, line, "\n"}, 100).back().starts_with("error"));       // many chunks
  EXPECT_TRUE(parsed({std::string(101, 'y')}, 100).back().starts_with("error"));  // one endless line
  EXPECT_TRUE(parsed({"event: " + std::string(101, 'y') + "\n"}, 100).back().starts_with("error"));
  EXPECT_EQ(parsed({line + "\n" + line + "\n"}, 100).size(), 2u);  // the limit is for each event
}

TEST(Sse, StrayText_IsBounded) {
  SseParser parser;
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(parser.feed(std::string(2'000, 'z') + "\n", [](const SseEvent&) {}));
  EXPECT_LE(parser.stray().size(), 65'536u + 100);
}

TEST(Sse, ManyCarriageReturns_TakeLinearTime) {
  const std::string text(4 << 20, '\r');
  SseParser parser;
  EXPECT_TRUE(parser.feed(text, [](const SseEvent&) { ADD_FAILURE(); }));
}

}  // namespace
}  // namespace praxis
