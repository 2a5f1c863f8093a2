#include "cli/answer_pieces.hpp"

#include <gtest/gtest.h>

namespace praxis::cli {
namespace {

Json event(const char* name, const char* text, const char* session = "r") {
  return JsonObject{{"event", name}, {"session", session}, {"depth", 0},  {"seq", 4},
                    {"turn", "t1"},  {"step", 1},          {"text", text}};
}

/// What a terminal has after these events: the text, with `|` where an answer was given up.
std::string shown(const std::vector<Json>& events) {
  std::string text;
  for (const Json& each : events) {
    if (json_text(each, "event") == "text.delta") text += json_string(each, "text");
    if (json_text(each, "event") == "attempt.superseded") text += '|';
  }
  return text;
}

TEST(AnswerPieces, PiecesOfOneConnectionAreUnchanged) {
  AnswerPieces pieces("r");
  EXPECT_EQ(pieces.take(event("text.delta", "Hel")), std::vector{event("text.delta", "Hel")});
  EXPECT_EQ(pieces.take(event("text.delta", "Hel")), std::vector{event("text.delta", "Hel")})
      << "the same text twice in an answer is not a repetition";
  EXPECT_EQ(shown(pieces.take(event("assistant.text", "HelHel"))), "");
}

TEST(AnswerPieces, FirstPieceOfAnotherConnectionHasOnlyWhatIsNew) {
  AnswerPieces pieces;
  pieces.take(event("text.delta", "Hel"));
  pieces.take(event("text.delta", "Der", "child"));
  pieces.reconnected();
  EXPECT_EQ(shown(pieces.take(event("text.delta", "Hello"))), "lo");
  EXPECT_EQ(shown(pieces.take(event("text.delta", " there"))), " there");
  EXPECT_TRUE(pieces.take(event("text.delta", "Der", "child")).empty()) << "nothing of it is new";
}

TEST(AnswerPieces, AnswerThatWasBegunAnewIsShownWhole) {
  AnswerPieces pieces;
  pieces.take(event("text.delta", "Hel"));
  pieces.reconnected();
  pieces.take(event("attempt.superseded", ""));
  EXPECT_EQ(shown(pieces.take(event("text.delta", "Hi"))), "Hi");
}

TEST(AnswerPieces, PiecesThatTheServerLeftOutSupersedeThoseBefore) {
  AnswerPieces pieces;
  pieces.take(event("text.delta", "Hel"));
  pieces.reconnected();
  const auto events = pieces.take(event("text.delta", "Good day"));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(json_text(events[0], "event"), "attempt.superseded");
  EXPECT_EQ(json_at(events[0], "text"), Json(nullptr));
  EXPECT_EQ(shown(events), "|Good day");
}

TEST(AnswerPieces, PieceThatFollowsItsAnswerIsLeftOut) {
  AnswerPieces pieces;
  Json answered = event("assistant.text", "Hello");
  answered.get_object()["seq"] = 5;
  pieces.take(answered);
  EXPECT_TRUE(pieces.take(event("text.delta", "Hello")).empty());
  EXPECT_EQ(shown(pieces.take(event("text.delta", "Hello", "child"))), "Hello");
}

TEST(AnswerPieces, TextThatWasWrittenWithoutAConnectionIsShownOnce) {
  AnswerPieces pieces("r");
  pieces.take(event("text.delta", "Hel"));
  pieces.reconnected();
  EXPECT_EQ(shown(pieces.take(event("assistant.text", "Hello"))), "lo");
  EXPECT_EQ(shown(pieces.take(event("assistant.text", "And more"))), "And more");
  pieces.take(event("model.responded", ""));
  EXPECT_EQ(shown(pieces.take(event("assistant.text", "Next"))), "Next");
  EXPECT_EQ(shown(pieces.take(event("assistant.text", "Below", "child"))), "") << "only the answer is shown";
}

}  // namespace
}  // namespace praxis::cli
