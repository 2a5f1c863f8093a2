// Many processes write to one journal: each waits in order, says for which process, and ends its wait only
// when its user wants it to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "journal/testing/journals.hpp"
#include "store/byte_locks.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;
using testing::append_now;
using testing::append_of;
using testing::ChildProcess;
using ::testing::HasSubstr;
using testing::kind_of;
using testing::kSession;
using testing::make_session;
using testing::open_journal;
using testing::say;

class CrowdTest : public ::testing::Test {
 protected:
  CrowdTest() { open_journal(path_); }

  static constexpr const char* kWrites = "BEGIN IMMEDIATE";
  /// Keeps all others from the file, as a process does that closes the journal.
  static constexpr const char* kExcludes = "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE";

  /// A process that takes a lock, says so, and keeps it until it is continued or killed.
  std::function<void(int)> holder(bool stops, const char* takes = kWrites) {
    return [this, stops, takes](int out) {
      sqlite3* connection = nullptr;
      sqlite3_open(path_.c_str(), &connection);
      if (sqlite3_exec(connection, takes, nullptr, nullptr, nullptr) != SQLITE_OK) _exit(1);
      say(out, "holds");
      stops ? raise(SIGSTOP) : pause();
      sqlite3_exec(connection, "COMMIT", nullptr, nullptr, nullptr);
      sqlite3_close(connection);
    };
  }
  SqliteJournalOptions options() {
    SqliteJournalOptions options;
    options.on_wait = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(text);
    };
    options.stop_waiting = stop_.get_token();
    return options;
  }
  std::vector<std::string> notices() {
    const std::lock_guard lock(mutex_);
    return notices_;
  }
  std::string first_notice() {
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (notices().empty() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
    return notices().empty() ? "" : notices().front();
  }
  static std::string process(const ChildProcess& child) {
    return "process " + std::to_string(child.pid()) + " (journal_test)";
  }
  std::string running(const ChildProcess& child) const { return process(child) + " holds the write lock"; }
  /// Opens the journal while the process keeps its lock, and appends once that process was ended.
  void expect_taken_over(ChildProcess& child) {
    ASSERT_EQ(child.line(), "holds");
    auto forced = options();
    forced.end_stopped_writer = true;
    const auto start = std::chrono::steady_clock::now();
    const auto journal = open_journal(path_, forced);
    EXPECT_EQ(append_now(*journal, append_of(*journal->create(kSession, {5}), 0, {"1"})), 1);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 4s);
    int status = 0;
    ASSERT_EQ(waitpid(child.pid(), &status, 0), child.pid());
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_EQ(notices(),
              std::vector<std::string>{"ended process " + std::to_string(child.pid()) +
                                       ", which was stopped and held the write lock of journal " + path_});
  }
  std::string stopped(const ChildProcess& child) const {
    const std::string pid = std::to_string(child.pid());
    return process(child) + " is stopped and holds the write lock: continue it with kill -CONT " + pid +
           ", or end it with kill -KILL " + pid + " or praxis resume --force";
  }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "j";
  std::mutex mutex_;
  std::vector<std::string> notices_;
  std::stop_source stop_;
};

TEST_F(CrowdTest, WriterThatWaits_NamesTheHolderOnce) {
  const auto journal = open_journal(path_, options());
  const auto lease = make_session(*journal, kSession);
  ChildProcess child(holder(true));
  ASSERT_EQ(child.line(), "holds");
  auto appended = std::async([&] { return append_now(*journal, append_of(lease, 0, {"1"})); });
  EXPECT_EQ(first_notice(), "waiting for journal " + path_ + ": " + stopped(child));
  std::this_thread::sleep_for(1200ms);
  EXPECT_EQ(notices().size(), 1u);
  kill(child.pid(), SIGCONT);
  EXPECT_EQ(appended.get(), 1);
}

