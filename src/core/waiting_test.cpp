// Messages that wait: withdrawing and moving them, before the model has them and after.
#include "core/waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/testing/talk.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct WaitingFold : Fold {
  WaitingFold() : Fold(agent(), kAskModel) {}
  static AgentSpec agent() {
    AgentSpec spec;
    spec.model = "test:model";
    spec.tools = {test_tool("read", true)};
    return spec;
  }
  /// Sends a message; returns its id.
  std::string add(CommandVerb verb, std::string text) {
    command(verb, std::move(text));
    return std::to_string(verb == CommandVerb::kEnqueue ? state().queue.back().id
                                                        : state().steering.back().id);
  }
  static std::vector<std::string> texts(const std::vector<WaitingMessage>& list) {
    std::vector<std::string> all;
    for (const WaitingMessage& each : list) all.push_back(each.text);
    return all;
  }
  std::string refusal(CommandVerb verb, const std::string& text) const {
    Waiting waiting(state());
    const Status done = change_waiting(waiting, verb, text);
    EXPECT_TRUE(done || waiting.queue == state().queue) << "a refused command changed the queue";
    return done ? "" : done.error().message;
  }
};

TEST(WaitingMessages, IdIsTheNumberOfTheRecord) {
  WaitingFold fold;
  fold.begin("hi");
  const std::string id = fold.add(CommandVerb::kEnqueue, "later");
  EXPECT_EQ(id, std::to_string(fold.state().seq));
  EXPECT_EQ(fold.state().queue.front(), (WaitingMessage{fold.state().seq, CommandVerb::kEnqueue, "later"}));
}

TEST(WaitingMessages, WithdrawnSteeringNeverReachesTheModel) {
  WaitingFold fold;
  fold.begin("hi");
  const std::string id = fold.add(CommandVerb::kSteer, "in French");
  fold.command(CommandVerb::kWithdraw, id);
  EXPECT_THAT(fold.state().steering, IsEmpty());
  EXPECT_TRUE(is<Idle>(fold.answer(says("hello")))) << "the answer is the last one again";
  EXPECT_EQ(fold.result().text, "hello");
  EXPECT_EQ(fold.messages().size(), 2U);
}

TEST(WaitingMessages, WithdrawnQueuedMessageBeginsNoTurn) {
  WaitingFold fold;
  fold.begin("one");
  const std::string two = fold.add(CommandVerb::kEnqueue, "two");
  fold.add(CommandVerb::kEnqueue, "three");
  fold.command(CommandVerb::kWithdraw, two);
  EXPECT_TRUE(is<Wait>(fold.answer(says("first"))));
  EXPECT_EQ(fold.turn().prompt, "three");
  EXPECT_TRUE(is<Idle>(fold.answer(says("second"))));
}

TEST(WaitingMessages, MessageOfTheModelIsNotWithdrawn) {
  WaitingFold fold;
  fold.begin("hi");
  fold.answer(calls({tool_call("a", "read")}));
  const std::string steered = fold.add(CommandVerb::kSteer, "hurry");
  const std::string queued = fold.add(CommandVerb::kEnqueue, "then this");
  fold.give("a", "content");
  EXPECT_EQ(fold.refusal(CommandVerb::kWithdraw, steered),
            "message " + steered + " is already with the model");
  EXPECT_TRUE(fold.refuses(records::Intervened{CommandVerb::kWithdraw, steered, nullptr}));
  EXPECT_EQ(fold.refusal(CommandVerb::kWithdraw, queued), "");
  fold.answer(says("done"));
  EXPECT_EQ(fold.turn().prompt, "then this");
  EXPECT_EQ(fold.refusal(CommandVerb::kWithdraw, queued), "message " + queued + " is already with the model");
}

TEST(WaitingMessages, WhatDoesNotWaitIsRefusedWithTheReason) {
  WaitingFold fold;
  fold.begin("hi");
  const std::string id = fold.add(CommandVerb::kEnqueue, "later");
  const std::string other = fold.add(CommandVerb::kSteer, "now");
  const std::string task = fold.add(CommandVerb::kModify, "another task");
  EXPECT_THAT(fold.refusal(CommandVerb::kWithdraw, "999"), HasSubstr("message 999 does not wait"));
  for (const char* text : {"", "0", "-1", "later", "1x", "99999999999999999999999"})
    EXPECT_THAT(fold.refusal(CommandVerb::kWithdraw, text), HasSubstr("is no id of a waiting message"))
        << text;
  EXPECT_THAT(fold.refusal(CommandVerb::kWithdraw, task), HasSubstr("has changed the task"));
  EXPECT_THAT(fold.refusal(CommandVerb::kMove, id), HasSubstr("12 before 9"));
  EXPECT_THAT(fold.refusal(CommandVerb::kMove, id + " before " + other),
              HasSubstr("waits for the next step"));
  EXPECT_THAT(fold.refusal(CommandVerb::kMove, id + " before 999"), HasSubstr("message 999 does not wait"));
  EXPECT_EQ(fold.refusal(CommandVerb::kWithdraw, '#' + id), "");
  fold.command(CommandVerb::kWithdraw, id);
  EXPECT_THAT(fold.refusal(CommandVerb::kWithdraw, id), HasSubstr("was withdrawn"));
}

