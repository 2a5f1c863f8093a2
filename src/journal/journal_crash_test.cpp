// Crashed processes, failing disks, and concurrent writers.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <set>
#include <thread>

#include "journal/testing/faulty_disk.hpp"
#include "journal/testing/journals.hpp"

namespace praxis {
namespace {

using testing::append_now;
using testing::append_of;
using testing::ChildProcess;
using testing::file_bytes;
using testing::kind_of;
using testing::kSession;
using testing::make_session;
using testing::open_journal;
using testing::say;

class JournalCrashTest : public ::testing::Test {
 protected:
  /// Another process that holds the session and has appended one entry; it reports its token and stays alive.
  std::function<void(int)> holder() {
    return [this](int out) {
      const auto journal = open_journal(path_);
      const auto lease = *journal->create(kSession, {5});
      if (!append_now(*journal, append_of(lease, 0, {"theirs"}))) _exit(1);
      say(out, std::to_string(lease.token));
      pause();
    };
  }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "j";
};

TEST_F(JournalCrashTest, LeaseOfAKilledProcess_IsTakenOverAtOnce) {
  ChildProcess process(holder());
  ASSERT_EQ(process.line(), "1");
  const auto journal = open_journal(path_);
  const auto refused = journal->acquire(kSession);
  ASSERT_EQ(kind_of(refused), "lease_held");
  EXPECT_EQ(json_int(refused.error().detail(), "pid"), process.pid());
  const auto reader = open_journal(path_, {.read_only = true});
  EXPECT_TRUE(journal->session(kSession)->held);
  EXPECT_TRUE(reader->session(kSession)->held);

  process.kill();
  EXPECT_FALSE(journal->session(kSession)->held);
  EXPECT_FALSE(reader->session(kSession)->held);
  const auto lease = journal->acquire(kSession);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(lease->token, 2);
  EXPECT_EQ(append_now(*journal, append_of(*lease, 1, {"ours"})), 2);
}

TEST_F(JournalCrashTest, StoppedWriterThatContinues_IsRefused) {
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  ChildProcess process([&](int out) {
    const auto journal = open_journal(path_);
    const auto lease = make_session(*journal, kSession);
    say(out, "ready");
    char byte;
    if (read(go[0], &byte, 1) != 1) _exit(1);
    say(out, kind_of(append_now(*journal, append_of(lease, 0, {"late"}))));
  });
  ASSERT_EQ(process.line(), "ready");
  const auto journal = open_journal(path_);
  const auto lease = journal->acquire(kSession, true);
  ASSERT_TRUE(lease);
  ASSERT_EQ(write(go[1], "x", 1), 1);
  EXPECT_EQ(process.line(), "lease_lost");
  EXPECT_EQ(append_now(*journal, append_of(*lease, 0, {"first"})), 1);
  close(go[0]);
  close(go[1]);
}

TEST_F(JournalCrashTest, TwoJournalsInOneProcess_ExcludeEachOther) {
  auto first = open_journal(path_);
  const auto second = open_journal(path_);
  const auto old = make_session(*first, kSession);
  EXPECT_EQ(kind_of(second->acquire(kSession)), "lease_held");
  EXPECT_EQ(kind_of(append_now(*second, append_of(old, 0, {"1"}))), "lease_lost")
      << "the lease of another journal";
  first.reset();
  EXPECT_TRUE(second->acquire(kSession));
  EXPECT_EQ(kind_of(open_journal(path_)->acquire(kSession)), "lease_held")
      << "opening another journal releases nothing";
}

TEST_F(JournalCrashTest, TwoProcesses_WriteOneFile) {
  constexpr std::uint64_t kAppends = 300;
  const auto fill = [&](const SessionId& session) {
    const auto journal = open_journal(path_);
    const auto lease = *journal->create(session, {5});
    for (std::uint64_t seq = 0; seq < kAppends; ++seq) {
      if (!append_now(*journal, append_of(lease, seq, {"x"}))) return false;
    }
    return true;
  };
  ChildProcess process([&](int out) { say(out, fill(SessionId("theirs")) ? "ok" : "failed"); });
  EXPECT_TRUE(fill(SessionId("ours")));
  EXPECT_EQ(process.line(), "ok");
  const auto journal = open_journal(path_);
  EXPECT_EQ(journal->read(SessionId("ours"))->size(), kAppends);
  EXPECT_EQ(journal->read(SessionId("theirs"))->size(), kAppends);
}

TEST_F(JournalCrashTest, ProcessKilledDuringAppends_KeepsAcknowledgedOnesAndNoPartialOne) {
  for (int round = 0; round < 5; ++round) {
    const SessionId session("round" + std::to_string(round));
    std::uint64_t acknowledged = 0;
    {
      ChildProcess process([&](int out) {
        const auto journal = open_journal(path_);
        const auto lease = *journal->create(session, {5});
        for (std::uint64_t seq = 0;; seq += 3) {  // three entries and a blob at a time, several in flight
          auto append = append_of(lease, seq, {std::to_string(seq), std::string(3000, 'x'), "third"});
          append.blobs = {{digest_of(std::to_string(seq)), std::to_string(seq)}};
          const auto acknowledge = [&, out](Result<std::uint64_t> last) { say(out, std::to_string(*last)); };
          if (seq % 8 == 0) {
            acknowledge(append_now(*journal, std::move(append)));
          } else {
            journal->append(std::move(append), acknowledge);
          }
        }
      });
      for (int lines = 0; lines < 100 + 37 * round; ++lines) acknowledged = std::stoull(process.line());
      process.kill();
      for (auto line = process.line(); !line.empty(); line = process.line()) acknowledged = std::stoull(line);
    }
    const auto journal = open_journal(path_);
    const auto entries = journal->read(session);
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_GE(entries->size(), acknowledged);
    EXPECT_EQ(entries->size() % 3, 0);
    for (std::size_t i = 0; i < entries->size(); i += 3) {
      EXPECT_TRUE(journal->blob(digest_of((*entries)[i].body)));
    }
    EXPECT_TRUE(journal->acquire(session));
  }
}

TEST_F(JournalCrashTest, ReadOnly_ReadsTheLogOfACrashedWriterAndChangesNothing) {
  ChildProcess process(holder());
  ASSERT_EQ(process.line(), "1");
  const auto reader = open_journal(path_, {.read_only = true});
  EXPECT_EQ(reader->read(kSession)->size(), 1) << "while the writer is alive";
  process.kill();
  const auto before = file_bytes(path_) + file_bytes(path_ + "-wal") + file_bytes(path_ + "-shm");
  EXPECT_EQ(reader->read(kSession)->size(), 1);
  EXPECT_EQ(open_journal(path_, {.read_only = true})->read(kSession)->size(), 1);
  EXPECT_EQ(file_bytes(path_) + file_bytes(path_ + "-wal") + file_bytes(path_ + "-shm"), before);

  std::filesystem::remove(path_ + "-shm");  // as in a copied journal
  EXPECT_EQ(reader->read(kSession)->size(), 1);
}

TEST_F(JournalCrashTest, LogInUse_IsNotRewritten) {
  ChildProcess process(holder());
  ASSERT_EQ(process.line(), "1");
  testing::FaultyDisk disk;
  const auto beside = open_journal(path_);
  EXPECT_GT(disk.lowest_write, 0) << "the live writer maintains the log";
  process.kill();
  open_journal(path_);
  EXPECT_GT(disk.lowest_write, 0) << "so does another writer";
}

TEST_F(JournalCrashTest, AbandonedLog_IsRewrittenBeforeTheFirstConfirmation) {
  ChildProcess process(holder());
  ASSERT_EQ(process.line(), "1");
  process.kill();
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  EXPECT_EQ(disk.lowest_write, 0) << "the last sync may have failed unnoticed";
  EXPECT_EQ(journal->read(kSession)->size(), 1);
}

TEST_F(JournalCrashTest, QueuedAppends_ShareOneSync) {
  constexpr std::size_t kThreads = 10, kSessions = 100;
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  std::vector<Lease> leases;
  for (std::size_t i = 0; i < kSessions; ++i) {
    leases.push_back(*journal->create(SessionId("s" + std::to_string(i)), {5}));
  }
  std::promise<void> busy, go, all_done;
  journal->append(append_of(*journal->create(kSession, {5}), 0, {"x"}), [&](Result<std::uint64_t>) {
    busy.set_value();
    go.get_future().get();
  });
  busy.get_future().get();
  disk.syncs = 0;
  std::size_t done = 0;  // counted on the journal's thread
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (auto i = thread; i < kSessions; i += kThreads) {
          journal->append(append_of(leases[i], 0, {"x"}), [&](Result<std::uint64_t> last) {
            EXPECT_EQ(last, 1);
            EXPECT_EQ(disk.syncs, 1);
            if (++done == kSessions) all_done.set_value();
          });
        }
      });
    }
  }
  go.set_value();
  all_done.get_future().get();
  for (const auto& lease : leases) EXPECT_EQ(journal->read(lease.session)->size(), 1);
}

