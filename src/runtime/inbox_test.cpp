// Requests through inboxes: from a process that does not own a session to its owner.
#include <gmock/gmock.h>

#include "praxis/core/state.hpp"
#include "runtime/inbox_watcher.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SessionId kTarget("s");

TEST(InboxRequests, ComeBackFromTheirJsonForm) {
  const InboxRequest requests[] = {
      Commands{{CommandVerb::kInterrupt, kTarget}},
      Commands{{CommandVerb::kPause, kTarget, "lunch"}, {CommandVerb::kAnnotate, kTarget, "back at one"}},
      Commands{{CommandVerb::kUnpause, kTarget},
               {CommandVerb::kSteer, kTarget, "s"},
               {CommandVerb::kEnqueue, kTarget, "e"}},
      Commands{{CommandVerb::kDelete, kTarget}},
      Commands{{CommandVerb::kModify, kTarget, "m"}},
      StepApproval{kTarget, ParkId{"p1"}, approve(), {"ada", Surface::kCli}},
      StepApproval{kTarget, ParkId{"p2"}, reject("no"), {"me", Surface::kUnknown}},
      StepApproval{kTarget, ParkId{"p3"}, edit(R"({"a":1})")},
      StepApproval{kTarget, ParkId{"p4"}, answer("Paris")},
  };
  for (const InboxRequest& request : requests) {
    const auto back = request_from_json(to_json(request), kTarget);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json(*back), to_json(request));
    EXPECT_EQ(target_of(*back), kTarget);
  }
  EXPECT_EQ(to_json_text(to_json(requests[0])), R"({"commands":[{"verb":"interrupt","surface":"library"}]})");
  EXPECT_EQ(to_json_text(to_json(requests[4])),
            R"({"commands":[{"verb":"modify","text":"m","surface":"library"}]})");
  EXPECT_EQ(to_json_text(to_json(requests[5])), R"({"verb":"allow","by":"ada","surface":"cli","park":"p1"})");
}

TEST(InboxRequests, OlderForm_IsReadAsBefore) {
  const auto request = request_from_json(
      *parse_json(R"({"acts":[{"verb":"stop"},{"verb":"resume"},{"verb":"steer","text":"x"}]})"), kTarget);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(to_json_text(to_json(*request)),
            R"({"commands":[{"verb":"interrupt"},{"verb":"unpause"},{"verb":"steer","text":"x"}]})");
  const auto approval =
      request_from_json(*parse_json(R"({"verb":"deny","text":"no","park":"p2","by":"me"})"), kTarget);
  ASSERT_TRUE(approval) << approval.error().message;
  EXPECT_EQ(std::get<StepApproval>(*approval).approval, reject("no"));
  EXPECT_EQ(std::get<StepApproval>(*approval).author, (Author{"me", Surface::kUnknown}));
}

TEST(InboxRequests, InvalidOnes_SayWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "must be JSON"},
      {"[]", "needs \"commands\" or \"park\""},
      {R"({"commands":[]})", "1 to 8 commands"},
      {R"({"commands":[{},{},{},{},{},{},{},{},{}]})", "not 9"},
      {R"({"commands":[{"verb":"set_agent"}]})", "no verb \"set_agent\""},
      {R"({"commands":[{"verb":"resume"}]})", "no verb \"resume\""},
      {R"({"park":"p1","verb":"perhaps"})", "no verb \"perhaps\""},
  };
  for (const auto& [body, why] : cases) {
    const auto request = request_of({1, kTarget, {5}, body});
    ASSERT_FALSE(request) << body;
    EXPECT_THAT(request.error().message, HasSubstr(why));
  }
}

class CommandInboxTest : public SharedTrees {
 protected:
  Delivery give(const InboxRequest& request) {
    const auto answer = deliver(*elsewhere_, other_->environment(), request, 20s);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(Queued{});
  }
  bool delivered(const InboxRequest& request) { return std::holds_alternative<Delivered>(give(request)); }
  std::string refusal(const InboxRequest& request) {
    const Delivery answer = give(request);
    const auto* refused = std::get_if<Refused>(&answer);
    return refused == nullptr ? "" : refused->reason;
  }
};

