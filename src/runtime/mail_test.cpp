// Orders by mail: from a process that does not own a session to the one that does.
#include <gmock/gmock.h>

#include "runtime/mail.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Orders, ComeBackFromTheirJsonForm) {
  const Order orders[] = {
      Acts{{Intervention::kInterrupt}},
      Acts{{Intervention::kPause, "lunch"}, {Intervention::kAnnotate, "back at one"}},
      Acts{{Intervention::kResume}, {Intervention::kSteer, "s"}, {Intervention::kEnqueue, "e"}},
      Acts{{Intervention::kDelete}},
      Acts{{Intervention::kModify, "m"}},
      Ruling{ParkId{"p1"}, allow(), "person"},
      Ruling{ParkId{"p2"}, deny("no"), "me"},
      Ruling{ParkId{"p3"}, edit(R"({"a":1})")},
      Ruling{ParkId{"p4"}, ask("Paris")},
  };
  for (const Order& order : orders) {
    const auto back = order_from_json(to_json(order));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json(*back), to_json(order));
  }
  EXPECT_EQ(to_json_text(to_json(orders[0])), R"({"acts":[{"verb":"stop"}]})");
}

TEST(Orders, ThatAreNone_SayWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "is JSON"},
      {"[]", "needs \"acts\" or \"park\""},
      {R"({"acts":[]})", "1 to 8 acts"},
      {R"({"acts":[{},{},{},{},{},{},{},{},{}]})", "not 9"},
      {R"({"acts":[{"verb":"set_agent"}]})", "no verb \"set_agent\""},
      {R"({"park":"p1","verb":"perhaps"})", "no verb \"perhaps\""},
  };
  for (const auto& [body, why] : cases) {
    const auto order = order_of({1, SessionId("s"), {5}, body});
    ASSERT_FALSE(order) << body;
    EXPECT_THAT(order.error().message, HasSubstr(why));
  }
}

class MailTest : public SharedTrees {
 protected:
  OrderAnswer give(const SessionId& session, const Order& order) {
    const auto answer = give_order(*elsewhere_, other_->environment(), session, order, 20s);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(Queued{});
  }
  bool delivered(const SessionId& session, const Order& order) {
    return std::holds_alternative<Delivered>(give(session, order));
  }
  std::string refusal(const SessionId& session, const Order& order) {
    const OrderAnswer answer = give(session, order);
    const auto* refused = std::get_if<Refused>(&answer);
    return refused == nullptr ? "" : refused->reason;
  }
};

TEST_F(MailTest, ASecondWriter_IsToldWhoOwnsTheSession) {
  BlockedTool slow;
  Agent agent = stuck(slow);
  Session session = start(agent);
  auto run = session.send_user_message("go");
  slow.entered->wait();
  const auto second = other_->open_session(session.session_id(), agent);
  ASSERT_FALSE(second);
  EXPECT_EQ(json_text(second.error().detail, "kind"), "lease_held");
  slow.release->open();
  ASSERT_TRUE(run.result());
}

TEST_F(MailTest, ASecondWriterByForce_TakesTheSubAgentsAsWell) {
  BlockedTool slow;
  Agent agent = chain(1, stuck(slow));
  Session root = start(agent);
  auto run = root.send_user_message("go");
  slow.entered->wait();
  auto taken = other_->open_session(root.session_id(), agent, true);
  ASSERT_TRUE(taken) << taken.error().message;
  slow.release->open();
  const auto doubts = taken->carry_on().result();
  ASSERT_TRUE(doubts) << doubts.error().message;
  ASSERT_EQ(doubts->pending.size(), 1U) << "the call of the sub-agent may have run";
  const auto result = taken->carry_on({{doubts->pending[0].id, allow()}}).result();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result_for(taken->history(), "c0").text, "late");
  const auto lost = run.result();
  ASSERT_FALSE(lost);
  EXPECT_EQ(json_text(lost.error().detail, "kind"), "lease_lost");
}

TEST_F(MailTest, Orders_AreCarriedOutByTheOwner) {
  BlockedTool slow;
  Session root = start(chain(1, stuck(slow)));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const SessionId leaf = tree()[1].id;
  EXPECT_TRUE(delivered(leaf, Acts{{Intervention::kAnnotate, "seen"}, {Intervention::kModify, "Rome"}}));
  EXPECT_TRUE(eventually([&] { return tree()[1].comment == "seen"; }));
  EXPECT_EQ(tree()[1].status, SessionStatus::kModified);
  EXPECT_THAT(refusal(leaf, Acts{{Intervention::kResume}}), HasSubstr("not paused"));
  EXPECT_TRUE(delivered(leaf, Acts{{Intervention::kPause}}));
  EXPECT_TRUE(eventually([&] { return tree()[1].paused; }));
  EXPECT_TRUE(other_->intervene(leaf, {"unchanged", {}, Intervention::kResume}));
  EXPECT_TRUE(delivered(leaf, Acts{{Intervention::kDelete}}));
  const auto result = run.result();
  ASSERT_TRUE(result);
  EXPECT_EQ(tree()[1].status, SessionStatus::kDeleted);
  EXPECT_THAT(recorded(leaf, Intervention::kModify), ElementsAre("Rome"));
}

