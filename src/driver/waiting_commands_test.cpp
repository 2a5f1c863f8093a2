// Commands on messages that wait, as requests: checked together, recorded together, safe against the model's
// taking of a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/command_records.hpp"
#include "driver/testing/rig.hpp"

namespace praxis::driver {
namespace {

using ::testing::HasSubstr;

/// Gives a request as a caller does; returns why it is refused.
std::string request(Rig& rig, const Commands& commands) {
  auto records = request_records(rig.driver->state(), commands, false);
  if (!records) return records.error().message;
  RecordsGiven given;
  given.records = *std::move(records);
  rig.feed(std::move(given));
  return rig.driver->failure() ? rig.driver->failure()->message : "";
}

Command of(CommandVerb verb, std::string text) {
  return {verb, SessionId{}, std::move(text), Author{"anna", Surface::kCli}};
}

TEST(WaitingCommands, CommandsOfOneRequestSeeWhatThoseBeforeLeave) {
  Rig rig;
  rig.ask();
  EXPECT_EQ(request(rig, {of(CommandVerb::kEnqueue, "a"), of(CommandVerb::kEnqueue, "b")}), "");
  const std::string a = std::to_string(rig.driver->state().queue[0].id);
  const std::string b = std::to_string(rig.driver->state().queue[1].id);
  EXPECT_THAT(request(rig, {of(CommandVerb::kWithdraw, a), of(CommandVerb::kWithdraw, a)}),
              HasSubstr("does not wait"));
  EXPECT_EQ(rig.driver->state().queue.size(), 2U) << "all or none";
  EXPECT_EQ(request(rig, {of(CommandVerb::kMove, b + " before " + a), of(CommandVerb::kWithdraw, a)}), "");
  ASSERT_EQ(rig.driver->state().queue.size(), 1U);
  EXPECT_EQ(rig.driver->state().queue.front().text, "b");
}

TEST(WaitingCommands, AuthorIsRecorded) {
  Rig rig;
  rig.ask();
  request(rig, {of(CommandVerb::kEnqueue, "a")});
  const std::string a = std::to_string(rig.driver->state().queue[0].id);
  const auto records = request_records(rig.driver->state(), Commands{of(CommandVerb::kWithdraw, a)}, false);
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(records->size(), 1U);
  const auto& command = std::get<records::Intervened>(records->front());
  EXPECT_EQ(command.verb, CommandVerb::kWithdraw);
  EXPECT_EQ(command.text, a);
  EXPECT_EQ(command.author, (Author{"anna", Surface::kCli}));
}

TEST(WaitingCommands, MessageThatTheModelHasIsRefused) {
  Rig rig;
  rig.ask();
  request(rig, {of(CommandVerb::kSteer, "in French")});
  const std::string id = std::to_string(rig.driver->state().steering[0].id);
  rig.answer(says("hello"));  // the message goes to the model instead of ending the turn
  ASSERT_NE(rig.find<StartModel>(), nullptr);
  EXPECT_EQ(request(rig, {of(CommandVerb::kAnnotate, "note"), of(CommandVerb::kWithdraw, id)}),
            "message " + id + " is already with the model");
  EXPECT_EQ(rig.driver->state().comment, "") << "all or none";
  EXPECT_FALSE(rig.driver->failure());
}

TEST(WaitingCommands, TurnThatOnlyWaitedForTheMessageEnds) {
  Rig rig;
  rig.ask();
  request(rig, {of(CommandVerb::kSteer, "hurry")});
  const std::string id = std::to_string(rig.driver->state().steering[0].id);
  EXPECT_EQ(request(rig, {of(CommandVerb::kWithdraw, id)}), "");
  rig.answer(says("hello"));
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.text, "hello");
  EXPECT_THAT(request(rig, {of(CommandVerb::kWithdraw, id)}), HasSubstr("was withdrawn"));
}

TEST(WaitingCommands, MessagesThatChangeTheTaskKeepTheirOrder) {
  Rig rig;
  rig.ask();
  request(rig, {of(CommandVerb::kModify, "first"), of(CommandVerb::kSteer, "softly"),
                of(CommandVerb::kModify, "second")});
  const auto id = [&](std::size_t at) { return std::to_string(rig.driver->state().steering[at].id); };
  EXPECT_THAT(request(rig, {of(CommandVerb::kMove, id(2) + " before " + id(0))}),
              HasSubstr("keep their order"));
  EXPECT_EQ(request(rig, {of(CommandVerb::kMove, id(1) + " before " + id(0))}), "");
  EXPECT_EQ(rig.driver->state().steering.front().text, "softly");
}

/// A session with a queued message, before whose turn hooks are asked, and a reader that waits for the turn.
Rig asking_before_the_turn() {
  Setup setup = Rig::setup_of(echoing());
  setup.hooks.turn = true;
  Rig rig;
  State state = rig.driver->state();
  rig.driver.emplace(setup, std::move(state));
  request(rig, {of(CommandVerb::kEnqueue, "a")});
  ResumeRequested resumed;
  resumed.reader = {1, false};
  rig.feed(std::move(resumed));
  return rig;
}

TEST(WaitingCommands, ReaderIsToldThatTheMessageOfItsTurnWasTakenBack) {
  Rig rig = asking_before_the_turn();
  const std::string a = std::to_string(rig.driver->state().queue[0].id);
  EXPECT_EQ(request(rig, {of(CommandVerb::kWithdraw, a)}), "");
  rig.feed(HooksAnswered{rig.driver->place(), TurnAdvice{}});
  const auto* const told = rig.find<FinishReaders>();
  ASSERT_NE(told, nullptr);
  EXPECT_THAT(told->result.error().message, HasSubstr("has no turn to resume"));
  EXPECT_FALSE(rig.driver->works());
}

TEST(WaitingCommands, HooksAreAskedAgainWhenAnotherMessageComesToTheFront) {
  Rig rig = asking_before_the_turn();
  const std::string a = std::to_string(rig.driver->state().queue[0].id);
  EXPECT_EQ(request(rig, {of(CommandVerb::kEnqueue, "b"), of(CommandVerb::kWithdraw, a)}), "");
  rig.feed(HooksAnswered{rig.driver->place(), TurnAdvice{}});
  EXPECT_NE(rig.find<AskHooks>(), nullptr);
  EXPECT_FALSE(rig.driver->state().turn);
  rig.feed(HooksAnswered{rig.driver->place(), TurnAdvice{}});
  EXPECT_TRUE(rig.driver->state().turn);
}

TEST(WaitingCommands, AgentWithoutAModelIsNotCompacted) {
  State state;
  state.id = SessionId{"s1"};
  state.agent = std::make_shared<const AgentSpec>();
  const auto records = request_records(state, Commands{of(CommandVerb::kCompact, "")}, false);
  ASSERT_FALSE(records);
  EXPECT_THAT(records.error().message, HasSubstr("cannot be compacted"));
}

}  // namespace
}  // namespace praxis::driver
