// What of the pieces of another process is new.
#include "server/remote_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/base/utf8.hpp"
#include "server/event_redactor.hpp"
#include "server/relay_outbox.hpp"

namespace praxis::server {
namespace {

using Taken = RemoteAnswers::Taken;

RemotePiece text_piece(std::string text, std::uint64_t at, std::uint64_t seq = 3, std::uint32_t attempt = 1) {
  Event event;
  event.agent.id = SessionId("s1");
  event.seq = seq;
  event.attempt = attempt;
  event.body = events::TextDelta{std::move(text), 0};
  return {std::move(event), at};
}

class RemoteAnswersTest : public ::testing::Test {
 protected:
  RemoteAnswersTest() { answers_.note_record(SessionId("s1"), 3); }
  /// What is new of the text; "-" if nothing, "?" if pieces are missing.
  std::string taken(RemotePiece piece) {
    switch (answers_.take(piece)) {
      case Taken::kNew:
        return *delta_text(piece.event);
      case Taken::kGap:
        return "?";
      default:
        return "-";
    }
  }
  RemoteAnswers answers_;
};

TEST_F(RemoteAnswersTest, PieceThatIsKnownIsCutOff) {
  EXPECT_EQ(taken(text_piece("Hello ", 0)), "Hello ");
  EXPECT_EQ(taken(text_piece("Hello there", 0)), "there") << "the answer from its beginning";
  EXPECT_EQ(taken(text_piece("there", 6)), "-");
  EXPECT_EQ(taken(text_piece(".", 11)), ".");
}

TEST_F(RemoteAnswersTest, PieceAfterALostOneIsAGapUntilTheAnswerComesFromItsBeginning) {
  EXPECT_EQ(taken(text_piece("Hello ", 0)), "Hello ");
  EXPECT_EQ(taken(text_piece("!", 11)), "?");
  EXPECT_EQ(taken(text_piece("Hello there!", 0)), "there!");
}

TEST_F(RemoteAnswersTest, PieceOfAnEarlierAttemptOrBeforeARecordIsOld) {
  EXPECT_EQ(taken(text_piece("a", 0, 3, 2)), "a");
  EXPECT_EQ(taken(text_piece("b", 0, 3, 1)), "-");
  answers_.note_record(SessionId("s1"), 4);
  EXPECT_EQ(taken(text_piece("c", 1, 3, 2)), "-");
  EXPECT_EQ(taken(text_piece("d", 0, 4)), "d");
}

TEST_F(RemoteAnswersTest, SessionWithoutAKnownRecordIsAskedFor) {
  RemotePiece piece = text_piece("a", 0);
  EXPECT_EQ(RemoteAnswers().take(piece), Taken::kAsk);
}

TEST(RelayTexts, LongPiecesAreCutBetweenCharactersAndComeBackWhole) {
  RelayOutbox outbox([] {});
  std::string whole;
  for (int i = 0; i < 3000; ++i) whole += i % 7 == 0 ? "\x01" : "\u00e4";
  for (std::size_t at = 0; at < whole.size();) {
    const std::string part(utf8_head(std::string_view(whole).substr(at), 1000));
    ASSERT_TRUE(outbox.push("reader", text_piece(part, at)));
    at += part.size();
  }
  auto waiting = outbox.take();
  ASSERT_EQ(waiting["reader"].pieces[SessionId("s1")].size(), 1U) << "joined";
  RemoteAnswers answers;
  answers.note_record(SessionId("s1"), 3);
  std::string back;
  for (const std::string& text : relay_texts("me", std::move(waiting["reader"]), 900)) {
    EXPECT_LE(text.size(), 900U);
    for (RemotePiece& piece : relayed_pieces(parse_json(text).value())) {
      EXPECT_EQ(answers.take(piece), Taken::kNew);
      back += *delta_text(piece.event);
    }
  }
  EXPECT_EQ(back, whole);
}

TEST(RelayTexts, ReaderThatIsTooSlowLosesPieces) {
  RelayOutbox outbox([] {});
  const std::string half(600 * 1024, 'x');
  EXPECT_TRUE(outbox.push("reader", text_piece(half, 0)));
  EXPECT_FALSE(outbox.push("reader", text_piece(half, half.size())));
  EXPECT_TRUE(outbox.push("another", text_piece(half, 0)));
}

TEST(RelayTexts, PiecesKeepWhatReadersNeed) {
  RelayOutbox outbox([] {});
  Event call = text_piece("", 0).event;
  call.turn = TurnId("t2");
  call.agent.depth = 1;
  call.agent.parent = SessionId("s0");
  for (EventBody body : {EventBody(events::ToolCallDelta{"kv", "{\"a\":", CallId("c1"), 2}),
                         EventBody(events::ReasoningDelta{"hm", true, 1})}) {
    call.body = std::move(body);
    ASSERT_TRUE(outbox.push("reader", {call}));
    const auto texts = relay_texts("me", std::move(outbox.take()["reader"]), 5000);
    ASSERT_EQ(texts.size(), 1U);
    const auto pieces = relayed_pieces(parse_json(texts.front()).value());
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(to_json(pieces.front().event), to_json(call));
  }
}

}  // namespace
}  // namespace praxis::server
