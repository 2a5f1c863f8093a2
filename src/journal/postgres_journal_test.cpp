// What only a PostgreSQL journal promises: several processes and machines, and faults of the server. The
// promises of every journal are in journal_test.cpp, inbox_test.cpp and removal_test.cpp.
#include "praxis/journal/postgres_journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "journal/testing/any_journal.hpp"
#include "journal/testing/cutting_proxy.hpp"
#include "journal/testing/journals.hpp"
#include "journal/testing/postgres_server.hpp"

namespace praxis {
namespace {

using testing::append_now;
using testing::append_of;
using testing::ChildProcess;
using ::testing::HasSubstr;
using testing::kind_of;
using testing::kOther;
using testing::kSession;
using testing::make_session;
using ::testing::Not;
using testing::open_postgres;
using testing::PostgresServer;
using testing::say;

class PostgresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    address_ = PostgresServer::shared()->new_schema();
  }
  /// Runs SQL bypassing the journal.
  void alter(const std::string &sql) const {
    auto connection = PostgresConnection::open(address_, false);
    ASSERT_TRUE(connection);
    const auto done = connection->execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }

  std::string address_;
};

/// A server of its own, which the test may end.
class PostgresServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    server_ = PostgresServer::start_new();
    ASSERT_TRUE(server_);
  }
  std::unique_ptr<PostgresServer> server_;
};

TEST_F(PostgresTest, AddressWithAPassword_IsRefusedAndNotRepeated) {
  for (const std::string address : {"postgres://me:secret@h/d", "postgres://h/d?password=secret",
                                    "postgresql://h/d?user=me&sslpassword=secret"}) {
    EXPECT_TRUE(has_password(address)) << address;
    const auto journal = postgres_journal(address);
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().code, ErrorCode::kInput);
    EXPECT_THAT(journal.error().message, Not(HasSubstr("secret")));
    EXPECT_THAT(journal.error().message, HasSubstr("~/.pgpass"));
  }
  for (const char *address : {"postgres://me@h:5432/d", "postgres:///d?host=/run/x", "postgres://h/d"})
    EXPECT_FALSE(has_password(address)) << address;
}

TEST_F(PostgresTest, PlaceWithoutAJournal_IsNamed) {
  EXPECT_EQ(kind_of(postgres_journal(address_, {.read_only = true})), "not_found");
  EXPECT_EQ(kind_of(postgres_journal(address_, {.create = false})), "not_found");
  const auto nowhere = postgres_journal("postgres:///d?host=/nonexistent");
  EXPECT_EQ(kind_of(nowhere), "io");
  EXPECT_THAT(nowhere.error().message, HasSubstr("/nonexistent"));
}

TEST_F(PostgresTest, ProcessesThatOpenANewDatabaseAtOnce_MakeItsTablesOnce) {
  std::vector<std::jthread> processes;
  for (int i = 0; i < 8; ++i) {
    processes.emplace_back([this] {
      const auto journal = postgres_journal(address_);
      EXPECT_TRUE(journal) << journal.error().message;
    });
  }
}

TEST_F(PostgresTest, NewerFormat_IsRefused) {
  open_postgres(address_);
  alter("UPDATE praxis_format SET version = 99");
  EXPECT_EQ(kind_of(postgres_journal(address_)), "version");
  EXPECT_EQ(kind_of(postgres_journal(address_, {.read_only = true})), "version");
}

TEST_F(PostgresTest, ReadOnly_ReadsAndChangesNothing) {
  const auto writer = open_postgres(address_);
  const auto lease = *writer->create(kSession, {5});
  ASSERT_TRUE(append_now(*writer, append_of(lease, 0, {"1"})));
  const auto reader = open_postgres(address_, {.read_only = true});
  EXPECT_EQ(reader->read(kSession)->size(), 1U);
  EXPECT_TRUE(reader->session(kSession)->held);
  EXPECT_EQ(kind_of(reader->create(kOther, {5})), "read_only");
  EXPECT_EQ(kind_of(reader->acquire(kSession, true)), "read_only");
  EXPECT_EQ(kind_of(append_now(*reader, append_of(lease, 1, {"2"}))), "read_only");
  EXPECT_EQ(kind_of(reader->inbox().post(kSession, "x", {5})), "read_only");
}

TEST_F(PostgresTest, TwoOwners_OnlyTheLastOneWrites) {
  const auto one = open_postgres(address_), other = open_postgres(address_);
  const auto first = make_session(*one, kSession);
  EXPECT_EQ(kind_of(other->create(kSession, {5})), "exists");
  EXPECT_EQ(kind_of(other->acquire(kSession)), "lease_held");
  const auto second = *other->acquire(kSession, true);
  EXPECT_EQ(kind_of(append_now(*one, append_of(first, 0, {"1"}))), "lease_lost");
  EXPECT_TRUE(append_now(*other, append_of(second, 0, {"1"})));
  EXPECT_EQ(one->read(kSession)->size(), 1U);
}

