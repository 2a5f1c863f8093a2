#include "engines/restate/engine_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "base/testing/manual_clock.hpp"
#include "engines/restate/restate_journal.hpp"
#include "engines/restate/testing/fake_engine.hpp"
#include "journal/testing/forwarding_journal.hpp"

namespace praxis::restate {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeEngine;
using ::testing::HasSubstr;

const SessionId kRoot("root"), kChild("child");

/// Fails appends as long as `is_full`.
class FullJournal final : public praxis::testing::ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  void append(Append append, AppendDone done) override {
    if (!is_full) return inner().append(std::move(append), std::move(done));
    done(fail(ErrorCode::kJournal, ErrorKind::kFull, "the disk is full"));
  }
  bool is_full = false;
};

class RestateLog : public ::testing::Test {
 protected:
  RestateLog() { open(store_); }

  /// A process, whose journal has what `store` has.
  void open(std::shared_ptr<Journal> store) {
    log_ = std::make_shared<EngineLog>(store, executor_, std::make_shared<ManualClock>(executor_));
    journal_ = restate_journal(std::move(store), log_);
    const auto note = [this](const std::string& what) {
      return [this, what](const SessionId& root) { asked_.push_back(what + ' ' + root.str()); };
    };
    log_->connect({note("invoke"), note("wake"), note("resume"), note("interrupt"),
                   [this](const std::string& text) { warnings_ += text; }});
  }

  /// What a session appends next; its number in `done_` once it is durable, -1 if it failed.
  void append(const Lease& lease, std::uint64_t expected, const std::string& kind, const std::string& status,
              const std::optional<SessionId>& parent = std::nullopt) {
    Append append;
    append.lease = lease;
    append.expected_seq = expected;
    append.entries = {{kind, UnixMillis{static_cast<std::int64_t>(expected) + 1}, "{}"}};
    append.row.status = status;
    append.row.parent = parent;
    journal_->append(std::move(append), [this](const Result<std::uint64_t>& last) {
      done_.push_back(last ? static_cast<std::int64_t>(*last) : -1);
      if (!last) error_ = last.error();
    });
  }
  Lease begin(const SessionId& session = kRoot) { return *journal_->create(session, UnixMillis{1}); }

  /// One request of the engine; returns what it gets, now or later.
  const std::string& ask(const Invocation& invocation) {
    std::string& answer = answers_.emplace_back();
    log_->take(invocation, [&answer](std::string bytes) { answer = std::move(bytes); });
    return answer;
  }
  /// The engine asks and takes the answer, until it holds a request, suspends without a batch, or ends.
  void run(FakeEngine& engine) {
    for (std::size_t batches = engine.batches() + 1; batches != engine.batches();) {
      batches = engine.batches();
      const std::string& answer = ask(engine.request());
      if (!answer.empty()) engine.take(answer);
    }
  }
  std::vector<std::string> kinds(Journal& journal, const SessionId& session = kRoot) {
    std::vector<std::string> kinds;
    for (const Entry& entry : journal.read(session, 1, 0).value_or(std::vector<Entry>{}))
      kinds.push_back(entry.kind);
    return kinds;
  }

  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>();
  std::deque<std::string> answers_;  // to requests
  std::vector<std::string> asked_;   // what the log asked for
  std::vector<std::int64_t> done_;
  Error error_;
  std::string warnings_;
  std::shared_ptr<Journal> store_ = memory_journal();
  std::shared_ptr<EngineLog> log_;
  std::shared_ptr<Journal> journal_;
  FakeEngine engine_{"root"};
};

TEST_F(RestateLog, AppendIsDurableOnceTheEngineAsksAgain) {
  append(begin(), 0, "a", "running");
  EXPECT_THAT(asked_, ElementsAre("wake root", "invoke root"));
  engine_.take(ask(engine_.request()));
  EXPECT_THAT(done_, ElementsAre());
  EXPECT_THAT(kinds(*store_), ElementsAre());
  ask(engine_.request());
  EXPECT_THAT(done_, ElementsAre(1));
  EXPECT_THAT(kinds(*store_), ElementsAre("a"));
  EXPECT_EQ(asked_.size(), 2U);
}

TEST_F(RestateLog, EndsTheInvocationWithTheTurn) {
  const Lease lease = begin();
  append(lease, 0, "a", "running");
  append(lease, 1, "b", "completed");
  run(engine_);
  EXPECT_EQ(engine_.end(), FakeEngine::End::kEnded);
  EXPECT_EQ(engine_.batches(), 1U);  // both waited for the first request
  EXPECT_THAT(done_, ElementsAre(1, 2));
  append(lease, 2, "c", "running");  // the next turn is another invocation
  EXPECT_THAT(asked_, ElementsAre("wake root", "invoke root", "wake root", "invoke root"));
}