TEST_F(JournalCrashTest, EveryLoneAppend_IsSynced) {
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  for (std::uint64_t seq = 0; seq < 10; ++seq) {
    const int before = disk.syncs;
    ASSERT_TRUE(append_now(*journal, append_of(lease, seq, {"x"})));
    EXPECT_GT(disk.syncs, before);
  }
}

TEST_F(JournalCrashTest, FailedAppendOfAGroup_FailsAlone) {
  const auto journal = open_journal(path_);
  const auto first = *journal->create(SessionId("a"), {5});
  const auto second = *journal->create(SessionId("b"), {5});
  std::promise<void> go;
  std::vector<std::string> outcomes;
  const auto note = [&](Result<std::uint64_t> last) {
    outcomes.push_back(last ? std::to_string(*last) : kind_of(last));
  };
  journal->append(append_of(first, 0, {"1"}), [&](Result<std::uint64_t>) { go.get_future().get(); });
  journal->append(append_of(first, 0, {"conflict"}),
                  note);  // these four are queued behind the first and share a commit
  journal->append(append_of(second, 0, {"1"}), note);
  journal->append(append_of({SessionId("b"), 9}, 1, {"stale"}), note);
  journal->append(append_of(first, 1, {"2"}), note);
  go.set_value();
  ASSERT_TRUE(append_now(*journal, append_of(second, 1, {"2"})));
  EXPECT_EQ(outcomes, (std::vector<std::string>{"conflict", "1", "lease_lost", "2"}));
}