TEST_F(PostgresTest, KilledOwnerOfThisMachine_LosesItsSessionsAtOnce) {
  ChildProcess owner([this](int out) {
    const auto journal = open_postgres(address_);
    const auto lease = make_session(*journal, kSession);
    say(out, append_now(*journal, append_of(lease, 0, {"1"})) ? "appended" : "failed");
    pause();
  });
  ASSERT_EQ(owner.line(), "appended");
  const auto journal = open_postgres(address_);
  EXPECT_EQ(kind_of(journal->acquire(kSession)), "lease_held");
  EXPECT_TRUE(journal->session(kSession)->held);
  owner.kill();
  EXPECT_FALSE(journal->session(kSession)->held);
  const auto lease = journal->acquire(kSession);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_TRUE(append_now(*journal, append_of(*lease, 1, {"2"})));
}

TEST_F(PostgresTest, OwnerOfAnotherMachine_LosesItsSessionsWhenItIsSilent) {
  const auto journal = open_postgres(address_);
  journal->release(make_session(*journal, kSession));
  ASSERT_TRUE(journal->acquire(kSession));  // after the release
  alter(
      "INSERT INTO praxis_owners (id, host, pid, started, name, patience, "
      "seen) VALUES (99, 'elsewhere', 7, "
      "'', 'far', 3600000, clock_timestamp()); UPDATE praxis_sessions SET "
      "lease_owner = 99");
  const auto held = journal->acquire(kSession);
  EXPECT_EQ(kind_of(held), "lease_held");
  EXPECT_THAT(held.error().message, HasSubstr("process 7 on far"));
  EXPECT_EQ(kind_of(journal->remove(kSession)), "lease_held");
  // It has been silent for longer than its patience, but the server has not run for as long.
  alter(
      "UPDATE praxis_owners SET seen = clock_timestamp() - interval '2 "
      "hours' WHERE id = 99");
  EXPECT_EQ(kind_of(journal->acquire(kSession)), "lease_held");
  alter("UPDATE praxis_owners SET patience = 0 WHERE id = 99");
  EXPECT_TRUE(journal->acquire(kSession));
}

TEST_F(PostgresTest, ClosedJournal_GivesUpItsLeases) {
  {
    const auto journal = open_postgres(address_);
    make_session(*journal, kSession);
  }
  EXPECT_TRUE(open_postgres(address_)->acquire(kSession));
}

TEST_F(PostgresTest, EntryThatWasAltered_IsNotTrusted) {
  const auto journal = open_postgres(address_);
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1", "2", "3"})));
  alter("UPDATE praxis_entries SET body = 'x' WHERE seq = 2");
  const auto read = journal->read(kSession);
  EXPECT_EQ(kind_of(read), "corrupt");
  EXPECT_EQ(json_int(read.error().detail(), "seq"), 2);
  EXPECT_EQ(journal->read(kSession, 3)->size(), 1U);
  alter("DELETE FROM praxis_entries WHERE seq = 3");
  EXPECT_EQ(kind_of(journal->read(kSession, 3)), "corrupt");
  EXPECT_EQ(journal->session(kSession)->status, "corrupt");
  EXPECT_EQ(kind_of(append_now(*journal, append_of(lease, 3, {"4"}))), "corrupt");
}

TEST_F(PostgresTest, FullDisk_LeavesNothingOfAnAppend) {
  const auto journal = open_postgres(address_);
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1"})));
  alter(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
      "RAISE 'no space left' USING "
      "ERRCODE = '53100'; END$$; CREATE TRIGGER refuse BEFORE INSERT ON "
      "praxis_entries FOR EACH ROW WHEN "
      "(length(new.body) > 10) EXECUTE FUNCTION refuse()");
  auto large = append_of(lease, 1, {"a large entry"});
  large.row.title = "large";
  const auto refused = append_now(*journal, large);
  EXPECT_EQ(kind_of(refused), "full");
  EXPECT_TRUE(refused.error().retriable);
  EXPECT_EQ(journal->session(kSession)->title, "");
  EXPECT_TRUE(append_now(*journal, append_of(lease, 1, {"2"})));
  alter("DROP TRIGGER refuse ON praxis_entries");
  large.expected_seq = 2;
  EXPECT_TRUE(append_now(*journal, large));
}