TEST(WaitingMessages, MovedMessageGoesBeforeTheOther) {
  WaitingFold fold;
  fold.begin("hi");
  const std::string a = fold.add(CommandVerb::kEnqueue, "a"), b = fold.add(CommandVerb::kEnqueue, "b"),
                    c = fold.add(CommandVerb::kEnqueue, "c");
  const auto order = [&](const std::string& id, const std::string& before) {
    fold.command(CommandVerb::kMove, id + " before " + before);
    return WaitingFold::texts(fold.state().queue);
  };
  EXPECT_THAT(order(c, a), ElementsAre("c", "a", "b"));
  EXPECT_THAT(order(c, b), ElementsAre("a", "c", "b"));
  EXPECT_THAT(order(a, a), ElementsAre("a", "c", "b"));
  EXPECT_THAT(order(b, c), ElementsAre("a", "b", "c"));
  EXPECT_THAT(order(c, b), ElementsAre("a", "c", "b"));
  for (const char* prompt : {"a", "c", "b"}) {
    fold.answer(says("done"));
    EXPECT_EQ(fold.turn().prompt, prompt);
  }
}

TEST(WaitingMessages, RecordsAreReadAsTheyWereWritten) {
  for (const CommandVerb verb : {CommandVerb::kWithdraw, CommandVerb::kMove, CommandVerb::kCompact}) {
    const auto back = command_verb_from(to_string(verb));
    ASSERT_TRUE(back) << to_string(verb);
    EXPECT_EQ(*back, verb);
  }
}

TEST(WaitingMessages, IdsOfDeliveredMessagesAreBounded) {
  WaitingFold fold;
  fold.begin("hi");
  for (int i = 0; i < 100; ++i) {
    fold.add(CommandVerb::kEnqueue, "again");
    fold.answer(says("done"));
  }
  EXPECT_EQ(fold.state().delivered.size(), 64U);
}

// ---- a summary that a command asks for

TEST(AskedSummary, IsMadeBeforeTheNextModelCall) {
  AgentSpec agent = agent_with_window(1'000'000);
  agent.limits.compact_at = 0;  // not by itself
  Talk talk(agent);
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  EXPECT_FALSE(talk.summarises());
  talk.command(CommandVerb::kCompact);
  EXPECT_FALSE(talk.summarises()) << "a model call is in progress";
  talk.round(6);
  ASSERT_TRUE(talk.summarises());
  talk.answer(uncounted(says("Summed up.")));
  EXPECT_THAT(talk.compactions(), ElementsAre("requested+summary"));
  EXPECT_FALSE(talk.state().compact);
  talk.round(7);
  EXPECT_FALSE(talk.summarises()) << "once";
}

TEST(AskedSummary, IsMadeWhenTheNextTurnBegins) {
  Talk talk(agent_with_window(0));
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  talk.answer(says("done"));
  EXPECT_TRUE(is<Idle>(talk.command(CommandVerb::kCompact)));
  talk.begin("go on");
  ASSERT_TRUE(talk.summarises());
  talk.answer(uncounted(says("Summed up.")));
  talk.answer(says("all of it"));
  EXPECT_EQ(talk.result().text, "all of it");
}

TEST(AskedSummary, ShortConversationIsSentAsItIs) {
  Talk talk(agent_with_window(0));
  talk.command(CommandVerb::kCompact);
  talk.begin("hi");
  EXPECT_FALSE(talk.summarises());
  EXPECT_FALSE(talk.state().compact) << "not later either";
  talk.answer(says("hello"));
  EXPECT_EQ(talk.result().text, "hello");
}

TEST(AskedSummary, FailureLeavesTheConversation) {
  Talk talk(agent_with_window(0));
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  talk.command(CommandVerb::kCompact);
  talk.round(6);
  ASSERT_TRUE(talk.summarises());
  talk.fail_model(make_error(ErrorCode::kModel, "no"));
  EXPECT_FALSE(talk.summarises());
  talk.answer(says("all of it"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
  EXPECT_THAT(talk.compactions(), IsEmpty());
}

TEST(AskedSummary, FailureLeavesTheSummaryThatTheWindowNeeds) {
  const std::vector<std::function<void(Talk&)>> failures{
      [](Talk& talk) { talk.fail_model(make_error(ErrorCode::kModel, "no")); },
      [](Talk& talk) { talk.answer(uncounted(says("cut off", FinishReason::kLength))); }};
  for (const auto& failure : failures) {
    Talk talk;
    talk.begin("the goal");
    for (int i = 0; i < 3; ++i) talk.round(i);
    talk.command(CommandVerb::kCompact);
    talk.round(3);
    ASSERT_TRUE(talk.summarises());
    failure(talk);
    talk.fill();
    ASSERT_TRUE(talk.summarises());
    talk.answer(uncounted(says("Summed up.")));
    EXPECT_THAT(talk.compactions(), ElementsAre("context_window+summary"));
  }
}

}  // namespace
}  // namespace praxis
