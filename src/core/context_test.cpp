// Conversations that outgrow their model: when a summary is made, what it replaces, what stays, and the
// outcome if nothing helps. Also the causes and costs of a broken prefix.
#include "core/context.hpp"

#include <gmock/gmock.h>

#include "core/testing/talk.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

std::int64_t estimated(const Talk& talk) {
  return talk.state().conversation.history().estimated_tokens() + talk.state().overhead_tokens;
}

TEST(Compaction, NearTheWindow_OlderMessagesAreSummarisedByTheModel) {
  Talk talk;
  talk.begin("the goal");
  talk.fill();
  const std::uint32_t step = talk.turn().step;
  EXPECT_EQ(talk.turn().effect->summary->cause, "context_window");
  const auto question = question_of(talk.state(), talk.last_intent());
  EXPECT_THAT(question.history.messages().back()->text(), HasSubstr("summary"));
  EXPECT_EQ(question.options.tool_choice, "none");
  const std::size_t before = talk.messages().size();

  talk.answer(uncounted(says("All the words were read.")));
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_window+summary"});
  EXPECT_LT(talk.messages().size(), before);
  EXPECT_EQ(talk.messages()[0]->text(), "the goal");
  EXPECT_THAT(std::get<CompactionPart>(talk.messages()[1]->parts.at(0)).summary,
              HasSubstr("All the words were read."));
  EXPECT_EQ(talk.messages()[2]->role, Role::kAssistant) << "the cut separates no call from its result";
  EXPECT_EQ(talk.turn().step, step + 1) << "only the call after the summary counts as a step";
  EXPECT_FALSE(talk.summarises());
  talk.answer(says("done"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
  EXPECT_EQ(talk.result().text, "done");
  const auto summaries = std::ranges::count(talk.result().model_calls, "summary", &ModelCall::purpose);
  EXPECT_EQ(summaries, 1);
}

TEST(Compaction, UserMessages_StayAsFarAsTheyFit) {
  Talk talk;
  talk.begin("the goal");
  talk.answer(uncounted(says("yes")));
  talk.begin("never touch main.cpp");
  talk.answer(uncounted(says("fine")));
  talk.begin(words(300));
  talk.answer(uncounted(says("read")));
  talk.begin("go on");
  talk.fill();
  talk.answer(uncounted(says("Summed up.")));
  std::vector<std::string> kept;
  for (const MessagePtr& message : talk.messages()) {
    if (message->role == Role::kUser && !message->text().empty()) kept.push_back(message->text());
  }
  EXPECT_EQ(kept, (std::vector<std::string>{"the goal", "never touch main.cpp", "go on"}));
}

TEST(Compaction, LaterSummary_ReplacesTheEarlier) {
  Talk talk;
  talk.begin("the goal");
  for (int i = 0; i < 3; ++i) {
    talk.fill();
    talk.answer(uncounted(says("Summary " + std::to_string(i))));
  }
  EXPECT_EQ(talk.compactions().size(), 3U);
  std::string summaries;
  for (const MessagePtr& message : talk.messages()) {
    for (const Part& part : message->parts) {
      if (const auto* compaction = std::get_if<CompactionPart>(&part)) summaries += compaction->summary;
    }
  }
  EXPECT_EQ(summaries, std::get<CompactionPart>(summary_message("Summary 2").parts.at(0)).summary);
}

TEST(Compaction, TokensCountedByTheVendor_DecideWhenToSummarise) {
  // The vendor counts three times as many tokens as the estimate.
  Talk talk(agent_with_window(10 * kWindow));
  talk.begin("the goal");
  for (int i = 0; i < 3; ++i) {
    ModelResponse response = calls({tool_call("c" + std::to_string(i), "read")});
    response.usage.input = 3 * estimated(talk);
    talk.answer(response);
    talk.give("c" + std::to_string(i), words(2'000));
  }
  EXPECT_GT(talk.state().correction, 2'500);
  talk.answer(uncounted(calls({tool_call("last", "read")})));
  talk.give("last", words(2'000));
  EXPECT_LT(estimated(talk), 10 * kWindow * 80 / 100);
  EXPECT_TRUE(talk.summarises());
}

TEST(Correction, FixedOverhead_IsNotScaledToALongConversation) {
  const auto learned = [](std::uint32_t version) {
    Talk talk(agent_with_window(), version);
    talk.begin("hi");
    ModelResponse response = says("hello");
    response.usage.input = estimated(talk) + 400;
    talk.answer(response);
    return talk.state().correction;
  };
  EXPECT_LT(learned(kRecordVersion), 1'500);
  EXPECT_EQ(learned(3), 4'000) << "as in logs of version 3";
}

TEST(Correction, CorrectionOfAnotherModel_IsDropped) {
  Talk talk;
  talk.begin("hi");
  ModelResponse response = says("hello");
  response.usage.input = 2'000;
  talk.answer(response);
  const std::int64_t learned = talk.state().correction;
  ASSERT_GT(learned, 1'500);
  AgentSpec agent = *talk.state().agent;
  agent.instructions = "Be brief!";
  talk.apply(records::Intervened{CommandVerb::kSetAgent, "", std::make_shared<const AgentSpec>(agent)});
  EXPECT_EQ(talk.state().correction, learned) << "the model is unchanged";
  agent.model = "test:other";
  talk.apply(records::Intervened{CommandVerb::kSetAgent, "", std::make_shared<const AgentSpec>(agent)});
  EXPECT_EQ(talk.state().correction, 1'000);
}

TEST(Correction, FirstCorrection_IsThatOfTheModelProfile) {
  const auto tokens = [](const AgentSpec& agent) {
    Talk talk(agent);
    talk.begin(words(1'000));
    return talk.state().request_tokens();
  };
  AgentSpec agent = agent_with_window(10 * kWindow);
  const std::int64_t plain = tokens(agent);
  agent.profile.counting = {.percent = 100, .tool_tokens = 500};
  EXPECT_EQ(tokens(agent), plain + 500);
  agent.profile.counting = {.percent = 130, .tool_tokens = 650};
  EXPECT_EQ(tokens(agent), (plain + 500) * 13 / 10) << "the vendor's tokens, not the estimator's";
  agent.tools.clear();
  EXPECT_LT(tokens(agent), plain * 13 / 10);
}

TEST(Correction, ExpectedCount_ChangesNothing) {
  AgentSpec agent = agent_with_window(10 * kWindow);
  agent.profile.counting = {.percent = 130, .tool_tokens = 650};
  Talk talk(agent);
  talk.begin("hi");
  EXPECT_EQ(talk.state().correction, 1'300);
  ModelResponse response = says("hello");
  response.usage.input = talk.state().request_tokens();
  talk.answer(response);
  EXPECT_NEAR(static_cast<double>(talk.state().correction), 1'300, 2);
}

TEST(Correction, SessionOfVersion3_StartsWithoutTheProfile) {
  AgentSpec agent = agent_with_window();
  agent.profile.counting.percent = 130;
  Talk talk(agent, 3);
  talk.begin("hi");
  EXPECT_EQ(talk.state().correction, 1'000);
}

TEST(Compaction, DisabledCompaction_SummarisesNothing) {
  AgentSpec agent = agent_with_window();
  agent.limits.compact_at = 0;
  Talk talk(agent);
  talk.begin("the goal");
  for (int i = 0; i < 9; ++i) talk.round(i);
  EXPECT_GT(talk.state().request_tokens(), kWindow * 90 / 100);
  EXPECT_TRUE(talk.compactions().empty());
  talk.fail_model(overflow());
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
}

TEST(Compaction, VendorThatCompactsItself_GetsNoSummary) {
  AgentSpec agent = agent_with_window();
  agent.profile.compacts = true;
  Talk talk(agent);
  talk.begin("the goal");
  for (int i = 0; i < 20; ++i) talk.round(i);
  EXPECT_FALSE(talk.summarises());
  ModelResponse response = calls({tool_call("x", "read")});
  response.parts.insert(response.parts.begin(),
                        CompactionPart{"", std::make_shared<const VendorState>(VendorState{"v", "m", "{}"})});
  talk.answer(response);
  ASSERT_EQ(talk.messages().size(), 2U);
  EXPECT_EQ(talk.messages()[0]->text(), "the goal");
  talk.give("x", "done");
  EXPECT_EQ(talk.state().prefix_break->cause, "compaction");
}

TEST(Compaction, FailedOrUselessSummary_FallsBackToDroppingMessages) {
  const std::vector<std::function<void(Talk&)>> failures{
      [](Talk& talk) { talk.fail_model(make_error(ErrorCode::kModel, "no")); },
      [](Talk& talk) { talk.answer(uncounted(says(words(5'000)))); },
      [](Talk& talk) { talk.answer(uncounted(says("cut off", FinishReason::kLength))); },
      [](Talk& talk) { talk.answer(uncounted(calls({tool_call("s", "read")}))); },
      [](Talk& talk) { talk.answer(uncounted(says({}))); }};
  for (const auto& failure : failures) {
    Talk talk;
    talk.begin("the goal");
    talk.fill();
    failure(talk);
    EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_window"});
    EXPECT_FALSE(talk.summarises());
    EXPECT_EQ(talk.messages()[0]->text(), "the goal");
    talk.answer(says("done"));
    EXPECT_EQ(talk.result().reason, StopReason::kFinished);
  }
}

TEST(Compaction, Summary_IsRetriedAndRecoveredLikeAnyModelCall) {
  Talk talk;
  talk.begin("the goal");
  talk.fill();
  talk.fail_model(make_error(ErrorCode::kModel, "busy", true));
  ASSERT_TRUE(talk.summarises());
  EXPECT_EQ(talk.last_intent().attempt, 2U);
  talk.recover();
  EXPECT_EQ(talk.last_intent().attempt, 3U);
  ASSERT_TRUE(talk.last_intent().summary);
  talk.answer(uncounted(says("Summed up.")));
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_window+summary"});
}

TEST(Overflow, ConversationThatOverflows_IsCompactedThenRetriedOnce) {
  Talk talk(agent_with_window(0));
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  const std::uint32_t step = talk.turn().step;
  talk.fail_model(overflow());
  ASSERT_TRUE(talk.summarises());
  talk.answer(uncounted(says("Summed up.")));
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_overflow+summary"});
  EXPECT_EQ(talk.turn().step, step) << "the same step again";
  talk.fail_model(overflow());
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_EQ(talk.result().error->message, "prompt is too long");
}

TEST(Overflow, AnswerAfterAnOverflow_AllowsAnotherCompaction) {
  Talk talk(agent_with_window(0));
  talk.begin("the goal");
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 6; ++i) talk.round(i);
    talk.fail_model(overflow());
    ASSERT_TRUE(talk.summarises()) << turn;
    talk.answer(uncounted(says("Summed up.")));
  }
  talk.answer(says("done"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
}

TEST(Overflow, SingleMessageThatOverflows_EndsTheTurnAtOnce) {
  Talk talk(agent_with_window(0));
  talk.begin(words(3'000));
  talk.fail_model(overflow());
  EXPECT_EQ(talk.result().reason, StopReason::kContextLimit);
  EXPECT_TRUE(talk.compactions().empty());
}

TEST(Overflow, FailedSummary_FallsBackToDroppingMessages) {
  Talk talk(agent_with_window(0));
  talk.begin("the goal");
  for (int i = 0; i < 6; ++i) talk.round(i);
  talk.fail_model(overflow());
  talk.fail_model(overflow());
  EXPECT_EQ(talk.compactions(), std::vector<std::string>{"context_overflow"});
  talk.answer(says("done"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
}

TEST(History, Cut_KeepsTheSummary) {
  HistoryBuilder builder;
  const auto push = [&](Role role, const std::string& text) {
    builder.push(std::make_shared<const Message>(text_message(role, text)));
  };
  push(Role::kUser, "goal");
  push(Role::kAssistant, "a");
  push(Role::kAssistant, "b");
  auto summary = std::make_shared<Message>();
  summary->parts.emplace_back(CompactionPart{"what was", nullptr});
  builder.summarise(2, summary, 100);
  push(Role::kUser, "next");
  push(Role::kAssistant, "c");
  push(Role::kAssistant, "d");
  builder.cut(5);
  const auto& messages = builder.history().messages();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<CompactionPart>(messages[0]->parts.at(0)));
  EXPECT_EQ(messages[1]->text(), "next");
  EXPECT_EQ(messages[2]->text(), "d");
}

// ---- retries with a change, pauses

TEST(Retries, AreBoundedOverTheWholeTurn) {
  AgentSpec agent = agent_with_window(0);
  agent.limits.max_model_retries = 3;
  Talk talk(agent);
  talk.begin("go");
  const Error busy = make_error(ErrorCode::kModel, "busy", true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(is<Wait>(talk.fail_model(busy))) << i;
    talk.round(i, 1);
  }
  talk.fail_model(busy);
  EXPECT_EQ(talk.result().reason, StopReason::kModelFailed);
}

TEST(Retries, RetryThatNeedsANote_GetsOneNote) {
  const Error malformed = make_error(ErrorCode::kModel, "malformed").set("change", "note");
  Talk talk;
  talk.begin("go");
  ASSERT_TRUE(is<Wait>(talk.fail_model(malformed)));
  EXPECT_EQ(talk.messages().back()->role, Role::kUser);
  EXPECT_EQ(talk.turn().step, 1U);
  talk.fail_model(malformed);
  EXPECT_EQ(talk.result().reason, StopReason::kModelFailed);
  EXPECT_EQ(talk.result().error->message, "malformed");
}

Error too_strict() {
  return make_error(ErrorCode::kModel, "schemas are too complex").set("change", "non_strict");
}

TEST(Retries, VendorThatRefusesStrictTools_GetsThemNonStrictFromThenOn) {
  Talk talk;
  talk.begin("go");
  const Digest tools = talk.last_intent().request.tools;
  ASSERT_FALSE(talk.last_intent().non_strict);
  ASSERT_TRUE(is<Wait>(talk.fail_model(too_strict())));
  EXPECT_EQ(talk.last_intent().attempt, 2U);
  EXPECT_EQ(talk.last_intent().delay, Millis{0});
  EXPECT_TRUE(talk.last_intent().non_strict);
  EXPECT_NE(talk.last_intent().request.tools, tools) << "a different request";
  EXPECT_TRUE(question_of(talk.state(), talk.last_intent()).non_strict);
  talk.round(1, 1);
  EXPECT_EQ(talk.last_intent().attempt, 1U);
  EXPECT_TRUE(talk.last_intent().non_strict);
  EXPECT_TRUE(talk.last_intent().request.tools.empty()) << "the tools are those of the last request";
  talk.fail_model(too_strict());
  EXPECT_EQ(talk.result().reason, StopReason::kModelFailed);
}

TEST(Retries, RefusalOfStrictTools_IsDroppedWithTheAgent) {
  Talk talk;
  talk.begin("go");
  talk.fail_model(too_strict());
  talk.apply(
      records::Intervened{CommandVerb::kSetAgent, {}, std::make_shared<AgentSpec>(*talk.state().agent)});
  talk.round(1, 1);
  EXPECT_FALSE(talk.last_intent().non_strict);
}

TEST(Retries, RefusalOfStrictTools_CountsAsARetry) {
  AgentSpec agent = agent_with_window();
  agent.limits.max_model_attempts = 1;
  Talk talk(agent);
  talk.begin("go");
  talk.fail_model(too_strict());
  EXPECT_EQ(talk.result().reason, StopReason::kModelFailed);
  EXPECT_EQ(talk.result().error->message, "schemas are too complex");
}

TEST(Retries, RefusalOfStrictToolsInVersion3_IsNotRetried) {
  Talk talk(agent_with_window(), 3);
  talk.begin("go");
  talk.fail_model(too_strict());
  EXPECT_EQ(talk.result().reason, StopReason::kModelFailed);
}

TEST(Pause, PausedAnswer_IsContinuedUpToABound) {
  Talk talk;
  talk.begin("search");
  ASSERT_TRUE(is<Wait>(talk.answer(uncounted(says("searching", FinishReason::kPause)))));
  EXPECT_EQ(talk.messages().back()->role, Role::kAssistant);
  talk.answer(says("found"));
  EXPECT_EQ(talk.result().reason, StopReason::kFinished);
  talk.begin("search more");
  int pauses = 0;
  while (talk.state().turn && ++pauses < 100) talk.answer(uncounted(says("searching", FinishReason::kPause)));
  EXPECT_EQ(pauses, 10);
  EXPECT_EQ(talk.result().reason, StopReason::kModelFailed);
}

// ---- prefixes

TEST(Prefix, GrowingConversation_KeepsThePrefix) {
  Talk talk;
  talk.begin("go");
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(talk.state().prefix_break);
    talk.round(i, 1);
  }
  EXPECT_FALSE(talk.state().prefix_break);
}

TEST(Prefix, Break_IsNamedAndPriced) {
  Talk talk;
  talk.begin("go");
  ModelResponse response = calls({tool_call("a", "read")});
  response.usage = {.input = 9'000, .output = 1'000};
  talk.answer(response);
  auto other = std::make_shared<AgentSpec>(*talk.state().agent);
  other->model = "test:other";
  talk.apply(records::Intervened{CommandVerb::kSetAgent, {}, other});
  talk.give("a", "x");
  ASSERT_TRUE(talk.state().prefix_break);
  EXPECT_EQ(talk.state().prefix_break->cause, "model");
  EXPECT_EQ(talk.state().prefix_break->tokens, 10'000);
  EXPECT_EQ(talk.state().prefix_break->cost, MicroUsd{15'000}) << "$1.50 more for each million";
}

TEST(Prefix, EveryCause_IsNamed) {
  const auto broken_by = [](const std::function<void(AgentSpec&)>& change) {
    Talk talk;
    talk.begin("go");
    talk.answer(uncounted(calls({tool_call("a", "read")})));
    auto other = std::make_shared<AgentSpec>(*talk.state().agent);
    change(*other);
    talk.apply(records::Intervened{CommandVerb::kSetAgent, {}, other});
    talk.give("a", "x");
    return talk.state().prefix_break ? talk.state().prefix_break->cause : "";
  };
  EXPECT_EQ(broken_by([](AgentSpec& agent) { agent.instructions = "Be long."; }), "settings");
  EXPECT_EQ(broken_by([](AgentSpec& agent) { agent.tools.push_back(test_tool("write")); }), "tools");
  EXPECT_EQ(broken_by([](AgentSpec& agent) { agent.limits.max_steps = 7; }), "");

  Talk talk;
  talk.begin("one");
  talk.answer(uncounted(says("first")));
  talk.begin("two");
  talk.answer(uncounted(says("second")));
  talk.command(CommandVerb::kRewind, "t2");
  talk.begin("three");
  EXPECT_EQ(talk.state().prefix_break->cause, "rewind");
}

}  // namespace
}  // namespace praxis