TEST_F(MailTest, ToASessionThatNobodyOwns_WaitsOrIsWrittenToItsLog) {
  SessionId id;
  Agent agent = asker();
  {
    Session session = start(agent);
    ASSERT_TRUE(session.ask("go"));
    id = session.session_id();
  }
  ASSERT_TRUE(eventually([&] { return tree().empty(); }));
  const auto letter =
      send_order(*elsewhere_, other_->environment(), id, Acts{{Intervention::kAnnotate, "hi"}});
  ASSERT_TRUE(letter);
  const auto waits = wait_for_answer(*elsewhere_, *letter, 0ms);
  ASSERT_TRUE(waits);
  EXPECT_TRUE(std::holds_alternative<Queued>(*waits));
  EXPECT_TRUE(delivered(id, Acts{{Intervention::kSteer, "be brief"}}));
  EXPECT_THAT(recorded(id, Intervention::kSteer), ElementsAre("be brief"));

  auto opened = runtime_->open_session(id, agent);
  ASSERT_TRUE(opened);
  const auto answer = wait_for_answer(*elsewhere_, *letter, 20s);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(std::holds_alternative<Delivered>(*answer));
  EXPECT_EQ(opened->comment(), "hi");
  EXPECT_EQ(opened->status(), SessionStatus::kAwaitingUser) << "an order carries nothing on by itself";
}

TEST_F(MailTest, ThatIsNoOrder_IsAnsweredWithTheReason) {
  Session session = start(speaker());
  ASSERT_TRUE(session.ask("go"));
  const auto letter = elsewhere_->post(session.session_id(), "hello", {5});
  ASSERT_TRUE(letter);
  const auto answer = wait_for_answer(*elsewhere_, *letter, 20s);
  ASSERT_TRUE(answer);
  ASSERT_TRUE(std::holds_alternative<Refused>(*answer));
  EXPECT_THAT(std::get<Refused>(*answer).reason, HasSubstr("JSON"));
  EXPECT_FALSE(send_order(*elsewhere_, other_->environment(), SessionId("nobody"), Acts{{}}));
  EXPECT_FALSE(send_order(*elsewhere_, other_->environment(), session.session_id(),
                          Acts{{Intervention::kRewind, "t1"}}));
}

/// As if the owner of a session went away between the moment when it was asked for and its next look at mail.
class GoesAway final : public ForwardingJournal {
 public:
  GoesAway(std::shared_ptr<Journal> inner, Journal& owner, Lease lease)
      : ForwardingJournal(std::move(inner)), owner_(owner), lease_(std::move(lease)) {}
  Result<MailId> post(const SessionId& to, std::string body, UnixMillis now) override {
    auto mail = ForwardingJournal::post(to, std::move(body), now);
    owner_.release(lease_);
    return mail;
  }

 private:
  Journal& owner_;
  const Lease lease_;
};

TEST_F(MailTest, ToAnOwnerThatGoesAway_IsWrittenToTheLogOnce) {
  SessionId id;
  {
    Session session = start(speaker());
    ASSERT_TRUE(session.ask("go"));
    id = session.session_id();
    ASSERT_TRUE(session.close());
  }
  const auto give_late = [&](const Order& order) {
    auto lease = journal_->acquire(id, false);
    while (!lease) lease = journal_->acquire(id, false);
    GoesAway journal(elsewhere_, *journal_, *lease);
    return give_order(journal, other_->environment(), id, order, 20s);
  };
  const auto delivered = give_late(Acts{{Intervention::kSteer, "be brief"}});
  ASSERT_TRUE(delivered);
  EXPECT_TRUE(std::holds_alternative<Delivered>(*delivered));
  EXPECT_THAT(recorded(id, Intervention::kSteer), ElementsAre("be brief"));
  const auto refused = give_late(Ruling{ParkId{"p9"}, allow()});
  ASSERT_TRUE(refused && std::holds_alternative<Refused>(*refused));
  EXPECT_THAT(std::get<Refused>(*refused).reason, HasSubstr("nothing is parked"));
  EXPECT_TRUE(elsewhere_->mail_for(id)->empty()) << "nothing is left to carry out";
}

TEST_F(MailTest, WaitingForAnAnswer_CanBeStopped) {
  Session session = start(speaker());
  ASSERT_TRUE(session.ask("go"));
  const auto letter = send_order(*elsewhere_, other_->environment(), session.session_id(), Acts{{}});
  std::stop_source stop;
  stop.request_stop();
  ASSERT_TRUE(wait_for_answer(*elsewhere_, *letter, 24h, stop.get_token()));
}

