// The actions of single inputs. The explorer (explorer_test.cpp) plays many inputs in all orders.
#include "driver/turn_driver.hpp"

#include <gtest/gtest.h>

#include "driver/testing/rig.hpp"

namespace praxis::driver {
namespace {

using namespace std::chrono_literals;

TEST(TurnDriver, TurnAsksTheModelAndFinishes) {
  Rig rig;
  rig.ask();
  ASSERT_NE(rig.find<StartModel>(), nullptr);
  EXPECT_EQ(rig.count<AppendRecords>(), 1U);
  rig.answer(says("hello"));
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.text, "hello");
  EXPECT_EQ(rig.kinds, (std::vector<std::string>{"session_created", "turn_started", "message_appended",
                                                 "effect_intended", "effect_settled", "turn_settled"}));
}

TEST(TurnDriver, OutcomeSharesItsAppendWithTheNextIntent) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  EXPECT_EQ(rig.count<AppendRecords>(), 1U);
  EXPECT_NE(rig.find<StartTool>(), nullptr);
}

TEST(TurnDriver, ReservationDoesNotSplitAnAppend) {
  Rig rig(echoing(), true);
  rig.ask();
  EXPECT_EQ(rig.count<AppendRecords>(), 0U);
  const auto* reserved = rig.find<ReserveBudget>();
  ASSERT_NE(reserved, nullptr);
  rig.feed(BudgetAnswered{reserved->request, BudgetAnswered::Granted{}});
  EXPECT_EQ(rig.count<AppendRecords>(), 1U);
  EXPECT_NE(rig.find<StartModel>(), nullptr);
}

TEST(TurnDriver, AnsweredModelCallSettlesWhatItUsed) {
  Rig rig(echoing(), true);
  rig.ask();
  rig.feed(BudgetAnswered{rig.find<ReserveBudget>()->request, BudgetAnswered::Granted{}});
  const ModelResponse response = says("hello");
  rig.answer(response);
  ASSERT_EQ(rig.count<SettleBudget>(), 1U);
  EXPECT_EQ(rig.find<SettleBudget>()->spent.tokens, response.usage.total());
}

TEST(TurnDriver, CancelledModelCallCountsWithWhatArrived) {
  Rig rig;
  rig.ask();
  rig.now.arrived = 30;
  rig.feed(InterruptRequested{});
  rig.feed(ModelEnded{rig.running_effect(), 1, fail(make_error(ErrorCode::kCancelled, "cancelled"))});
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.usage.output, 10);
  EXPECT_TRUE(rig.find<FinishTurn>()->result.usage.estimated);
}

TEST(TurnDriver, SessionIsShownInTheAgentTreeOnceForEachAppend) {
  Rig rig;
  rig.ask();
  EXPECT_EQ(rig.count<ShowSession>(), 1U);
  rig.answer(calls({tool_call("a", "echo")}));
  EXPECT_EQ(rig.count<ShowSession>(), 1U);
}

TEST(TurnDriver, RefusedModelCallCountsNothing) {
  Rig rig;
  rig.ask();
  rig.feed(ModelEnded{rig.running_effect(), 1, fail(ErrorCode::kModel, "no"), false});
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.usage.total(), 0);
}

// ---- stopping

TEST(TurnDriver, InterruptStopsEffectsAndGivesThemTheGraceTime) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const EffectId effect = rig.call("a");
  rig.feed(InterruptRequested{});
  ASSERT_NE(rig.find<StopEffect>(), nullptr);
  EXPECT_EQ(rig.find<StopEffect>()->effect, effect);
  EXPECT_EQ(rig.find<FinishTurn>(), nullptr);
  ASSERT_NE(rig.find<ArmTimer>(), nullptr);
  EXPECT_EQ(rig.find<ArmTimer>()->delay, rig.now.grace);
  rig.feed(TimerFired{rig.find<ArmTimer>()->timer});
  EXPECT_NE(rig.find<DropEffect>(), nullptr);
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.reason, StopReason::kCancelled);
  EXPECT_EQ(rig.find<FinishTurn>()->result.actions.at(0).outcome, Outcome::kUnknown);
}

TEST(TurnDriver, InterruptAsARecordStopsEffectsToo) {
  Rig rig;
  rig.ask();
  RecordsGiven given;
  given.records.emplace_back(records::Intervened{CommandVerb::kInterrupt, {}, nullptr});
  rig.feed(std::move(given));
  EXPECT_NE(rig.find<StopEffect>(), nullptr);
}

