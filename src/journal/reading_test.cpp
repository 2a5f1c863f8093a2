// A reader depends on no writer: it reads what any crash leaves, without permission to write, and while
// writers come and leave.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "journal/testing/journals.hpp"
#include "store/byte_locks.hpp"

namespace praxis {
namespace {

using testing::append_now;
using testing::append_of;
using testing::ChildProcess;
using testing::file_bytes;
using testing::kSession;
using testing::make_session;
using testing::open_journal;
using testing::say;

constexpr std::size_t kIndexSize = 32'768;
constexpr auto kSoon = std::chrono::seconds(1);

class ReadingTest : public ::testing::Test {
 protected:
  /// Writes a journal with one entry in the file, and one in the log and index of a process that was killed.
  void leave_log() {
    {
      const auto journal = open_journal(path_);
      ASSERT_TRUE(append_now(*journal, append_of(*journal->create(kSession, {5}), 0, {"in the file"})));
    }
    ChildProcess process([this](int out) {
      const auto journal = open_journal(path_);
      if (!append_now(*journal, append_of(*journal->acquire(kSession), 1, {"in the log"}))) _exit(1);
      say(out, "appended");
      pause();
    });
    ASSERT_EQ(process.line(), "appended");
  }
  void put(const std::string& path, std::string_view bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  /// Reads the session; expects that it takes less than a second. Returns the number of entries.
  std::size_t entries_read_soon() const {
    const auto start = std::chrono::steady_clock::now();
    const auto entries = open_journal(path_, {.read_only = true})->read(kSession);
    EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon);
    EXPECT_TRUE(entries) << entries.error().message;
    return entries ? entries->size() : 0;
  }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "j";
};

TEST_F(ReadingTest, EveryPrefixOfALog_IsReadWithEveryIndex) {
  leave_log();
  std::filesystem::remove(path_ + ".head");  // which would show that the log was longer
  const std::string log = file_bytes(path_ + "-wal"), stale = file_bytes(path_ + "-shm");
  ASSERT_GT(log.size(), 8'000u);
  for (std::size_t size = 0; size <= log.size(); size += size < 80 ? 1 : 997) {
    put(path_ + "-wal", std::string_view(log).substr(0, size));
    for (const std::string& index : {std::string(), std::string(kIndexSize, '\0'), stale}) {
      put(path_ + "-shm", index);
      ASSERT_EQ(entries_read_soon(), 1u) << size << " bytes of the log";
      ASSERT_EQ(file_bytes(path_ + "-shm"), index) << "reading changes nothing";
    }
    std::filesystem::remove(path_ + "-shm");
    ASSERT_EQ(entries_read_soon(), 1u) << size << " bytes of the log, no index";
  }
  put(path_ + "-wal", log);
  EXPECT_EQ(entries_read_soon(), 2u);
}

TEST_F(ReadingTest, UserWithoutPermissionToWrite_ReadsALeftLog) {
  leave_log();
  std::filesystem::permissions(folder_ / "", std::filesystem::perms(0555));
  for (const char* part : {"", "-wal", "-shm"}) chmod((path_ + part).c_str(), 0444);
  ChildProcess process([this](int out) {
    if (geteuid() == 0 && setuid(65'534) != 0) _exit(1);
    say(out, std::to_string(entries_read_soon()));
  });
  EXPECT_EQ(process.line(), "2");
  std::filesystem::permissions(folder_ / "", std::filesystem::perms(0700));
}

TEST_F(ReadingTest, UserWithoutPermissionToWrite_FollowsALiveWriter) {
  const auto writer = open_journal(path_);
  const auto lease = make_session(*writer, kSession);
  std::filesystem::permissions(folder_ / "", std::filesystem::perms(0755));
  for (const char* part : {"", "-wal", "-shm"}) chmod((path_ + part).c_str(), 0644);
  for (std::uint64_t seq = 0; seq < 10; ++seq) {
    ASSERT_TRUE(append_now(*writer, append_of(lease, seq, {"x"})));
    ChildProcess process([this](int out) {
      if (geteuid() == 0 && setuid(65'534) != 0) _exit(1);
      say(out, std::to_string(entries_read_soon()));
    });
    EXPECT_EQ(process.line(), std::to_string(seq + 1));
  }
}

TEST_F(ReadingTest, ProcessStoppedWhileItCloses_DelaysNoReader) {
  leave_log();
  ChildProcess closes([this](int out) {
    const auto lives = ByteLocks::open(path_);
    sqlite3* connection = nullptr;
    sqlite3_open(path_.c_str(), &connection);
    const char* excludes = "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE";
    if (!lives->try_lock(1'000) || sqlite3_exec(connection, excludes, nullptr, nullptr, nullptr) != SQLITE_OK)
      _exit(1);
    say(out, "excludes");
    raise(SIGSTOP);
  });
  ASSERT_EQ(closes.line(), "excludes");
  EXPECT_EQ(entries_read_soon(), 2u);
}

TEST_F(ReadingTest, LogThatMayNotBeRead_IsNamed) {
  leave_log();
  std::filesystem::permissions(folder_ / "", std::filesystem::perms(0755));
  chmod(path_.c_str(), 0644);
  chmod((path_ + "-wal").c_str(), 0);
  ChildProcess process([this](int out) {
    if (geteuid() == 0 && setuid(65'534) != 0) _exit(1);
    say(out, open_journal(path_, {.read_only = true})->read(kSession).error().message);
  });
  EXPECT_EQ(process.line(), "journal " + path_ + ": cannot read " + path_ + "-wal: Permission denied");
}

TEST_F(ReadingTest, WritersThatComeAndLeave_DisturbNoReader) {
  open_journal(path_);
  const auto come_and_leave = [this](int) {
    for (;;) {
      const auto journal = open_journal(path_);
      journal->release(make_session(*journal, SessionId(std::to_string(getpid()) + std::to_string(rand()))));
    }
  };
  ChildProcess first(come_and_leave), second(come_and_leave);
  const auto reader = open_journal(path_, {.read_only = true});
  const auto end = std::chrono::steady_clock::now() + kSoon;
  std::size_t seen = 0;
  while (std::chrono::steady_clock::now() < end) {
    const auto rows = reader->sessions();
    ASSERT_TRUE(rows) << rows.error().message;
    // A read without a living writer may see what one is about to acknowledge; one that shares the writer's
    // index sees it a moment later. So each writer's newest session may come and go, and no other.
    ASSERT_GE(rows->size() + 2, seen) << "a session that was acknowledged is gone";
    seen = std::max(seen, rows->size());
  }
  EXPECT_GT(seen, 10u);
}

}  // namespace
}  // namespace praxis
