// Faults of our own machinery: they are never the outcome of an effect, and they end the sessions above.
#include <gtest/gtest.h>

#include "driver/testing/rig.hpp"

namespace praxis::driver {
namespace {

const SessionId kChild{"s2"};

Error disk_fault(std::string message = "disk I/O error") {
  return make_error(ErrorCode::kJournal, ErrorKind::kIo, std::move(message));
}

/// A session whose call `a` runs and has created a sub-agent.
Rig delegating() {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  rig.spawn(kChild, "a");
  rig.feed(ChildBegan{kChild, CallId{"a"}});
  return rig;
}

ToolEnded ended(const Rig& rig, const std::string& call) {
  return {rig.call(call), 1,
          ToolOutcome{{CallId{call}, "echo", ToolStatus::kOk, "done", {}, {}}, nullptr, nullptr}};
}

/// A session below another one, in the middle of a turn.
Rig below() {
  Rig rig(echoing(), false,
          std::make_shared<const ParentAddress>(
              ParentAddress{SessionId{"s0"}, CallId{"w"}, {SessionId{"s0"}, 1}}));
  rig.ask();
  return rig;
}

/// What the session sends to the one above when it gives up; null when it sends nothing.
const ChildLost* lost_in(const Rig& rig) {
  const auto* told = rig.find<TellParent>();
  return told == nullptr ? nullptr : std::get_if<ChildLost>(&told->what);
}

/// The place of the first action of a kind; the number of actions when no action is of that kind.
template <class A>
std::ptrdiff_t place_of(const Rig& rig) {
  return std::ranges::find_if(rig.last, [](const Action& a) { return std::holds_alternative<A>(a); }) -
         rig.last.begin();
}

TEST(Fault, OfASubAgentEndsTheSessionAboveUnsettled) {
  Rig rig = delegating();
  const auto records = rig.kinds.size();
  rig.feed(ChildLost{kChild, disk_fault()});
  ASSERT_NE(rig.find<GiveUp>(), nullptr);
  EXPECT_EQ(rig.find<GiveUp>()->error.message, "disk I/O error");
  ASSERT_NE(rig.find<FinishReaders>(), nullptr);
  EXPECT_EQ(rig.find<FinishReaders>()->result.error().kind(), ErrorKind::kIo);
  EXPECT_EQ(rig.find<FinishTurn>(), nullptr);
  rig.feed(ended(rig, "a"));  // the handler of the call returns afterwards
  EXPECT_EQ(rig.kinds.size(), records) << "something was recorded: " << rig.kinds.back();
  EXPECT_EQ(rig.find<StartModel>(), nullptr);
}

TEST(Fault, ReachesTheSessionAboveBeforeAnyReader) {
  Rig rig = below();
  rig.feed(Faulted{disk_fault()});
  const ChildLost* lost = lost_in(rig);
  ASSERT_NE(lost, nullptr);
  ASSERT_TRUE(lost->fault);
  EXPECT_EQ(lost->fault->message, "disk I/O error");
  EXPECT_LT(place_of<GiveUp>(rig), place_of<TellParent>(rig));
  EXPECT_LT(place_of<TellParent>(rig), place_of<FinishReaders>(rig));
}

TEST(Fault, OfOurMachineryIsTheOutcomeOfNoEffect) {
  Rig rig;
  rig.ask();
  rig.answer(calls({tool_call("a", "echo")}));
  const auto records = rig.kinds.size();
  const ToolEnded late = ended(rig, "a");
  rig.feed(Faulted{disk_fault()});
  EXPECT_NE(rig.find<GiveUp>(), nullptr);
  rig.feed(late);
  EXPECT_EQ(rig.kinds.size(), records);
}

TEST(Fault, FirstReasonWins) {
  Rig rig = delegating();
  rig.feed(ChildLost{kChild, disk_fault("the first")});
  rig.feed(Faulted{disk_fault("the second")});
  EXPECT_EQ(rig.find<GiveUp>(), nullptr);
  EXPECT_EQ(rig.driver->failure()->message, "the first");
}

TEST(Fault, SubAgentThatWasClosedEndsNothing) {
  Rig rig = delegating();
  rig.feed(ChildLost{kChild});
  EXPECT_EQ(rig.driver->failure(), nullptr);
  rig.feed(ended(rig, "a"));
  EXPECT_NE(rig.find<StartModel>(), nullptr) << "the turn continues";
}

TEST(Fault, OfASubAgentWhoseCallIsOverEndsNothing) {
  Rig rig = delegating();
  rig.feed(ended(rig, "a"));
  rig.feed(ChildLost{kChild, disk_fault()});
  EXPECT_EQ(rig.driver->failure(), nullptr);
}

TEST(Fault, ClosedSessionReportsNoFault) {
  Rig rig = below();
  rig.feed(Abandoned{});
  ASSERT_NE(lost_in(rig), nullptr);
  EXPECT_FALSE(lost_in(rig)->fault);
}

TEST(Fault, RuntimeThatEndsReportsNothing) {
  Rig rig = below();
  rig.now.closing = true;
  rig.feed(Abandoned{});
  EXPECT_EQ(lost_in(rig), nullptr);
}

}  // namespace
}  // namespace praxis::driver