TEST_F(RestateLog, HoldsARequestAndSuspendsWithoutHoldingAnything) {
  const Lease lease = begin();
  append(lease, 0, "a", "running");
  run(engine_);
  const std::string& answer = ask(engine_.request());
  EXPECT_EQ(answer, "");
  executor_->advance(20s);
  ASSERT_NE(answer, "");
  engine_.take(answer);
  EXPECT_EQ(engine_.end(), FakeEngine::End::kSuspended);
  asked_.clear();
  append(lease, 1, "b", "completed");
  EXPECT_THAT(asked_, ElementsAre("wake root"));
  engine_.signal(kFirstAwakeable);
  run(engine_);
  EXPECT_EQ(engine_.end(), FakeEngine::End::kEnded);
  EXPECT_THAT(done_, ElementsAre(1, 2));
}

TEST_F(RestateLog, CountsWhatTheEngineDoes) {
  const EngineCounts& counts = *log_->counts();
  const Lease lease = begin();
  append(lease, 0, "a", "running");
  engine_.take(ask(engine_.request()));
  EXPECT_EQ(counts.log_bytes, 0U);  // the engine may not have taken it
  const std::string& answer = ask(engine_.request());
  const std::uint64_t first = counts.log_bytes;
  EXPECT_GT(first, 0U);
  EXPECT_EQ(counts.largest_log, first);
  executor_->advance(20s);
  engine_.take(answer);
  EXPECT_EQ(counts.suspended, 1U);
  append(lease, 1, "b", "completed");
  engine_.signal(kFirstAwakeable);
  run(engine_);
  EXPECT_EQ(counts.begun, 1U);
  EXPECT_EQ(counts.ended, 1U);
  EXPECT_EQ(counts.suspended, 1U);
  EXPECT_EQ(counts.held_back, 0U);
  EXPECT_EQ(counts.largest_log, counts.log_bytes);
  EXPECT_GT(counts.log_bytes, first);
}

TEST_F(RestateLog, CountsAnswersThatTheGuardHoldsBack) {
  append(begin(), 0, "a", "running");
  Invocation invocation = engine_.request();
  invocation.has_output = true;  // so that nothing but an end may follow
  EXPECT_THAT(ask(invocation), HasSubstr("a frame after the output"));
  EXPECT_EQ(log_->counts()->held_back, 1U);
}

TEST_F(RestateLog, SuspendsAtOnceForAPerson) {
  append(begin(), 0, "a", "awaiting_user");
  run(engine_);
  EXPECT_EQ(engine_.end(), FakeEngine::End::kSuspended);
  EXPECT_TRUE(engine_.request().open_sleep);
  EXPECT_FALSE(engine_.request().awakeable.empty() && engine_.request().next_completion == 1);
}

TEST_F(RestateLog, OffersAgainWhatTheEngineDidNotTake) {
  append(begin(), 0, "a", "running");
  ask(engine_.request());  // the answer never arrives
  run(engine_);
  EXPECT_THAT(done_, ElementsAre(1));
  EXPECT_THAT(kinds(*store_), ElementsAre("a"));
  EXPECT_EQ(engine_.batches(), 1U);
}

TEST_F(RestateLog, AnnouncesAgainWhatTheEngineDoesNotAskFor) {
  append(begin(), 0, "a", "running");
  asked_.clear();
  executor_->advance(9s);
  EXPECT_THAT(asked_, ElementsAre());
  executor_->advance(10s);
  EXPECT_THAT(asked_, ElementsAre("wake root", "invoke root"));
}

TEST_F(RestateLog, SubAgentsAreInTheInvocationOfTheirRoot) {
  const Lease root = begin(), child = begin(kChild);
  append(root, 0, "a", "running", SessionId{});
  append(child, 0, "b", "running", kRoot);
  append(child, 1, "c", "completed");
  run(engine_);
  EXPECT_THAT(kinds(*store_), ElementsAre("a"));
  EXPECT_THAT(kinds(*store_, kChild), ElementsAre("b", "c"));
  EXPECT_THAT(asked_, ElementsAre("wake root", "invoke root"));
  EXPECT_EQ(store_->session(kChild)->parent, kRoot);
}

TEST_F(RestateLog, ReleasesALeaseAfterItsAppends) {
  const Lease lease = begin();
  append(lease, 0, "a", "running");
  journal_->release(lease);
  engine_.take(ask(engine_.request()));
  ask(engine_.request());
  EXPECT_THAT(done_, ElementsAre(1));
  EXPECT_FALSE(store_->session(kRoot)->held);
}

// ---- crashes