TEST_F(CommandInboxTest, ASecondWriter_LearnsWhoOwnsTheSession) {
  BlockedTool slow;
  Agent agent = stuck(slow);
  Session session = start(agent);
  auto run = session.send_user_message("go");
  slow.entered->wait();
  const auto second = other_->open_session(session.session_id(), agent);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::kLeaseHeld);
  slow.release->open();
  ASSERT_TRUE(run.report());
}

TEST_F(CommandInboxTest, ASecondWriterByForce_TakesTheSubAgentsAsWell) {
  BlockedTool slow;
  Agent agent = chain(1, stuck(slow));
  Session root = start(agent);
  auto run = root.send_user_message("go");
  slow.entered->wait();
  auto taken = other_->open_session(root.session_id(), agent, true);
  ASSERT_TRUE(taken) << taken.error().message;
  slow.release->open();
  const auto doubts = taken->resume().report();
  ASSERT_TRUE(doubts) << doubts.error().message;
  ASSERT_EQ(doubts->pending.size(), 1U) << "the call of the sub-agent may have run";
  const auto result = taken->resume({{doubts->pending[0].id, approve()}}).report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result_for(taken->history(), "c0").text, "late");
  const auto lost = run.report();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind(), ErrorKind::kLeaseLost);
}

TEST_F(CommandInboxTest, Commands_AreCarriedOutByTheOwner) {
  BlockedTool slow;
  Session root = start(chain(1, stuck(slow)));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const SessionId leaf = tree()[1].id;
  EXPECT_TRUE(
      delivered(Commands{{CommandVerb::kAnnotate, leaf, "seen"}, {CommandVerb::kModify, leaf, "Rome"}}));
  EXPECT_TRUE(eventually([&] { return tree()[1].comment == "seen"; }));
  EXPECT_EQ(tree()[1].status, SessionStatus::kModified);
  EXPECT_THAT(refusal(Commands{{CommandVerb::kUnpause, leaf}}), HasSubstr("not paused"));
  EXPECT_TRUE(delivered(Commands{{CommandVerb::kPause, leaf}}));
  EXPECT_TRUE(eventually([&] { return tree()[1].paused; }));
  EXPECT_TRUE(other_->command({{CommandVerb::kUnpause, leaf}}));
  EXPECT_TRUE(delivered(Commands{{CommandVerb::kDelete, leaf}}));
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_EQ(tree()[1].status, SessionStatus::kDeleted);
  EXPECT_THAT(recorded(leaf, CommandVerb::kModify), ElementsAre("Rome"));
}

TEST_F(CommandInboxTest, RequestToAnUnownedSession_WaitsOrIsWrittenToItsLog) {
  SessionId id;
  Agent agent = asker();
  {
    Session session = start(agent);
    ASSERT_TRUE(session.ask("go"));
    id = session.session_id();
  }
  ASSERT_TRUE(eventually([&] { return tree().empty(); }));
  const auto message =
      post_request(elsewhere_->inbox(), other_->environment(), Commands{{CommandVerb::kAnnotate, id, "hi"}});
  ASSERT_TRUE(message);
  const auto waits = wait_for_delivery(elsewhere_->inbox(), *message, 0ms);
  ASSERT_TRUE(waits);
  EXPECT_TRUE(std::holds_alternative<Queued>(*waits));
  EXPECT_TRUE(delivered(Commands{{CommandVerb::kSteer, id, "be brief"}}));
  EXPECT_THAT(recorded(id, CommandVerb::kSteer), ElementsAre("be brief"));

  auto opened = runtime_->open_session(id, agent);
  ASSERT_TRUE(opened);
  const auto answer = wait_for_delivery(elsewhere_->inbox(), *message, 20s);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(std::holds_alternative<Delivered>(*answer));
  EXPECT_EQ(opened->comment(), "hi");
  EXPECT_EQ(opened->status(), SessionStatus::kAwaitingUser) << "a command alone resumes no turn";
}