TEST_F(JournalCrashTest, FullDisk_RefusesAndRecovers) {
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1"})));
  disk.full = true;
  auto append = append_of(lease, 1, {"2"});
  append.blobs = {{digest_of("blob"), "blob"}};
  const auto refused = append_now(*journal, append);
  EXPECT_EQ(kind_of(refused), "full");
  EXPECT_TRUE(!refused && refused.error().retriable);
  EXPECT_EQ(journal->read(kSession)->size(), 1);
  EXPECT_EQ(kind_of(journal->blob(digest_of("blob"))), "not_found");
  disk.full = false;
  EXPECT_EQ(append_now(*journal, append), 2);
}

TEST_F(JournalCrashTest, FirstAppendToAFullDisk_CanBeRetried) {
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  disk.full = true;
  EXPECT_EQ(kind_of(append_now(*journal, append_of(lease, 0, {"1"}))), "full");
  EXPECT_EQ(kind_of(journal->read(kSession)), "not_found");
  EXPECT_EQ(kind_of(journal->create(kSession, {6})), "exists") << "its owner has not released it";
  disk.full = false;
  EXPECT_EQ(append_now(*journal, append_of(lease, 0, {"1"})), 1);
  EXPECT_EQ(journal->session(kSession)->created.value, 5);
}

TEST_F(JournalCrashTest, ReleaseAfterAFailedFirstAppend_FreesTheName) {
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  disk.full = true;
  std::promise<Result<std::uint64_t>> refused;
  journal->append(append_of(lease, 0, {"1"}),
                  [&](Result<std::uint64_t> last) { refused.set_value(std::move(last)); });
  journal->release(lease);
  EXPECT_EQ(kind_of(refused.get_future().get()), "full");
  disk.full = false;
  make_session(*journal, SessionId("behind both"));
  EXPECT_TRUE(journal->create(kSession, {6}));
}

TEST_F(JournalCrashTest, LeaseReleasedOnAFullDisk_CanBeAcquiredAgain) {
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  const auto first = make_session(*journal, kSession);
  disk.full = true;
  journal->release(first);
  ASSERT_FALSE(journal->acquire(kSession));
  disk.full = false;
  const auto second = journal->acquire(kSession);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(kind_of(journal->acquire(kSession)), "lease_held");
  EXPECT_EQ(kind_of(append_now(*journal, append_of(first, 0, {"1"}))), "lease_lost");
  EXPECT_EQ(append_now(*journal, append_of(*second, 0, {"1"})), 1);
}