TEST_F(PostgresTest, MessageFromAnotherProcess_WakesTheOwner) {
  const auto owner = open_postgres(address_), sender = open_postgres(address_);
  const auto lease = make_session(*owner, kSession);
  InboxId after = 0;
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(owner->inbox().messages(after)->empty());
    const auto id = sender->inbox().post(kSession, std::to_string(round), {7});
    ASSERT_TRUE(id);
    auto found = owner->inbox().messages(after);
    for (; found && found->empty(); found = owner->inbox().messages(after)) std::this_thread::yield();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->front().body, std::to_string(round));
    ASSERT_TRUE(owner->inbox().answer(lease, *id, "done"));
    EXPECT_EQ(sender->inbox().outcome(*id), "done");
    after = *id;
  }
}

TEST_F(PostgresTest, ChangesOfTwoProcesses_AreSeenOnceEach) {
  constexpr std::uint64_t kEntries = 200;
  const auto one = open_postgres(address_), other = open_postgres(address_);
  const auto write = [](Journal &journal, const SessionId &session) {
    const auto lease = *journal.create(session, {5});
    for (std::uint64_t seq = 0; seq < kEntries; ++seq)
      ASSERT_TRUE(append_now(journal, append_of(lease, seq, {"x"})));
  };
  std::jthread first([&] { write(*one, kSession); }), second([&] { write(*other, kOther); });
  const auto reader = open_postgres(address_, {.read_only = true});
  std::map<SessionId, std::uint64_t> seen;
  for (std::uint64_t position = 0, count = 0; count < 2 * kEntries;) {
    const auto changes = reader->changes(position, 0);
    ASSERT_TRUE(changes) << changes.error().message;
    for (const Change &change : *changes) {
      ASSERT_EQ(change.seq, ++seen[change.session]) << "one was missed";
      ASSERT_GT(change.position, position);
      position = change.position;
      ++count;
    }
  }
}

TEST_F(PostgresTest, ConnectionsThatAreCut_LoseAndDoubleNothing) {
  constexpr std::uint64_t kEntries = 150;
  const auto journal = open_postgres(address_);
  const auto lease = *journal->create(kSession, {5});
  // With a pause: on a busy machine no new connection would live long enough to be used. Ends also when the
  // test gives up.
  std::jthread cutter([&](const std::stop_token &stop) {
    auto connection = PostgresConnection::open(address_, false);
    while (!stop.stop_requested() && connection) {
      std::ignore = connection->execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
          "pg_backend_pid() AND state = "
          "'active' AND backend_type = 'client backend'");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  for (std::uint64_t seq = 0; seq < kEntries; ++seq) {
    auto append = append_of(lease, seq, {std::to_string(seq)});
    append.blobs = {{digest_of(std::to_string(seq)), std::to_string(seq)}};
    const auto end = append_now(*journal, std::move(append));
    ASSERT_TRUE(end) << end.error().message;
    if (seq % 10 == 0) {
      ASSERT_TRUE(journal->read(kSession));
    }
  }
  cutter.request_stop();
  cutter.join();
  const auto entries = journal->read(kSession);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), kEntries);
  for (std::uint64_t i = 0; i < kEntries; ++i) EXPECT_EQ((*entries)[i].body, std::to_string(i));
}

/// The answer to a commit is lost, not the commit: whether it took place decides what the caller hears.
TEST_F(PostgresTest, CommitWhoseAnswerIsLost_IsNeitherRepeatedNorReportedAsFailed) {
  testing::CuttingProxy proxy(PostgresServer::shared()->folder());
  const auto journal = open_postgres(PostgresServer::shared()->through(proxy.folder(), address_));
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1"})));
  for (std::uint64_t seq = 1; seq < 4; ++seq) {
    proxy.cut_at_commit();
    const auto end = append_now(*journal, append_of(lease, seq, {"x"}));
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(*end, seq + 1);
  }
  proxy.cut_at_commit();
  const auto posted = journal->inbox().post(kSession, "once", {5});
  ASSERT_TRUE(posted) << posted.error().message;
  EXPECT_EQ(journal->inbox().messages_for(kSession)->size(), 1U);
  proxy.cut_at_commit();
  EXPECT_TRUE(journal->inbox().answer(lease, *posted, "done"));
  proxy.cut_at_commit();
  EXPECT_TRUE(append_now(*journal, append_of(*journal->create(kOther, {5}), 0, {"1"})));
  EXPECT_EQ(proxy.cuts(), 6);
  EXPECT_EQ(journal->read(kSession)->size(), 4U);
}

