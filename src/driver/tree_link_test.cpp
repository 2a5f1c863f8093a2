#include "driver/tree_link.hpp"
#include "praxis/core/state.hpp"

#include <gtest/gtest.h>

namespace praxis::driver {
namespace {

using Phase = CallState::Phase;

CallState call(const std::string& id, Phase phase, const std::string& within = {}) {
  CallState made;
  made.call.id = CallId{id};
  made.phase = phase;
  made.within = CallId{within};
  return made;
}

State in_turn(std::vector<CallState> calls) {
  State state;
  state.agent = std::make_shared<const AgentSpec>();
  state.turn.emplace();
  state.turn->calls = CallBatch(std::move(calls));
  return state;
}

ParkedStep step(const std::string& id) {
  ParkedStep made;
  made.id = ParkId{id};
  return made;
}

const SessionId kSubAgent{"child"};

TEST(TreeLink, CallIsBlockedWhileItsSubAgentWaits) {
  TreeLink tree;
  const State state = in_turn({call("a", Phase::kRunning)});
  EXPECT_FALSE(tree.is_blocked(state, state.turn->calls[0]));
  tree.began(kSubAgent, CallId{"a"});
  EXPECT_FALSE(tree.waits_for_people(state));
  EXPECT_TRUE(tree.waits({kSubAgent, {step("p1")}, true}));
  EXPECT_TRUE(tree.is_blocked(state, state.turn->calls[0]));
  EXPECT_TRUE(tree.waits_for_people(state));
  EXPECT_TRUE(tree.attended());
  EXPECT_EQ(tree.pending().size(), 1U);
  tree.ended(kSubAgent);
  EXPECT_FALSE(tree.waits_for_people(state));
  EXPECT_FALSE(tree.attended());
  EXPECT_TRUE(tree.pending().empty());
}

TEST(TreeLink, OneBusySubAgentKeepsTheCallUnblocked) {
  TreeLink tree;
  const State state = in_turn({call("a", Phase::kRunning)});
  tree.began(kSubAgent, CallId{"a"});
  tree.began(SessionId{"other"}, CallId{"a"});
  tree.waits({kSubAgent, {step("p1")}, false});
  EXPECT_FALSE(tree.waits_for_people(state));
  EXPECT_TRUE(tree.lost(SessionId{"other"}));
  EXPECT_FALSE(tree.lost(SessionId{"other"}));
  EXPECT_TRUE(tree.waits_for_people(state));
}

TEST(TreeLink, DecidedStepIsNoLongerWaitedFor) {
  TreeLink tree;
  const State state = in_turn({call("a", Phase::kRunning)});
  tree.began(kSubAgent, CallId{"a"});
  tree.waits({kSubAgent, {step("p1")}, false});
  tree.decided(ParkId{"p1"});
  EXPECT_FALSE(tree.waits_for_people(state));
  EXPECT_FALSE(tree.waits({SessionId{"stranger"}, {}, false}));
}

TEST(TreeLink, ParkedCallWithinBlocksTheOuterOne) {
  TreeLink tree;
  State state = in_turn({call("a", Phase::kRunning), call("a.1", Phase::kParked, "a")});
  EXPECT_TRUE(tree.waits_for_people(state));
  state.turn->calls.add(call("a.2", Phase::kApproved, "a"));
  EXPECT_FALSE(tree.waits_for_people(state));
}

TEST(TreeLink, CallWithoutAPlaceWaitsWithThoseThatRun) {
  TreeLink tree;
  State state = in_turn({call("a", Phase::kRunning), call("b", Phase::kProposed)});
  tree.began(kSubAgent, CallId{"a"});
  tree.waits({kSubAgent, {step("p1")}, false});
  EXPECT_FALSE(tree.waits_for_people(state)) << "there is a place for the other call";
  AgentSpec narrow;
  narrow.limits.max_parallel_tools = 1;
  state.agent = std::make_shared<const AgentSpec>(narrow);
  EXPECT_TRUE(tree.waits_for_people(state));
}

TEST(TreeLink, SessionRestsWhileAllBelowSleepOrWait) {
  TreeLink tree;
  State state = in_turn({call("a", Phase::kRunning), call("b", Phase::kRunning)});
  const SessionId other{"other"};
  tree.began(kSubAgent, CallId{"a"});
  tree.began(other, CallId{"b"});
  tree.waits({kSubAgent, {}, false, true});
  EXPECT_FALSE(tree.rests(state)) << "the other works";
  EXPECT_TRUE(tree.is_blocked(state, state.turn->calls[0], TreeLink::Waits::kForPeopleOrTimers));
  tree.waits({other, {step("p1")}, false});
  EXPECT_TRUE(tree.rests(state));
  EXPECT_FALSE(tree.waits_for_people(state)) << "the timer ends by itself";
  tree.waits({kSubAgent, {}, false});
  EXPECT_FALSE(tree.rests(state));
  EffectState timer;
  timer.kind = EffectKind::kTimer;
  state.turn->effect = timer;
  EXPECT_TRUE(tree.rests(state));
}

TEST(TreeLink, StoppedTurnDoesNotWait) {
  TreeLink tree;
  State state = in_turn({call("a", Phase::kRunning), call("a.1", Phase::kParked, "a")});
  state.turn->stop = StopReason::kCancelled;
  EXPECT_FALSE(tree.waits_for_people(state));
}

TEST(TreeLink, ParentIsInformedOfAWaitAndOfItsEnd) {
  TreeLink tree;
  EXPECT_FALSE(tree.tells(false));
  EXPECT_TRUE(tree.tells(true));
  EXPECT_TRUE(tree.tells(true));
  EXPECT_TRUE(tree.tells(false));
  EXPECT_FALSE(tree.tells(false));
}

TEST(TreeLink, CallersOfACallAreTakenOnce) {
  TreeLink tree;
  tree.await(CallId{"a.1"}, 4);
  tree.await(CallId{"a.1"}, 5);
  EXPECT_TRUE(tree.awaits_any());
  EXPECT_EQ(tree.take(CallId{"a.1"}), (std::vector<Token>{4, 5}));
  EXPECT_TRUE(tree.take(CallId{"a.1"}).empty());
}

TEST(TreeLink, CallersOfCallsThatNeverStartGetAnError) {
  TreeLink tree;
  State state = in_turn({call("a", Phase::kRunning), call("a.1", Phase::kProposed, "a")});
  tree.await(CallId{"a.1"}, 4);
  tree.await(CallId{"gone"}, 5);
  const auto gone = tree.take_lost(state);
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].first, 5U);
  EXPECT_EQ(gone[0].second.code, ErrorCode::kInput);
  state.turn->stop = StopReason::kCancelled;
  const auto late = tree.take_lost(state);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].first, 4U);
  EXPECT_EQ(late[0].second.code, ErrorCode::kLimit);
  EXPECT_FALSE(tree.awaits_any());
}

TEST(TreeLink, CallsBeyondTheLimitNeverStart) {
  TreeLink tree;
  State state = in_turn({call("a", Phase::kRunning), call("a.1", Phase::kProposed, "a")});
  auto agent = std::make_shared<AgentSpec>();
  agent->limits.max_tool_calls = 1;
  state.agent = agent;
  state.turn->tool_calls = 1;
  tree.await(CallId{"a.1"}, 4);
  EXPECT_EQ(tree.take_lost(state).size(), 1U);
}

}  // namespace
}  // namespace praxis::driver