TEST_F(JournalCrashTest, FileSizeLimit_CountsAsFullAndAdmitsSmallAppendsOfTheGroup) {
  signal(SIGXFSZ, SIG_IGN);
  const auto journal = open_journal(path_);
  const auto large = *journal->create(SessionId("large"), {5});
  const auto small = *journal->create(SessionId("small"), {5});
  rlimit unlimited{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const rlimit tight{1'000'000, unlimited.rlim_max};
  std::promise<void> go;
  std::promise<Result<std::uint64_t>> refused;
  journal->append(append_of(small, 0, {"1"}), [&](Result<std::uint64_t>) { go.get_future().get(); });
  journal->append(append_of(large, 0, {std::string(2'000'000, 'x')}),
                  [&](Result<std::uint64_t> last) { refused.set_value(std::move(last)); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::promise<Result<std::uint64_t>> accepted;
  journal->append(append_of(small, 1, {"2"}),
                  [&](Result<std::uint64_t> last) { accepted.set_value(std::move(last)); });
  go.set_value();
  const auto outcome = refused.get_future().get();
  EXPECT_EQ(kind_of(outcome), "full") << (outcome ? "" : outcome.error().message);
  EXPECT_EQ(accepted.get_future().get(), 2);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  EXPECT_EQ(append_now(*journal, append_of(large, 0, {std::string(2'000'000, 'x')})), 1);
}

TEST_F(JournalCrashTest, FailedSync_IsReportedAndNothingIsConfirmedUntilTheLogIsRewritten) {
  testing::FaultyDisk disk;
  const auto journal = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1"})));
  disk.failing_sync = true;
  EXPECT_EQ(kind_of(append_now(*journal, append_of(lease, 1, {"2"}))), "io");
  EXPECT_EQ(kind_of(append_now(*journal, append_of(lease, 1, {"2"}))), "io");
  EXPECT_EQ(journal->read(kSession)->size(), 1);
  disk.failing_sync = false;
  disk.lowest_write = disk.kNoWrite;
  EXPECT_EQ(append_now(*journal, append_of(lease, 1, {"2"})), 2);
  EXPECT_EQ(disk.lowest_write, 0) << "the kernel may have dropped pages that it still returns";
  EXPECT_EQ(open_journal(path_)->read(kSession)->size(), 2);
  disk.lowest_write = disk.kNoWrite;
  EXPECT_EQ(append_now(*journal, append_of(lease, 2, {"3"})), 3);
  EXPECT_GT(disk.lowest_write, 0) << "one rewrite is enough";
}

TEST_F(JournalCrashTest, KillDuringCreation_LeavesNoFileBehind) {
  std::set<std::string> left;
  for (int round = 0; round < 60; ++round) {
    const std::string path = folder_ / std::to_string(round);
    ChildProcess process([&](int) { open_journal(path), pause(); });
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    process.kill();
    open_journal(path);
    for (const auto& file : std::filesystem::directory_iterator(folder_ / ""))
      left.insert(file.path().filename().string().substr(std::to_string(round).size()));
    for (const char* part : {"", ".owners", ".head"}) std::filesystem::remove(path + part);
  }
  EXPECT_EQ(left, (std::set<std::string>{"", ".head", ".owners"}));
}

TEST_F(JournalCrashTest, IncompleteFileOfAKilledCreator_IsReplaced) {
  std::ofstream(path_ + ".incomplete") << "half a file";
  std::ofstream(path_ + ".incomplete-wal") << "half a log";
  const auto journal = open_journal(path_);
  EXPECT_TRUE(journal->sessions()->empty());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".incomplete"));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".incomplete-wal"));
}

TEST_F(JournalCrashTest, LastProcessesThatCloseTogether_LeaveNoLog) {
  open_journal(path_);
  for (int round = 0; round < 40; ++round) {
    const auto open_and_close = [this](int out) {
      auto journal = open_journal(path_);
      make_session(*journal, SessionId(std::to_string(getpid())));
      say(out, "open");
      raise(SIGSTOP);
      journal.reset();
      say(out, "closed");
    };
    ChildProcess one(open_and_close), other(open_and_close);
    for (ChildProcess* each : {&one, &other}) ASSERT_EQ(each->line(), "open");
    for (ChildProcess* each : {&one, &other}) waitpid(each->pid(), nullptr, WUNTRACED);
    for (ChildProcess* each : {&one, &other}) kill(each->pid(), SIGCONT);
    for (ChildProcess* each : {&one, &other}) ASSERT_EQ(each->line(), "closed");
    ASSERT_FALSE(std::filesystem::exists(path_ + "-wal")) << "round " << round;
  }
}

}  // namespace
}  // namespace praxis