TEST(TurnDriver, InterruptOfAnotherReadersTurnIsIgnored) {
  Rig rig;
  rig.ask();
  rig.feed(InterruptRequested{99});
  EXPECT_TRUE(rig.last.empty());
}

TEST(TurnDriver, WindDownBeginsNoQueuedTurn) {
  Rig rig;
  rig.ask();
  RecordsGiven queued;
  queued.records.emplace_back(records::Intervened{CommandVerb::kEnqueue, "more", nullptr});
  rig.feed(std::move(queued));
  rig.feed(WindDownRequested{});
  rig.feed(ModelEnded{rig.running_effect(), 1, fail(make_error(ErrorCode::kCancelled, "cancelled"))});
  EXPECT_FALSE(rig.driver->state().turn);
  EXPECT_EQ(rig.driver->state().queue.size(), 1U);
}

TEST(TurnDriver, QueuedPromptBecomesATurn) {
  Rig rig;
  rig.ask();
  RecordsGiven queued;
  queued.records.emplace_back(records::Intervened{CommandVerb::kEnqueue, "more", nullptr});
  rig.feed(std::move(queued));
  rig.answer(says("one"));
  EXPECT_NE(rig.find<FinishTurn>(), nullptr);
  ASSERT_NE(rig.find<StartModel>(), nullptr);
  EXPECT_TRUE(rig.driver->readers().empty());
}

TEST(TurnDriver, QueuedPromptThatIsHeldWaitsForAReader) {
  driver::Setup setup = Rig::setup_of(echoing());
  setup.holds_queue = true;
  Rig rig;
  rig.driver.emplace(std::move(setup), State(rig.driver->state()));
  rig.ask();
  RecordsGiven queued;
  queued.records.emplace_back(records::Intervened{CommandVerb::kEnqueue, "more", nullptr});
  rig.feed(std::move(queued));
  rig.answer(says("one"));
  EXPECT_EQ(rig.find<StartModel>(), nullptr);
  rig.feed(ResumeRequested{{2, false}, {}});
  EXPECT_NE(rig.find<StartModel>(), nullptr);
}

// ---- time

TEST(TurnDriver, FailedModelCallIsRetriedAfterItsDelay) {
  Rig rig;
  rig.ask();
  rig.feed(ModelEnded{rig.running_effect(), 1, fail(make_error(ErrorCode::kModel, "busy", true))});
  EXPECT_EQ(rig.find<StartModel>(), nullptr);
  ASSERT_NE(rig.find<ArmTimer>(), nullptr);
  EXPECT_TRUE(rig.find<ArmTimer>()->keeps);
  rig.feed(TimerFired{rig.find<ArmTimer>()->timer});
  ASSERT_NE(rig.find<StartModel>(), nullptr);
  EXPECT_EQ(rig.find<StartModel>()->attempt, 2U);
}

TEST(TurnDriver, ToolThatIsTooLateIsStoppedAndSettled) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const Token limit = rig.find<ArmTimer>()->timer;
  rig.now.monotonic += 600s;
  rig.feed(TimerFired{limit});
  EXPECT_NE(rig.find<StopEffect>(), nullptr);
  EXPECT_NE(rig.find<DropEffect>(), nullptr);
  EXPECT_NE(rig.find<StartModel>(), nullptr) << "the model learns of it";
}

TEST(TurnDriver, EndOfAToolDisarmsItsLimit) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const Token limit = rig.find<ArmTimer>()->timer;
  rig.feed(ToolEnded{rig.call("a"), 1, fail(ErrorCode::kTool, "no")});
  ASSERT_NE(rig.find<DisarmTimer>(), nullptr);
  EXPECT_EQ(rig.find<DisarmTimer>()->timer, limit);
}

TEST(TurnDriver, ClockOfACallIsStoppedWhileItsSubAgentWaits) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const Token limit = rig.find<ArmTimer>()->timer;
  const SessionId child{"s2"};
  rig.spawn(child, "a");
  rig.feed(ChildBegan{child, CallId{"a"}});
  ParkedStep step;
  step.id = ParkId{"s2/p1"};
  rig.feed(ChildWaits{child, {step}, false});
  ASSERT_NE(rig.find<DisarmTimer>(), nullptr);
  EXPECT_EQ(rig.find<DisarmTimer>()->timer, limit);
  EXPECT_EQ(rig.driver->status(), SessionStatus::kAwaitingUser);
  ASSERT_NE(rig.find<FinishReaders>(), nullptr) << "readers get the waiting result";
  rig.now.monotonic += 600s;
  rig.feed(ChildWaits{child, {}, false});
  ASSERT_NE(rig.find<ArmTimer>(), nullptr);
  EXPECT_GT(rig.find<ArmTimer>()->delay, 0s);
  EXPECT_EQ(rig.driver->status(), SessionStatus::kRunning);
}