TEST_F(RestateLog, NewProcessStoresWhatTheEngineHoldsAndContinues) {
  const Lease lease = begin();
  append(lease, 0, "a", "running");
  append(lease, 1, "b", "running");
  engine_.take(ask(engine_.request()));  // and the process dies
  for (const bool is_same_machine : {false, true, true}) {
    if (!is_same_machine) store_ = memory_journal();
    asked_.clear();
    open(store_);
    ask(engine_.request());
    EXPECT_THAT(kinds(*store_), ElementsAre("a", "b"));
    EXPECT_THAT(asked_, ElementsAre("resume root"));
    EXPECT_FALSE(store_->session(kRoot)->held);
  }
  const Lease again = *journal_->acquire(kRoot);
  append(again, 2, "c", "completed");
  engine_.take(answers_.back());
  run(engine_);
  EXPECT_EQ(engine_.end(), FakeEngine::End::kEnded);
  EXPECT_THAT(kinds(*store_), ElementsAre("a", "b", "c"));
}

TEST_F(RestateLog, SessionThatMissedRecordsLosesItsLease) {
  append(begin(), 0, "a", "running");
  run(engine_);
  const FakeEngine before = engine_;
  append({kRoot, 1}, 1, "b", "running");
  engine_.take(answers_.back());  // the process dies before its journal has "b"
  store_ = memory_journal();
  open(store_);
  ask(before.request());
  const Lease stale = *journal_->acquire(kRoot);
  append(stale, 1, "other", "running");
  done_.clear();
  ask(engine_.request());
  EXPECT_THAT(done_, ElementsAre(-1));
  EXPECT_EQ(error_.kind(), ErrorKind::kLeaseLost);
  EXPECT_THAT(kinds(*store_), ElementsAre("a", "b"));
}

TEST_F(RestateLog, RefusesAJournalWithOtherRecords) {
  append(begin(), 0, "a", "running");
  run(engine_);
  store_ = memory_journal();
  open(store_);
  FakeEngine other("root", 'o');
  append(begin(), 0, "z", "running");
  run(other);
  ask(other.request());
  engine_.take(ask(engine_.request()));
  EXPECT_EQ(engine_.end(), FakeEngine::End::kRefused);
  EXPECT_THAT(warnings_, HasSubstr("the journal differs from record 1 of the engine"));
  EXPECT_THAT(kinds(*store_), ElementsAre("z"));
}

TEST_F(RestateLog, JournalThatIsFullGetsTheRecordsLater) {
  const auto full = std::make_shared<FullJournal>(store_);
  open(full);
  const Lease lease = begin();
  append(lease, 0, "a", "running");
  engine_.take(ask(engine_.request()));
  full->is_full = true;
  engine_.take(ask(engine_.request()));
  EXPECT_EQ(engine_.end(), FakeEngine::End::kRefused);
  EXPECT_THAT(done_, ElementsAre(-1));
  journal_->release(lease);
  full->is_full = false;
  ask(engine_.request());
  EXPECT_THAT(kinds(*store_), ElementsAre("a"));
  EXPECT_EQ(asked_.back(), "resume root");
}

// ---- what the engine's operator and clients of its ingress do

TEST_F(RestateLog, CancellationInterruptsOnce) {
  append(begin(), 0, "a", "running");
  run(engine_);
  engine_.signal(kCancelSignal);
  asked_.clear();
  ask(engine_.request());
  ask(engine_.request());
  EXPECT_THAT(asked_, ElementsAre("interrupt root"));
}

TEST_F(RestateLog, InvocationOfAnUnknownRunEnds) {
  FakeEngine unknown("nothing");
  run(unknown);
  EXPECT_EQ(unknown.end(), FakeEngine::End::kEnded);
  EXPECT_THAT(asked_, ElementsAre());
}

TEST_F(RestateLog, KilledInvocationIsFollowedByAnother) {
  const Lease lease = begin();
  append(lease, 0, "a", "running");
  run(engine_);
  append(lease, 1, "b", "running");
  executor_->advance(30s);  // nothing asks for "b"
  FakeEngine second("root", 's');
  run(second);
  EXPECT_THAT(done_, ElementsAre(1, 2));
  EXPECT_EQ(second.batches(), 1U);
}

TEST_F(RestateLog, AppendThatIsLargerThanAMessageFails) {
  Append append;
  append.lease = begin();
  append.entries = {{"a", UnixMillis{1}, std::string(32UL * 1024 * 1024, 'x')}};
  journal_->append(std::move(append), [this](const Result<std::uint64_t>& last) { error_ = last.error(); });
  EXPECT_EQ(error_.kind(), ErrorKind::kFull);
}

TEST_F(RestateLog, StopFailsWhatWaits) {
  append(begin(), 0, "a", "running");
  journal_.reset();
  EXPECT_THAT(done_, ElementsAre(-1));
  EXPECT_EQ(error_.kind(), ErrorKind::kIo);
  engine_.take(ask(engine_.request()));
  EXPECT_EQ(engine_.end(), FakeEngine::End::kRefused);
}

}  // namespace
}  // namespace praxis::restate