/// After a crash, the name of a transaction that was lost may be that of another one, which is committed.
class PostgresLostCommits : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    alter("CREATE FUNCTION pg_xact_status(xid8) RETURNS text LANGUAGE sql AS $$SELECT 'committed'$$");
    proxy_.emplace(PostgresServer::shared()->folder());
    // Then the function of the schema comes before that of the system.
    journal_ = open_postgres(PostgresServer::shared()->through(proxy_->folder(), address_ + "%2Cpg_catalog"));
    lease_ = *journal_->create(kSession, {5});
    ASSERT_TRUE(append_now(*journal_, append_of(lease_, 0, {"1"})));
  }
  /// Loses the next commit, on a new connection, which prepares its first commit.
  void lose_next() {
    proxy_->cut_at_commit();
    std::ignore = journal_->inbox().post(kSession, "before", {5});
    proxy_->cut_before_commit();
  }

  std::optional<testing::CuttingProxy> proxy_;
  std::shared_ptr<Journal> journal_;
  Lease lease_;
};

TEST_F(PostgresLostCommits, OfEntriesAndMessages_AreRepeated) {
  lose_next();
  const auto end = append_now(*journal_, append_of(lease_, 1, {"2", "3"}));
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(journal_->read(kSession)->size(), 3U);
  lose_next();
  ASSERT_TRUE(journal_->inbox().post(kSession, "kept", {5}));
  EXPECT_EQ(journal_->inbox().messages_for(kSession)->back().body, "kept");
  EXPECT_EQ(proxy_->cuts(), 4);
}

TEST_F(PostgresLostCommits, OfAnswers_AreRepeated) {
  const auto alone = journal_->inbox().post(kSession, "alone", {5});
  const auto with_row = journal_->inbox().post(kSession, "with a row", {5});
  ASSERT_TRUE(alone && with_row);
  lose_next();
  EXPECT_TRUE(journal_->inbox().answer(lease_, *alone, "done"));
  EXPECT_EQ(journal_->inbox().outcome(*alone).value(), "done");
  lose_next();
  Append append = append_of(lease_, 1, {});
  append.answers = {{*with_row, "done too"}};
  EXPECT_TRUE(append_now(*journal_, std::move(append)));
  EXPECT_EQ(journal_->inbox().outcome(*with_row).value(), "done too");
  EXPECT_EQ(proxy_->cuts(), 4);
}

TEST_F(PostgresLostCommits, OfReleases_AreRepeated) {
  lose_next();
  journal_->release(lease_);
  ASSERT_TRUE(journal_->inbox().post(kSession, "after the release", {5}));
  EXPECT_EQ(proxy_->cuts(), 2);
  const auto taken = open_postgres(address_)->acquire(kSession);
  EXPECT_TRUE(taken) << taken.error().message;
}

TEST_F(PostgresLostCommits, OfRemovals_AreRepeated) {
  const auto other = journal_->create(kOther, {5});
  ASSERT_TRUE(other && append_now(*journal_, append_of(*other, 0, {"1"})));
  journal_->release(*other);
  ASSERT_TRUE(journal_->inbox().post(kSession, "after the release", {5}));
  lose_next();
  EXPECT_TRUE(journal_->remove(kOther));
  EXPECT_EQ(proxy_->cuts(), 2);
  EXPECT_EQ(kind_of(journal_->read(kOther)), "not_found");
}

TEST_F(PostgresServerTest, ServerThatCrashesAndReturns_IsAwaited) {
  const std::string address = server_->new_schema();
  const auto journal = open_postgres(address);
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1"})));
  for (std::uint64_t seq = 1; seq < 3; ++seq) {
    server_->stop(seq == 1 ? SIGQUIT : SIGINT);
    std::promise<Result<std::uint64_t>> end;
    journal->append(append_of(lease, seq, {"x"}), [&](Result<std::uint64_t> last) { end.set_value(last); });
    ASSERT_TRUE(server_->start());
    const auto last = end.get_future().get();
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_EQ(journal->read(kSession)->size(), seq + 1);
    EXPECT_EQ(kind_of(open_postgres(address)->acquire(kSession)), "lease_held") << "the owner lives";
  }
}

TEST_F(PostgresServerTest, ServerThatStaysAway_IsAnErrorWithItsName) {
  const std::string address = server_->new_schema();
  std::atomic<int> notices = 0;
  const auto journal = open_postgres(address, {.outage = std::chrono::milliseconds(100),
                                               .on_wait = [&](const std::string &) { ++notices; }});
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1"})));
  server_->stop(SIGINT);
  const auto end = append_now(*journal, append_of(lease, 1, {"2"}));
  EXPECT_EQ(kind_of(end), "io");
  EXPECT_TRUE(end.error().retriable);
  EXPECT_THAT(end.error().message, HasSubstr("journal " + address));
  EXPECT_EQ(kind_of(journal->read(kSession)), "io");
  EXPECT_GT(notices, 0);
  ASSERT_TRUE(server_->start());
  EXPECT_EQ(append_now(*journal, append_of(lease, 1, {"2"})), 2U);
}

}  // namespace
}  // namespace praxis