TEST_F(CrowdTest, RequestToStop_EndsTheWaitWithTheHoldersName) {
  const auto journal = open_journal(path_, options());
  const auto lease = make_session(*journal, kSession);
  ChildProcess child(holder(false));
  ASSERT_EQ(child.line(), "holds");
  auto appended = std::async([&] { return append_now(*journal, append_of(lease, 0, {"1"})); });
  EXPECT_EQ(first_notice(), "waiting for journal " + path_ + ": " + running(child));
  const auto start = std::chrono::steady_clock::now();
  stop_.request_stop();
  const auto failed = appended.get();
  EXPECT_EQ(kind_of(failed), "io");
  EXPECT_EQ(failed.error().message, "journal " + path_ + ": " + running(child));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  child.kill();
  EXPECT_EQ(append_now(*journal, append_of(lease, 0, {"1"})), 1) << "the lock is free again";
}

TEST_F(CrowdTest, StoppedWriter_IsEndedOnlyOnRequest) {
  ChildProcess child(holder(true));
  expect_taken_over(child);
}

TEST_F(CrowdTest, ProcessStoppedWhileItCloses_IsEndedOnlyOnRequest) {
  ChildProcess child(holder(true, kExcludes));
  expect_taken_over(child);
}

TEST_F(CrowdTest, ProcessStoppedWhileItCloses_IsNamedToThoseThatOpen) {
  ChildProcess child(holder(true, kExcludes));
  ASSERT_EQ(child.line(), "holds");
  auto opened = std::async([this] { return sqlite_journal(path_, options()); });
  EXPECT_EQ(first_notice(), "waiting for journal " + path_ + ": " + stopped(child));
  kill(child.pid(), SIGCONT);
  EXPECT_TRUE(opened.get());
}

TEST_F(CrowdTest, ProcessStoppedWhileItCreatesTheJournal_IsNamedToThoseThatWait) {
  const std::string made = folder_ / "new";
  ChildProcess child([&](int out) {
    const auto creates = ByteLocks::open(made);
    sqlite3* connection = nullptr;
    sqlite3_open((made + ".incomplete").c_str(), &connection);
    const bool begun = sqlite3_exec(connection, kWrites, nullptr, nullptr, nullptr) == SQLITE_OK;
    if (!begun || !creates->try_lock(kCreationByte)) _exit(1);
    say(out, "creates");
    raise(SIGSTOP);
  });
  ASSERT_EQ(child.line(), "creates");
  auto opened = std::async([&] { return sqlite_journal(made, options()); });
  EXPECT_THAT(first_notice(), HasSubstr("process " + std::to_string(child.pid()) + " is stopped while it"));
  stop_.request_stop();
  EXPECT_EQ(kind_of(opened.get()), "io");
  child.kill();
  EXPECT_TRUE(sqlite_journal(made)) << "what is left of the killed process is replaced";
}

TEST_F(CrowdTest, RunningWriter_IsNeverEnded) {
  ChildProcess child(holder(false));
  ASSERT_EQ(child.line(), "holds");
  auto forced = options();
  forced.end_stopped_writer = true;
  std::thread stopper([&] {
    std::this_thread::sleep_for(2500ms);
    stop_.request_stop();
  });
  const auto journal = sqlite_journal(path_, forced);
  stopper.join();
  EXPECT_EQ(kind_of(journal), "io");
  EXPECT_EQ(waitpid(child.pid(), nullptr, WNOHANG), 0) << "it lives";
}

TEST_F(CrowdTest, ManyProcesses_AllWrite) {
  constexpr int kProcesses = 40;
  constexpr std::uint64_t kAppends = 20;
  std::vector<std::unique_ptr<ChildProcess>> crowd;
  for (int i = 0; i < kProcesses; ++i) {
    crowd.push_back(std::make_unique<ChildProcess>([this, i](int out) {
      const auto journal = open_journal(path_);
      const auto lease = *journal->create(SessionId(std::to_string(i)), {5});
      for (std::uint64_t seq = 0; seq < kAppends; ++seq)
        if (!append_now(*journal, append_of(lease, seq, {"x"}))) _exit(1);
      say(out, "done");
    }));
  }
  for (const auto& each : crowd) EXPECT_EQ(each->line(), "done");
  for (const auto& row : *open_journal(path_, {.read_only = true})->sessions())
    EXPECT_EQ(row.entries, kAppends);
}

}  // namespace
}  // namespace praxis
