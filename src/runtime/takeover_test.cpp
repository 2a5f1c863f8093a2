// What a session may still do after another process has taken it, and after its turn has ended but before
// that end is durable.
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

/// Calls `before` just before a session is created.
class InterruptedBirth final : public ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  Result<Lease> create(const SessionId& session, UnixMillis now) override {
    if (before) std::exchange(before, nullptr)();
    return inner().create(session, now);
  }
  std::function<void()> before;
};

class TakeoverTest : public Trees {
 protected:
  /// True when the log of a session holds such a record.
  template <class Body>
  bool holds(const SessionId& session) {
    const auto records = read_records(*journal_, session);
    return records && std::ranges::any_of(*records, [](const StoredRecord& stored) {
             return std::holds_alternative<Body>(stored.record.body);
           });
  }
};

TEST_F(TakeoverTest, OwnerThatLosesItsSession_MakesNoSubAgent) {
  const auto journal = std::make_shared<InterruptedBirth>(journal_);
  RuntimeOptions options;
  options.journal = journal;
  const auto stale = Runtime::create(std::move(options));
  const Agent agent = chain(1, speaker());
  auto session = stale->create_session(agent);
  ASSERT_TRUE(session) << session.error().message;
  // The sub-agent is recorded but not created yet.
  journal->before = [&] { EXPECT_TRUE(runtime_->open_session(session->session_id(), agent, true)); };
  const auto late = session->ask("go");
  EXPECT_EQ(kind_of(late), "lease_lost");
  EXPECT_TRUE(holds<records::ChildSpawned>(session->session_id()));
  EXPECT_TRUE(journal_->children(session->session_id())->empty());
}

TEST_F(TakeoverTest, RunThatEndedMeanwhile_IsNotOpenedAsUnfinished) {
  const Agent agent = chain(0, speaker());
  const SessionId id = [&] {
    Session session = start(agent);
    EXPECT_TRUE(session.ask("go"));
    EXPECT_EQ(kind_of(runtime_->open_unfinished(session.session_id(), agent)), "conflict")
        << "while it is open";
    return session.session_id();
  }();
  const auto before = read_records(*journal_, id);
  ASSERT_TRUE(before) << before.error().message;
  Agent other = agent;
  other.instructions("Be brief.");
  const auto opened = runtime_->open_unfinished(id, other);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind(), ErrorKind::kConflict);
  EXPECT_EQ(read_records(*journal_, id)->size(), before->size()) << "the other agent was recorded";
  EXPECT_TRUE(runtime_->open_session(id, agent)) << "the lease was kept";
}

TEST_F(TakeoverTest, RunThatWaits_IsOpenedAsUnfinished) {
  const Agent agent = chain(1, asker());
  const SessionId id = [&] {
    Session session = start(agent);
    EXPECT_EQ(session.ask("go")->pending.size(), 1U);
    return session.session_id();
  }();
  const auto opened = runtime_->open_unfinished(id, agent);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->status(), SessionStatus::kAwaitingUser);
}

TEST_F(TakeoverTest, ResultOfATurnThatEndedBelow_IsGivenOnceItIsDurable) {
  Session session = start(chain(1, asker()));
  const auto parked = session.ask("go");
  ASSERT_TRUE(parked) << parked.error().message;
  ASSERT_EQ(parked->pending.size(), 1U);
  const SessionId child = journal_->children(session.session_id())->front().id;

  const auto decision = journal_->hold_append(1);
  auto carried = std::async(std::launch::async,
                            [&] { return session.resume({{parked->pending[0].id, approve()}}).report(); });
  ASSERT_TRUE(eventually([&] { return holds<records::Decided>(child); }));
  const auto end = journal_->hold_append(2);  // the first append records the interrupt
  session.interrupt();
  ASSERT_TRUE(eventually([&] { return holds<records::TurnSettled>(session.session_id()); }));
  decision->open();
  EXPECT_EQ(carried.wait_for(300ms), std::future_status::timeout)
      << "the result arrived before it was durable";
  end->open();
  const auto result = carried.get();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::kCancelled);
}

}  // namespace
}  // namespace praxis::testing
