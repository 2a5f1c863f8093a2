#include "models/answer_json.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace praxis {
namespace {

std::string answer(int number, bool with_call) {
  JsonObject message{{"content", "answer " + std::to_string(number)}};
  if (with_call) message["tool_calls"] = JsonArray{JsonObject{{"id", "c" + std::to_string(number)}}};
  return to_json_text(JsonObject{{"id", number}, {"message", message}});
}

/// Returns how often `answers` read a text in another way than the parser, of `times` answers in two shapes.
int count_misread(AnswerShapes& answers, int times) {
  int misread = 0;
  for (int i = 0; i < times; ++i) {
    const std::string body = answer(i, i % 3 == 0);
    const Status read = answers.read(body, [&](const Json& json) -> Status {
      misread += to_json_text(json) == body ? 0 : 1;
      return {};
    });
    if (!read) ++misread;
  }
  return misread;
}

TEST(AnswerShapes, AnswersInTurn_AreReadAsSent) {
  AnswerShapes answers;
  EXPECT_EQ(count_misread(answers, 20), 0);
}

TEST(AnswerShapes, AnswersOfManyThreads_AreReadAsSent) {
  AnswerShapes answers;
  std::vector<int> misread(4);
  {
    std::vector<std::jthread> threads;
    for (int& each : misread) threads.emplace_back([&] { each = count_misread(answers, 500); });
  }
  EXPECT_EQ(misread, std::vector<int>(4));
}

TEST(AnswerShapes, AnswerReadWithinAnother_LeavesItUnchanged) {
  AnswerShapes answers;
  for (int i = 0; i < 3; ++i) {
    const Status read = answers.read(answer(i, false), [&](const Json& outer) {
      EXPECT_EQ(count_misread(answers, 5), 0);
      EXPECT_EQ(to_json_text(outer), answer(i, false));
      return Status();
    });
    EXPECT_TRUE(read);
  }
}

/// Returns how often `events` reads an event in another way than the parser: a stream of runs of one shape.
int count_misread(EventJson& events, int runs) {
  int misread = 0;
  for (int run = 0; run < runs; ++run) {
    for (int i = 0; i < 1 + run % 9; ++i) {
      const std::string event = run % 2 == 0
                                    ? R"({"text":")" + std::string(1, static_cast<char>('a' + i)) + "\"}"
                                    : R"({"n":)" + std::to_string(i) + R"(,"text":"x"})";
      const auto read = events.parse(event);
      if (!read || to_json_text(**read) != event) ++misread;
    }
  }
  return misread;
}

TEST(EventJson, RunsOfEvents_AreReadAsSent) {
  const auto shapes = std::make_shared<AnswerShapes>();
  EventJson alone, one(shapes), other(shapes);
  EXPECT_EQ(count_misread(alone, 40), 0);
  EXPECT_EQ(count_misread(one, 40), 0);
  EXPECT_EQ(count_misread(other, 40), 0);
}

TEST(EventJson, StreamsAtOnce_DoNotMixTheirEvents) {
  const auto shapes = std::make_shared<AnswerShapes>();
  EventJson one(shapes), other(shapes);
  for (int i = 0; i < 30; ++i) {
    const std::string event = R"({"text":")" + std::to_string(i) + "\"}", foreign = R"({"text":"other"})";
    const auto read = one.parse(event);
    ASSERT_TRUE(read);
    const auto within = other.parse(foreign);  // while the first event is still being read
    ASSERT_TRUE(within);
    EXPECT_EQ(to_json_text(**read), event);
    EXPECT_EQ(to_json_text(**within), foreign);
  }
}

TEST(EventJson, LongRun_SaysThatOnlyTheTextChanged) {
  EventJson events(std::make_shared<AnswerShapes>());
  bool only_text = false;
  for (const char* text : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    const auto read = events.parse(R"({"id":"r","text":")" + std::string(text) + "\"}");
    ASSERT_TRUE(read);
    const std::vector<const Json*> values{&json_at(**read, "text")};
    only_text = events.changed_only(values);
  }
  EXPECT_TRUE(only_text);
  ASSERT_TRUE(events.parse(R"({"done":true})"));
  const auto after = events.parse(R"({"id":"r","text":"h"})");
  ASSERT_TRUE(after);
  const std::vector<const Json*> values{&json_at(**after, "text")};
  EXPECT_FALSE(events.changed_only(values)) << "another event came between";
}

TEST(AnswerShapes, BrokenText_IsRepairedOrRefused) {
  AnswerShapes answers;
  const auto read = [&](std::string_view body) -> std::string {
    std::string text;
    const Status status = answers.read(body, [&](const Json& json) {
      text = json_string(json, "a");
      return Status();
    });
    return status ? text : std::string(json_text(status.error().detail(), "kind"));
  };
  EXPECT_EQ(read(R"({"a":"\ud83d"})"), "\xEF\xBF\xBD");
  EXPECT_EQ(read(R"({"a":"b)"), "truncated_stream");
  EXPECT_EQ(read("<html>"), "protocol");
  EXPECT_EQ(read(R"({"a":"c"})"), "c");
  EXPECT_EQ(read(R"({"a":")" + std::string(100'000, 'x') + R"("})"), std::string(100'000, 'x'));
}

TEST(AnswerShapes, ErrorOfTheReader_IsReturned) {
  AnswerShapes answers;
  const Status read =
      answers.read("{}", [](const Json&) { return Status(fail(ErrorCode::kModel, "no answer")); });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "no answer");
}

}  // namespace
}  // namespace praxis
