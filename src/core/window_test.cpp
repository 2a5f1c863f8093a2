// Full windows: answers that one cuts off, and requests that are certainly too long.
#include <gmock/gmock.h>

#include "core/testing/talk.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

ModelResponse cut_off(std::string text) {
  return uncounted(says(std::move(text), FinishReason::kContextWindow));
}

/// A conversation with enough rounds that some can be dropped.
Talk long_talk(std::uint32_t version = kRecordVersion) {
  Talk talk(agent_with_window(0), version);
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  return talk;
}

TEST(FullWindow, TruncatedAnswer_IsRequestedAgainInAShorterConversation) {
  Talk talk = long_talk();
  const std::uint32_t step = talk.turn().step;
  talk.answer(cut_off("half of it"));
  ASSERT_TRUE(talk.state().turn) << "the turn continues";
  ASSERT_TRUE(talk.summarises());
  talk.answer(uncounted(says("Summed up.")));
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_overflow+summary"});
  EXPECT_EQ(talk.turn().step, step) << "the same step again";
  EXPECT_EQ(talk.messages().back()->role, Role::kTool) << "the truncated answer is not kept";
  talk.answer(says("all of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
  EXPECT_EQ(talk.result().text, "all of it");
  EXPECT_EQ(talk.result().full_text, "all of it");
}

TEST(FullWindow, AnswerRequestedAgain_IsTheSameStep) {
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

TEST(FullWindow, AnswerTruncatedTwice_EndsTheTurnWithItsText) {
  Talk talk = long_talk();
  talk.answer(cut_off("half of it"));
  talk.answer(uncounted(says("Summed up.")));
  talk.answer(cut_off("half again"));
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().error->code, ErrorCode::kLimit);
  EXPECT_THAT(talk.result().error->message, HasSubstr("context window"));
  EXPECT_EQ(talk.result().text, "half again");
}

TEST(FullWindow, TruncatedAnswerWithNothingToDrop_EndsTheTurnWithItsText) {
  Talk talk(agent_with_window(0));
  talk.begin("the goal");
  talk.answer(cut_off("half of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().text, "half of it");
  EXPECT_TRUE(talk.compactions().empty());
}

TEST(FullWindow, CompleteCallsOfATruncatedAnswer_AreRun) {
  Talk talk = long_talk();
  ModelResponse response = calls({tool_call("last", "read")});
  response.finish = FinishReason::kContextWindow;
  talk.answer(uncounted(response));
  EXPECT_FALSE(talk.summarises());
  EXPECT_EQ(talk.call("last").phase, CallState::Phase::kRunning);
}

TEST(FullWindow, SessionOfVersion3_EndsTheTurn) {
  Talk talk = long_talk(3);
  talk.answer(cut_off("half of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().text, "half of it");
}

// ---- requests that cannot fit

TEST(KnownWindow, RequestCertainlyTooLong_IsNotSent) {
  Talk talk;
  EXPECT_TRUE(is<Idle>(talk.begin(words(3'000))));
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().error->code, ErrorCode::kLimit);
  EXPECT_THAT(talk.result().error->message, HasSubstr("about 30"));
  EXPECT_THAT(talk.result().error->message, HasSubstr("context window of test:model is 2000"));
  EXPECT_TRUE(talk.result().model_calls.empty());
}

TEST(KnownWindow, RequestPossiblyTooLong_IsLeftToTheVendor) {
  Talk talk;
  EXPECT_TRUE(is<Wait>(talk.begin(words(2'150))));
  EXPECT_TRUE(talk.turn().effect);
}

TEST(KnownWindow, FixedOverhead_IsNotScaledToALongConversation) {
  Talk talk;
  talk.begin("hi");
  ModelResponse response = says("hello");
  response.usage.input = 1'000;
  talk.answer(response);
  ASSERT_GT(talk.state().correction, 1'800);
  EXPECT_TRUE(is<Wait>(talk.begin(words(1'500))));
  EXPECT_TRUE(talk.turn().effect);
}

TEST(KnownWindow, Files_AreNotCounted) {
  Talk talk;
  Message message = text_message(Role::kUser, "what does it say?");
  FilePart file;
  file.source.data = std::string(100'000, 'x');
  message.parts.emplace_back(std::move(file));
  talk.apply(records::TurnStarted{TurnId{"t1"}});
  talk.apply(records::MessageAppended{std::make_shared<const Message>(std::move(message))});
  EXPECT_TRUE(is<Wait>(talk.run()));
  EXPECT_TRUE(talk.turn().effect);
}

TEST(KnownWindow, OlderMessages_AreDroppedBeforeTheRequestIsRefused) {
  Talk talk;
  talk.begin(words(200));
  talk.answer(uncounted(says(words(100))));
  talk.begin("and now?");
  talk.answer(uncounted(calls({tool_call("a", "read")})));
  talk.give("a", words(2'250));
  EXPECT_TRUE(talk.state().turn) << "the request may fit without the older messages";
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_window"});
}

TEST(KnownWindow, WithoutSummaries_TheMessageLimitAppliesFirst) {
  AgentSpec agent = agent_with_window();
  agent.limits.compact_at = 0;
  agent.limits.max_messages = 8;
  Talk talk(agent);
  talk.begin("the goal");
  for (int i = 0; i < 3; ++i) talk.round(i, 600);
  talk.round(3, 600);
  EXPECT_TRUE(talk.state().turn);
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"max_messages"});
}

TEST(KnownWindow, GivesWayToTheAgentsOwnBound) {
  AgentSpec agent = agent_with_window(200'000);
  EXPECT_EQ(Talk(agent).state().context_window(), 200'000);
  agent.limits.max_context = 1'000;
  Talk talk(agent);
  EXPECT_EQ(talk.state().context_window(), 1'000);
  talk.begin("the goal");
  talk.fill();
  EXPECT_LE(talk.state().request_tokens(), 1'300) << "80 % of the bound, and a round of tools";
  agent.profile.context_window = 0;
  EXPECT_EQ(Talk(agent).state().context_window(), 1'000);
  agent.limits.max_context = 0;
  EXPECT_EQ(Talk(agent).state().context_window(), 0);
}

TEST(KnownWindow, SessionOfVersion3_IsLeftToTheVendor) {
  Talk talk(agent_with_window(), 3);
  EXPECT_TRUE(is<Wait>(talk.begin(words(3'000))));
  EXPECT_TRUE(talk.turn().effect);
}

}  // namespace
}  // namespace praxis