TEST_F(CommandInboxTest, InvalidMessage_IsAnsweredWithTheReason) {
  Session session = start(speaker());
  ASSERT_TRUE(session.ask("go"));
  const auto message = elsewhere_->inbox().post(session.session_id(), "hello", {5});
  ASSERT_TRUE(message);
  const auto answer = wait_for_delivery(elsewhere_->inbox(), *message, 20s);
  ASSERT_TRUE(answer);
  ASSERT_TRUE(std::holds_alternative<Refused>(*answer));
  EXPECT_THAT(std::get<Refused>(*answer).reason, HasSubstr("JSON"));
  EXPECT_FALSE(post_request(elsewhere_->inbox(), other_->environment(),
                            Commands{{CommandVerb::kAnnotate, SessionId("unknown")}}));
  EXPECT_FALSE(post_request(elsewhere_->inbox(), other_->environment(),
                            Commands{{CommandVerb::kRewind, session.session_id(), "t1"}}));
}

/// Simulates an owner that releases the session after the sender found the lease held, and before it reads
/// its inbox again.
class GoesAway final : public ForwardingJournal {
 public:
  GoesAway(std::shared_ptr<Journal> inner, Journal& owner, Lease lease)
      : ForwardingJournal(std::move(inner)), owner_(owner), lease_(std::move(lease)) {}
  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) override {
    auto posted = ForwardingJournal::post(to, std::move(body), now);
    owner_.release(lease_);
    return posted;
  }

 private:
  Journal& owner_;
  const Lease lease_;
};

TEST_F(CommandInboxTest, RequestToAnOwnerThatGoesAway_IsWrittenToTheLogOnce) {
  SessionId id;
  {
    Session session = start(speaker());
    ASSERT_TRUE(session.ask("go"));
    id = session.session_id();
    ASSERT_TRUE(session.close());
  }
  const auto give_late = [&](const InboxRequest& request) {
    auto lease = journal_->acquire(id, false);
    while (!lease) lease = journal_->acquire(id, false);
    GoesAway journal(elsewhere_, *journal_, *lease);
    return deliver(journal, other_->environment(), request, 20s);
  };
  const auto delivered = give_late(Commands{{CommandVerb::kSteer, id, "be brief"}});
  ASSERT_TRUE(delivered);
  EXPECT_TRUE(std::holds_alternative<Delivered>(*delivered));
  EXPECT_THAT(recorded(id, CommandVerb::kSteer), ElementsAre("be brief"));
  const auto refused = give_late(StepApproval{id, ParkId{"p9"}, approve()});
  ASSERT_TRUE(refused && std::holds_alternative<Refused>(*refused));
  EXPECT_THAT(std::get<Refused>(*refused).reason, HasSubstr("nothing is parked"));
  EXPECT_TRUE(elsewhere_->inbox().messages_for(id)->empty()) << "nothing is left to carry out";
}

TEST_F(CommandInboxTest, WaitingForTheDelivery_CanBeStopped) {
  Session session = start(speaker());
  ASSERT_TRUE(session.ask("go"));
  const auto message = post_request(elsewhere_->inbox(), other_->environment(),
                                    Commands{{CommandVerb::kAnnotate, session.session_id()}});
  std::stop_source stop;
  stop.request_stop();
  ASSERT_TRUE(wait_for_delivery(elsewhere_->inbox(), *message, 24h, stop.get_token()));
}

// ---- approvals across the tree