// ---- what another process left

TEST(TurnDriver, ResumedTurnIsInDoubtFirst) {
  Rig before;
  before.ask();
  TurnDriver after(Rig::setup_of(echoing()), before.driver->state());
  Actions actions;
  after.take({}, ResumeRequested{{7, false}, {}}, actions);
  ASSERT_TRUE(std::holds_alternative<AppendRecords>(actions.back()));
  const Append& append = std::get<AppendRecords>(actions.back()).append;
  ASSERT_EQ(append.entries.size(), 2U);
  EXPECT_EQ(append.entries[0].kind, "status_changed");
  EXPECT_EQ(append.entries[1].kind, "effect_intended");
}

TEST(TurnDriver, HandlerIsNotAskedBeforeATurnIsResumed) {
  AgentSpec agent = echoing();
  agent.policy = JsonObject{{"ask", JsonArray{"*"}}};
  Rig before(agent);
  before.ask();
  before.answer(calls({tool_call("a", "echo")}));
  ASSERT_EQ(before.driver->state().parked.size(), 1U);
  TurnDriver after(Rig::setup_of(agent), before.driver->state());
  Moment now;
  now.approver = 1;
  const auto asked = [&](Input input) {
    Actions actions;
    after.take(now, std::move(input), actions);
    return std::ranges::any_of(actions,
                               [](const Action& a) { return std::holds_alternative<driver::AskPerson>(a); });
  };
  EXPECT_FALSE(asked(ApproverChanged{}));
  EXPECT_TRUE(asked(ResumeRequested{{7, false}, {}}));
}

TEST(TurnDriver, InactiveDriverOnlySettlesAStoppedTurn) {
  Rig before;
  before.ask();
  driver::Setup setup = Rig::setup_of(echoing());
  setup.at_rest = true;
  TurnDriver log(setup, before.driver->state());
  Actions actions;
  RecordsGiven given;
  given.records.emplace_back(records::Intervened{CommandVerb::kEnqueue, "more", nullptr});
  given.records.emplace_back(records::Intervened{CommandVerb::kInterrupt, {}, nullptr});
  log.take({}, std::move(given), actions);
  EXPECT_FALSE(log.state().turn);
  EXPECT_EQ(log.state().queue.size(), 1U) << "the queue stays: the session is not active";
}

// ---- callers

TEST(TurnDriver, RestWaiterIsAnsweredWhenTheTurnIsOver) {
  Rig rig;
  rig.ask();
  rig.feed(RestAwaited{5});
  EXPECT_EQ(rig.find<AnswerWaiter>(), nullptr);
  rig.answer(says("done"));
  EXPECT_NE(rig.find<AnswerWaiter>(), nullptr);
}

TEST(TurnDriver, SessionDoesNotRestBeforeATurnThatWasRequestedWhileHooksRan) {
  Rig rig;
  driver::Setup setup = Rig::setup_of(echoing());
  setup.hooks.ended = true;
  State state = rig.driver->state();
  rig.driver.emplace(setup, std::move(state));
  rig.ask();
  rig.feed(RestAwaited{5});
  rig.answer(says("done"));
  ASSERT_NE(rig.find<AskAfterTurn>(), nullptr);
  const AgentResult first = rig.find<AskAfterTurn>()->result;
  rig.ask();
  EXPECT_EQ(rig.find<StartModel>(), nullptr);
  rig.feed(TurnReported{first});
  EXPECT_NE(rig.find<StartModel>(), nullptr);
  EXPECT_EQ(rig.find<AnswerWaiter>(), nullptr);
  rig.answer(says("done"));
  rig.feed(TurnReported{first});
  EXPECT_NE(rig.find<AnswerWaiter>(), nullptr);
}

TEST(TurnDriver, SecondTurnIsRefusedWhileOneIsInProgress) {
  Rig rig;
  rig.ask();
  rig.ask();
  ASSERT_NE(rig.find<FinishReaders>(), nullptr);
  EXPECT_FALSE(rig.find<FinishReaders>()->result);
  EXPECT_EQ(rig.find<AppendRecords>(), nullptr);
}