// ---- decisions across the tree

TEST_F(MailTest, AStepThreeLevelsDown_IsDecidedFromAnotherProcess) {
  Session root = start(chain(3, asker()));
  const auto waiting = root.ask("go");
  ASSERT_TRUE(waiting);
  ASSERT_EQ(waiting->pending.size(), 1U);
  const ParkId park = waiting->pending[0].id;
  const SessionId leaf = waiting->pending[0].session;
  EXPECT_EQ(park, qualified_id(leaf, ParkId{"p1"}));
  EXPECT_THAT(refusal(leaf, Ruling{park, ask("what?")}), HasSubstr("is none for it"));
  EXPECT_TRUE(delivered(leaf, Ruling{park, edit(R"({"text":"good bye"})")}));
  ASSERT_TRUE(eventually([&] { return root.status() == SessionStatus::kCompleted; }));
  EXPECT_EQ(result_for(runtime_->agent_state(leaf)->history, "e").text, "good bye");
  EXPECT_THAT(refusal(leaf, Ruling{park, allow()}), HasSubstr("nothing is parked"));
}

TEST_F(MailTest, AStepThreeLevelsDown_IsDecidedWhileEverythingSleeps) {
  SessionId id;
  ParkedStep step;
  {
    Session root = start(chain(3, asker()));
    const auto waiting = root.ask("go");
    ASSERT_TRUE(waiting && waiting->pending.size() == 1);
    id = root.session_id();
    step = waiting->pending[0];
    runtime_.reset();  // as if the process had died
  }
  const auto decided = [&] { return fold(*read_records(*elsewhere_, step.session))->parked.empty(); };
  EXPECT_FALSE(decided());
  EXPECT_TRUE(delivered(step.session, Ruling{step.id, allow()}));
  EXPECT_TRUE(decided());
  use_runtime({});
  Agent again = chain(3, asker());
  const auto result = again.runtime(runtime_).resume(id);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success);
  EXPECT_EQ(result_for(runtime_->agent_state(step.session)->history, "e").text, "hello");
}

TEST_F(MailTest, ResumingWithDecisionsOnStepsBelow_MakesThemAllOrNone) {
  SessionId id;
  std::vector<ParkedStep> steps;
  {
    Session root = start(chain(2, asker(), 2));
    const auto waiting = root.ask("go");
    ASSERT_TRUE(waiting);
    id = root.session_id();
    steps = waiting->pending;
    ASSERT_EQ(steps.size(), 4U);
    runtime_.reset();
  }
  use_runtime({});
  Agent again = chain(2, asker(), 2);
  Decisions all;
  for (const ParkedStep& step : steps) all.emplace_back(step.id, allow());
  Decisions wrong = all;
  wrong.emplace_back(qualified_id(steps[0].session, ParkId{"p9"}), allow());
  const auto refused = again.runtime(runtime_).resume(id, wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("p9"));
  for (const ParkedStep& step : steps) {
    EXPECT_EQ(fold(*read_records(*journal_, step.session))->parked.size(), 1U);
  }
  all.back().second = deny("not that one");
  const auto result = again.runtime(runtime_).resume(id, all);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success) << to_json_text(to_json(*result));
  EXPECT_TRUE(result->pending.empty());
}

TEST_F(MailTest, CarryingOnALiveTree_WaitsForWhatTheDecisionsComeTo) {
  Session root = start(chain(3, asker(), 2));
  auto result = root.ask("go");
  ASSERT_TRUE(result);
  ASSERT_EQ(result->pending.size(), 8U);
  while (!result->pending.empty()) {
    const std::size_t before = result->pending.size();
    Decisions two;
    for (std::size_t i = 0; i < 2 && i < before; ++i) two.emplace_back(result->pending[i].id, allow());
    result = root.carry_on(two).result();
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->pending.size(), before - two.size());
  }
  EXPECT_TRUE(result->success);
}

TEST_F(MailTest, ADecision_IsForStepsOfThisSessionAndThoseBelow) {
  Session root = start(chain(1, asker()));
  Session stranger = start(asker());
  const auto waiting = root.ask("go");
  const auto elsewhere = stranger.ask("go");
  ASSERT_TRUE(waiting && elsewhere);
  const ParkId theirs = qualified_id(stranger.session_id(), elsewhere->pending[0].id);
  const Status refused = root.decide(theirs, allow());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is not below"));
  EXPECT_TRUE(stranger.decide(theirs, allow())) << "the qualified id of its own step is good too";
  EXPECT_FALSE(
      root.carry_on({{waiting->pending[0].id, allow()}, {waiting->pending[0].id, allow()}}).result());
}

}  // namespace
}  // namespace praxis::testing
