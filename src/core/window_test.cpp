// Windows that are full: answers that one cuts off.
#include <gmock/gmock.h>

#include "core/testing/talk.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

ModelResponse cut_off(std::string text) {
  return uncounted(says(std::move(text), FinishReason::kContextWindow));
}

/// Rounds enough to leave something out.
Talk long_talk(std::uint32_t version = kRecordVersion) {
  Talk talk(agent_with_window(0), version);
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  return talk;
}

TEST(FullWindow, AnswerThatItCutsOff_IsGivenAgainInAShorterConversation) {
  Talk talk = long_talk();
  const std::uint32_t step = talk.turn().step;
  talk.answer(cut_off("half of it"));
  ASSERT_TRUE(talk.state().turn) << "the turn goes on";
  ASSERT_TRUE(talk.summarises());
  talk.answer(uncounted(says("Summed up.")));
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_overflow+summary"});
  EXPECT_EQ(talk.turn().step, step) << "the same step, once more";
  EXPECT_EQ(talk.messages().back()->role, Role::kTool) << "nothing of what was cut off stays";
  talk.answer(says("all of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
  EXPECT_EQ(talk.result().text, "all of it");
  EXPECT_EQ(talk.result().full_text, "all of it");
}

TEST(FullWindow, AnswerThatIsGivenAgain_IsNoFurtherStep) {
  AgentSpec agent = agent_with_window(0);
  agent.limits.max_steps = 7;
  Talk talk(agent);
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  ASSERT_EQ(talk.turn().step, 7U);
  talk.answer(cut_off("half of it"));
  talk.answer(uncounted(says("Summed up.")));
  talk.answer(says("all of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
}

TEST(FullWindow, AnswerThatItCutsOffTwice_EndsTheTurnWithWhatThereIs) {
  Talk talk = long_talk();
  talk.answer(cut_off("half of it"));
  talk.answer(uncounted(says("Summed up.")));
  talk.answer(cut_off("half again"));
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().error->code, ErrorCode::kLimit);
  EXPECT_THAT(talk.result().error->message, HasSubstr("context window"));
  EXPECT_EQ(talk.result().text, "half again");
}

TEST(FullWindow, WithNothingToLeaveOut_EndsTheTurnWithWhatThereIs) {
  Talk talk(agent_with_window(0));
  talk.begin("the goal");
  talk.answer(cut_off("half of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().text, "half of it");
  EXPECT_TRUE(talk.compactions().empty());
}

TEST(FullWindow, CallsThatCameThrough_AreRun) {
  Talk talk = long_talk();
  ModelResponse response = calls({tool_call("last", "read")});
  response.finish = FinishReason::kContextWindow;
  talk.answer(uncounted(response));
  EXPECT_FALSE(talk.summarises());
  EXPECT_EQ(talk.call("last").phase, CallState::Phase::kRunning);
}

TEST(FullWindow, InASessionOfVersion3_EndsTheTurnAsItDidThen) {
  Talk talk = long_talk(3);
  talk.answer(cut_off("half of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().text, "half of it");
}

}  // namespace
}  // namespace praxis