TEST(TurnDriver, AnswerToAWithdrawnQuestionIsIgnored) {
  AgentSpec agent = echoing();
  agent.policy = JsonObject{{"ask", JsonArray{"*"}}};
  Rig rig(agent);
  rig.now.approver = 1;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const auto* asked = rig.find<driver::AskPerson>();
  ASSERT_NE(asked, nullptr);
  const Token question = asked->question;
  const std::vector<RecordBody> approval{
      records::Decided{asked->step.id, asked->step.call, ApprovalVerb::kApprove, {}, person_by_library()}};
  RecordsGiven decided;
  decided.records = approval;
  rig.feed(std::move(decided));
  EXPECT_NE(rig.find<WithdrawQuestion>(), nullptr);
  rig.feed(PersonAnswered{question, approval});
  EXPECT_TRUE(rig.last.empty());
  EXPECT_FALSE(rig.driver->failure());
}

TEST(TurnDriver, AdviceForAnotherPlaceIsDropped) {
  driver::Setup setup = Rig::setup_of(echoing());
  setup.hooks.model = true;
  Rig rig;
  State state = rig.driver->state();
  rig.driver.emplace(setup, std::move(state));
  rig.ask();
  const auto* asked = rig.find<AskHooks>();
  ASSERT_NE(asked, nullptr);
  ModelAdvice advice;
  advice.answer = says("from a hook");
  rig.feed(HooksAnswered{{TurnId{"t9"}, 1}, advice});
  EXPECT_NE(rig.find<AskHooks>(), nullptr) << "they are asked again";
  rig.feed(HooksAnswered{rig.driver->place(), advice});
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.text, "from a hook");
}

TEST(TurnDriver, SuspensionWaitsForTheLog) {
  Rig rig;
  Actions actions;
  std::vector<Message> messages;
  messages.push_back(text_message(Role::kUser, "go"));
  rig.driver->take({}, TurnRequested{std::move(messages), nullptr, nullptr, {1, false}}, actions);
  rig.driver->suspend();
  ASSERT_TRUE(rig.driver->has_state());
  rig.driver->take({}, Appended{4}, actions);
  rig.driver->take({}, ActionsDone{}, actions);
  rig.driver->suspend();
  EXPECT_FALSE(rig.driver->has_state());
  Actions lost;
  State other;
  other.seq = 9;
  rig.driver->restore(other, lost);
  ASSERT_TRUE(rig.driver->failure());
  EXPECT_EQ(rig.driver->failure()->kind(), ErrorKind::kLeaseLost);
}

// ---- active time