TEST_F(CommandInboxTest, AStepThreeLevelsDown_IsDecidedFromAnotherProcess) {
  Session root = start(chain(3, asker()));
  const auto waiting = root.ask("go");
  ASSERT_TRUE(waiting);
  ASSERT_EQ(waiting->pending.size(), 1U);
  const ParkId park = waiting->pending[0].id;
  const SessionId leaf = waiting->pending[0].session;
  EXPECT_EQ(park, qualified_id(leaf, ParkId{"p1"}));
  EXPECT_THAT(refusal(StepApproval{leaf, park, answer("what?")}), HasSubstr("is not one of them"));
  EXPECT_TRUE(delivered(StepApproval{leaf, park, edit(R"({"text":"good bye"})")}));
  ASSERT_TRUE(eventually([&] { return root.status() == SessionStatus::kCompleted; }));
  EXPECT_EQ(result_for(runtime_->agent_state(leaf)->history, "e").text, "good bye");
  EXPECT_THAT(refusal(StepApproval{leaf, park, approve()}), HasSubstr("nothing is parked"));
}

TEST_F(CommandInboxTest, AStepThreeLevelsDown_IsDecidedWhileNoSessionIsActive) {
  SessionId id;
  ParkedStep step;
  {
    Session root = start(chain(3, asker()));
    const auto waiting = root.ask("go");
    ASSERT_TRUE(waiting && waiting->pending.size() == 1);
    id = root.session_id();
    step = waiting->pending[0];
    runtime_.reset();  // simulates the death of the process
  }
  const auto decided = [&] { return fold(*read_records(*elsewhere_, step.session))->parked.empty(); };
  EXPECT_FALSE(decided());
  EXPECT_TRUE(delivered(StepApproval{step.session, step.id, approve()}));
  EXPECT_TRUE(decided());
  use_runtime({});
  Agent again = chain(3, asker());
  const auto result = again.runtime(runtime_).resume(id);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success);
  EXPECT_EQ(result_for(runtime_->agent_state(step.session)->history, "e").text, "hello");
}

TEST_F(CommandInboxTest, ResumingWithApprovalsOfStepsBelow_MakesThemAllOrNone) {
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
  Approvals all;
  for (const ParkedStep& step : steps) all.emplace_back(step.id, approve());
  Approvals wrong = all;
  wrong.emplace_back(qualified_id(steps[0].session, ParkId{"p9"}), approve());
  const auto refused = again.runtime(runtime_).resume(id, wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("p9"));
  for (const ParkedStep& step : steps) {
    EXPECT_EQ(fold(*read_records(*journal_, step.session))->parked.size(), 1U);
  }
  all.back().second = reject("not that one");
  const auto result = again.runtime(runtime_).resume(id, all);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success) << to_json_text(to_json(*result));
  EXPECT_TRUE(result->pending.empty());
}

TEST_F(CommandInboxTest, ResumingALiveTree_WaitsForTheResultOfTheApprovals) {
  Session root = start(chain(3, asker(), 2));
  auto result = root.ask("go");
  ASSERT_TRUE(result);
  ASSERT_EQ(result->pending.size(), 8U);
  while (!result->pending.empty()) {
    const std::size_t before = result->pending.size();
    Approvals two;
    for (std::size_t i = 0; i < 2 && i < before; ++i) two.emplace_back(result->pending[i].id, approve());
    result = root.resume(two).report();
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->pending.size(), before - two.size());
  }
  EXPECT_TRUE(result->success);
}

TEST_F(CommandInboxTest, AnApproval_IsForStepsOfThisSessionAndThoseBelow) {
  Session root = start(chain(1, asker()));
  Session stranger = start(asker());
  const auto waiting = root.ask("go");
  const auto elsewhere = stranger.ask("go");
  ASSERT_TRUE(waiting && elsewhere);
  const ParkId theirs = qualified_id(stranger.session_id(), elsewhere->pending[0].id);
  const Status refused = root.decide(theirs, approve());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is not below"));
  EXPECT_TRUE(stranger.decide(theirs, approve())) << "the qualified id of its own step is good too";
  EXPECT_FALSE(
      root.resume({{waiting->pending[0].id, approve()}, {waiting->pending[0].id, approve()}}).report());
}

}  // namespace
}  // namespace praxis::testing
