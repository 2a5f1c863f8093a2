// Logs that Praxis cannot have written are refused, not guessed at.
#include <gtest/gtest.h>

#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

struct Session : Fold {
  Session() : Fold(agent(), kAskModel) {}
  static AgentSpec agent() {
    AgentSpec spec;
    spec.model = "test:model";
    spec.tools = {test_tool("read")};
    return spec;
  }
};

records::MessageAppended user(const char* text) {
  return {std::make_shared<const Message>(text_message(Role::kUser, text))};
}

records::EffectIntended intent(EffectKind kind, const char* call = "") {
  records::EffectIntended record;
  record.effect = EffectId{"e9"};
  record.kind = kind;
  record.call = CallId{call};
  return record;
}

records::EffectSettled settled(const EffectId& effect) { return {effect, Outcome::kOk, {}, {}, {}, {}}; }

TEST(Apply, LogWithoutItsSessionAtTheStart_IsRefused) {
  const auto state = apply(State{}, Record{{}, records::TurnStarted{TurnId{"t1"}}});
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, ErrorCode::kJournal);
}

TEST(Apply, RefusalNamesSessionAndRecord) {
  Session session;
  const auto state = apply(session.state(), Record{{}, records::Compacted{}});
  ASSERT_TRUE(state);
  const auto refused = apply(*state, Record{{}, records::TurnSettled{TurnId{"t1"}, {}, {}, {}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "session s1, record 3: the log does not follow its own rules: a turn settles that is not in progress");
}

TEST(Apply, RecordsOfATurn_AreRefusedOutsideATurn) {
  Session session;
  records::SessionCreated again;
  again.agent = session.state().agent;
  EXPECT_TRUE(session.refuses(again));
  EXPECT_TRUE(session.refuses(intent(EffectKind::kModel)));
  EXPECT_TRUE(session.refuses(settled(EffectId{"e1"})));
  EXPECT_TRUE(session.refuses(records::Parked{}));
  EXPECT_TRUE(session.refuses(records::Decided{}));
  EXPECT_TRUE(session.refuses(records::Intervened{CommandVerb::kSetAgent, {}, nullptr}));
}

TEST(Apply, SecondEffectOrEnd_IsRefusedDuringAModelCall) {
  Session session;
  session.begin("hi");
  EXPECT_TRUE(session.refuses(records::TurnStarted{TurnId{"t2"}}));
  EXPECT_TRUE(session.refuses(intent(EffectKind::kModel)));
  EXPECT_TRUE(session.refuses(intent(EffectKind::kTimer)));
  EXPECT_TRUE(session.refuses(settled(EffectId{"e2"})));
  EXPECT_TRUE(session.refuses(records::TurnSettled{TurnId{"t1"}, {}, {}, {}}));
}

TEST(Apply, RecordsThatSplitCallsFromResults_AreRefused) {
  Session session;
  session.begin("hi");
  session.answer(calls({tool_call("a", "read"), tool_call("b", "read")}));
  EXPECT_TRUE(session.refuses(user("me first")));
  EXPECT_TRUE(session.refuses(intent(EffectKind::kModel)));
  EXPECT_TRUE(session.refuses(intent(EffectKind::kTool, "a")));
  EXPECT_TRUE(session.refuses(intent(EffectKind::kTool, "missing")));
  EXPECT_TRUE(session.refuses(settled(EffectId{})));
  EXPECT_TRUE(session.refuses(records::Decided{ParkId{}, CallId{"a"}, ApprovalVerb::kApprove, {}, {}}));
  EXPECT_TRUE(session.refuses(records::Decided{ParkId{"p1"}, CallId{"a"}, ApprovalVerb::kApprove, {}, {}}));
  EXPECT_TRUE(
      session.refuses(records::Parked{{ParkId{"p1"}, ParkKind::kApproval, {}, CallId{"a"}, {}, {}, {}}}));
  EXPECT_TRUE(
      session.refuses(records::Parked{{ParkId{"p1"}, ParkKind::kInDoubt, {}, CallId{"a"}, {}, {}, {}}}));
}

TEST(Apply, SettledCall_CannotRunOrSettleAgain) {
  Session session;
  session.begin("hi");
  session.answer(calls({tool_call("a", "read"), tool_call("b", "read")}));
  const EffectId effect = session.call("a").effect;
  session.give("a", "done");
  EXPECT_TRUE(session.refuses(settled(effect)));
  EXPECT_TRUE(session.refuses(intent(EffectKind::kTool, "a")));
  EXPECT_TRUE(session.refuses(records::Decided{ParkId{}, CallId{"a"}, ApprovalVerb::kReject, {}, {}}));
}

TEST(Apply, DecisionWithoutTheParkedCall_IsRefused) {
  Session session;
  session.begin("hi");
  session.command(CommandVerb::kPause);
  session.answer(calls({tool_call("a", "read"), tool_call("b", "read")}));
  session.apply(park_call(session.state(), session.call("a"), "?"));
  EXPECT_TRUE(session.refuses(records::Decided{ParkId{"p1"}, CallId{"b"}, ApprovalVerb::kApprove, {}, {}}));
  EXPECT_TRUE(session.refuses(records::Decided{ParkId{}, CallId{"a"}, ApprovalVerb::kApprove, {}, {}}));
  EXPECT_FALSE(session.refuses(records::Decided{ParkId{"p1"}, CallId{"a"}, ApprovalVerb::kApprove, {}, {}}));
}

TEST(Apply, ImportedConversation_IsClosedBeforeTheFirstTurn) {
  Session session;
  Message open;
  open.role = Role::kAssistant;
  open.parts = {tool_call("x", "read")};
  session.apply(records::MessageAppended{std::make_shared<const Message>(open), MessageSource::kImport});
  session.apply(records::TurnStarted{TurnId{"t1"}});
  EXPECT_TRUE(session.state().conversation.open_calls().empty());
  EXPECT_EQ(session.messages().size(), 2U);
}

}  // namespace
}  // namespace praxis