TEST(TurnDriver, CallsThatRunAtOnceCountOnceAsActiveTime) {
  AgentSpec agent = echoing();
  agent.limits.timeout = Millis{3'000};
  agent.tools.push_back(test_tool("careful"));
  agent.policy = JsonObject{{"allow", JsonArray{"echo"}}, {"ask", JsonArray{"careful"}}};
  Rig rig(agent);
  rig.ask();
  rig.answer(calls({tool_call("a", "echo"), tool_call("b", "echo"), tool_call("c", "careful")}));
  const auto ended = [](const char* id) {
    return ToolOutcome{{CallId{id}, "echo", ToolStatus::kOk, "done", {}, {}}, nullptr, nullptr};
  };
  rig.now.monotonic += std::chrono::seconds(1);
  rig.feed(ToolEnded{rig.call("a"), 1, ended("a")});
  rig.feed(ToolEnded{rig.call("b"), 1, ended("b")});
  EXPECT_EQ(rig.driver->state().turn->report.duration, Millis{1'000});
  EXPECT_EQ(rig.driver->state().turn->report.tool_latency, Millis{2'000});
  rig.now.monotonic += std::chrono::seconds(60);  // waits for an approval
  const ParkedStep step = rig.driver->state().parked.begin()->second;
  RecordsGiven approval;
  approval.records.emplace_back(
      records::Decided{step.id, step.call, ApprovalVerb::kApprove, {}, person_by_library()});
  rig.feed(std::move(approval));
  ASSERT_NE(rig.find<ArmTimer>(), nullptr);
  const auto arms = [&] {
    std::vector<std::chrono::nanoseconds> delays;
    for (const Action& action : rig.last) {
      if (const auto* timer = std::get_if<ArmTimer>(&action)) delays.push_back(timer->delay);
    }
    return delays;
  };
  EXPECT_EQ(std::ranges::count(arms(), std::chrono::nanoseconds(std::chrono::seconds(2))), 1);
}

// ---- budgets, hooks, and what works for a call

TEST(TurnDriver, SpentBudgetEndsTheTurn) {
  Rig rig(echoing(), true);
  rig.ask();
  rig.feed(BudgetAnswered{rig.find<ReserveBudget>()->request, StopReason::kTokenLimit});
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.reason, StopReason::kTokenLimit);
  EXPECT_EQ(rig.find<StartModel>(), nullptr);
}

TEST(TurnDriver, AnswerThatGrowsExtendsItsReservation) {
  Rig rig(echoing(), true);
  rig.ask();
  const Token request = rig.find<ReserveBudget>()->request;
  rig.feed(BudgetAnswered{request, BudgetAnswered::Granted{}});
  rig.feed(AnswerGrew{rig.running_effect(), 1, 30'000});
  ASSERT_NE(rig.find<ExtendBudget>(), nullptr);
  EXPECT_EQ(rig.find<ExtendBudget>()->request, request);
  EXPECT_EQ(rig.find<ExtendBudget>()->used.tokens, rig.driver->state().request_tokens() + 10'000);
}

TEST(TurnDriver, AnswerThatNoBudgetCoversIsStopped) {
  Rig rig(echoing(), true);
  rig.ask();
  const Token request = rig.find<ReserveBudget>()->request;
  rig.feed(BudgetAnswered{request, BudgetAnswered::Granted{}});
  const EffectId effect = rig.running_effect();
  rig.feed(BudgetExceeded{request, StopReason::kCostLimit});
  EXPECT_NE(rig.find<StopEffect>(), nullptr);
  rig.now.arrived = 30;
  rig.feed(ModelEnded{effect, 1, fail(make_error(ErrorCode::kCancelled, "cancelled"))});
  ASSERT_NE(rig.find<FinishTurn>(), nullptr);
  EXPECT_EQ(rig.find<FinishTurn>()->result.reason, StopReason::kCostLimit);
  EXPECT_EQ(rig.find<FinishTurn>()->result.usage.output, 10);
}

TEST(TurnDriver, FreedBudgetIsAskedAgain) {
  Rig rig(echoing(), true);
  rig.ask();
  rig.feed(BudgetAnswered{rig.find<ReserveBudget>()->request, BudgetAnswered::Busy{}});
  EXPECT_EQ(rig.find<StartModel>(), nullptr);
  rig.feed(BudgetFreed{});
  EXPECT_NE(rig.find<ReserveBudget>(), nullptr);
}

TEST(TurnDriver, CallThatAHookAnswersIsNotStarted) {
  driver::Setup setup = Rig::setup_of(echoing());
  setup.hooks.calls = true;
  Rig rig;
  State state = rig.driver->state();
  rig.driver.emplace(setup, std::move(state));
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const auto* asked = rig.find<AskHooks>();
  ASSERT_NE(asked, nullptr);
  CallReviews reviews{std::get<AskAboutCalls>(asked->question).version, {}};
  reviews.reviews[CallId{"a"}].result =
      ToolOutcome{{CallId{"a"}, "echo", ToolStatus::kOk, "from a hook", {}, {}}, nullptr, nullptr};
  rig.feed(HooksAnswered{asked->place, std::move(reviews)});
  EXPECT_EQ(rig.find<StartTool>(), nullptr);
  EXPECT_NE(rig.find<StartModel>(), nullptr) << "the model gets the result";
}

TEST(TurnDriver, EndOfASubAgentIsRecorded) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const SessionId child{"s2"};
  rig.spawn(child, "a");
  records::ChildSettled settled{child, StopReason::kFinished, {}};
  settled.usage.input = 11;
  rig.feed(ChildEnded{settled});
  EXPECT_EQ(rig.kinds.back(), "child_settled");
  EXPECT_EQ(rig.driver->state().subtree_usage().total(), rig.driver->state().usage.total() + 11);
}

TEST(TurnDriver, ResultOfACallWithinACallIsHandedBack) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  rig.feed(CallRequested{CallId{"a"}, tool_call("", "echo"), "k", 5});
  const auto* inner = rig.find<StartTool>();
  ASSERT_NE(inner, nullptr);
  const ToolOutcome outcome{{inner->call.id, "echo", ToolStatus::kOk, "inside", {}, {}}, nullptr, nullptr};
  rig.feed(ToolEnded{inner->effect, 1, outcome});
  ASSERT_NE(rig.find<HandBack>(), nullptr);
  EXPECT_EQ(rig.find<HandBack>()->waiter, 5U);
  ASSERT_TRUE(rig.find<HandBack>()->outcome);
  EXPECT_EQ(rig.find<HandBack>()->outcome->result.text, "inside");
}

}  // namespace
}  // namespace praxis::driver
