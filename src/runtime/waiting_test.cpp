// Messages that wait: withdrawn and moved by handles, from other processes, and in logs of idle sessions.
#include <gmock/gmock.h>

#include "praxis/core/state.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WaitingTest : public SharedTrees {
 protected:
  static std::vector<std::string> texts(const std::vector<WaitingMessage>& list) {
    std::vector<std::string> all;
    for (const WaitingMessage& each : list) all.push_back(each.text);
    return all;
  }
  std::string from_elsewhere(Commands commands) {
    const auto answer = deliver(*elsewhere_, other_->environment(), std::move(commands), 20s);
    if (!answer) return answer.error().message;
    const auto* refused = std::get_if<Refused>(&*answer);
    return refused == nullptr ? "" : refused->reason;
  }
};

TEST_F(WaitingTest, HandleWithdrawsAndMovesWhatTheModelHasNotGot) {
  BlockedTool slow;
  Session session = start(stuck(slow));
  auto run = session.send_user_message("go");
  slow.entered->wait();
  session.steer("hurry");
  for (const char* text : {"one", "two", "three"}) session.enqueue(text);
  const auto waiting = session.waiting();
  ASSERT_THAT(texts(waiting), ElementsAre("hurry", "one", "two", "three"));
  ASSERT_TRUE(session.move(waiting[3].id, waiting[1].id));
  ASSERT_TRUE(session.withdraw(waiting[2].id));
  EXPECT_THAT(texts(session.waiting()), ElementsAre("hurry", "three", "one"));
  EXPECT_THAT(texts(tree().front().waiting), ElementsAre("hurry", "three", "one"));
  const SessionId id = session.session_id();
  EXPECT_EQ(from_elsewhere({{CommandVerb::kWithdraw, id, std::to_string(waiting[3].id)}}), "");
  EXPECT_THAT(texts(session.waiting()), ElementsAre("hurry", "one"));
  EXPECT_THAT(from_elsewhere({{CommandVerb::kWithdraw, id, std::to_string(waiting[3].id)}}),
              HasSubstr("was withdrawn"));
  EXPECT_EQ(from_elsewhere({{CommandVerb::kWithdraw, id, std::to_string(waiting[1].id)}}), "");
  slow.release->open();
  ASSERT_TRUE(run.report());
  const Status late = session.withdraw(waiting[0].id);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kInput);
  EXPECT_THAT(late.error().message, HasSubstr("is already with the model"));
  EXPECT_EQ(session.queued(), 0U);
  EXPECT_EQ(recorded(id, CommandVerb::kWithdraw).size(), 3U);
}

TEST_F(WaitingTest, LogOfAnIdleSessionIsChangedToo) {
  SessionId id;
  {
    Session session = start(speaker());
    ASSERT_TRUE(session.ask("go"));
    id = session.session_id();
    ASSERT_TRUE(session.close());
  }
  ASSERT_EQ(from_elsewhere({{CommandVerb::kEnqueue, id, "one"}, {CommandVerb::kEnqueue, id, "two"}}), "");
  const auto queue = fold(*read_records(*journal_, id))->queue;
  ASSERT_THAT(texts(queue), ElementsAre("one", "two"));
  const std::string one = std::to_string(queue[0].id), two = std::to_string(queue[1].id);
  EXPECT_EQ(from_elsewhere({{CommandVerb::kMove, id, two + " before " + one}}), "");
  EXPECT_THAT(texts(fold(*read_records(*journal_, id))->queue), ElementsAre("two", "one"));
  EXPECT_EQ(from_elsewhere({{CommandVerb::kWithdraw, id, one}, {CommandVerb::kWithdraw, id, two}}), "");
  EXPECT_THAT(fold(*read_records(*journal_, id))->queue, IsEmpty());
  const auto report = replay(*read_records(*journal_, id));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->divergence);
}

/// Threads withdraw what the turns of others take: each message is either withdrawn or answered.
TEST_F(WaitingTest, MessageIsWithdrawnOrAnsweredAndNeverBoth) {
  constexpr int kMessages = 20;
  std::string script = R"({"text":"begun"})";
  for (int i = 0; i < kMessages; ++i) script += "\n{\"text\":\"answered\"}";
  Session session = session_of(scripted(script));
  ASSERT_TRUE(session.ask("go"));
  for (int i = 0; i < kMessages; ++i) session.enqueue("message " + std::to_string(i));
  std::size_t withdrawn = 0;
  for (auto waiting = session.waiting(); !waiting.empty(); waiting = session.waiting()) {
    if (session.withdraw(waiting.back().id)) ++withdrawn;
  }
  ASSERT_TRUE(eventually([&] { return session.status() == SessionStatus::kCompleted; }));
  std::size_t answered = 0;
  for (const TurnView& turn : session.turns())
    answered += turn.message->text().starts_with("message ") ? 1 : 0;
  EXPECT_EQ(withdrawn + answered, static_cast<std::size_t>(kMessages));
}

}  // namespace
}  // namespace praxis::testing
