#include "store/gathering_vfs.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

/// Becomes the default VFS while it lives: records the sizes of writes to logs, and can refuse them.
class LogWrites {
 public:
  LogWrites() {
    real = sqlite3_vfs_find(nullptr);
    sizes.clear();
    refuses = false;
    shim = *real;
    shim.zName = "noting";
    shim.xOpen = &open;
    sqlite3_vfs_register(&shim, 1);
  }
  ~LogWrites() {
    sqlite3_vfs_register(real, 1);
    sqlite3_vfs_unregister(&shim);
  }
  LogWrites(const LogWrites&) = delete;
  LogWrites& operator=(const LogWrites&) = delete;

  static inline std::vector<int> sizes;
  static inline bool refuses = false;

 private:
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    const int code = real->xOpen(real, name, file, flags, out_flags);
    if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
    methods = *file->pMethods;
    real_write = methods.xWrite;
    methods.xWrite = &write;
    file->pMethods = &methods;
    return code;
  }
  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    sizes.push_back(size);
    return refuses ? SQLITE_FULL : real_write(file, bytes, size, offset);
  }

  static inline sqlite3_vfs* real = nullptr;
  static inline sqlite3_vfs shim{};
  static inline sqlite3_io_methods methods{};
  static inline int (*real_write)(sqlite3_file*, const void*, int, sqlite3_int64) = nullptr;
};

/// Makes each file lock that SQLite takes fail with an error of the disk while it lives.
class FailingLocks {
 public:
  FailingLocks() { replace(reinterpret_cast<sqlite3_syscall_ptr>(&refuse)); }
  ~FailingLocks() { replace(nullptr); }  // with the original
  FailingLocks(const FailingLocks&) = delete;
  FailingLocks& operator=(const FailingLocks&) = delete;

 private:
  static void replace(sqlite3_syscall_ptr call) {
    sqlite3_vfs* const unix_vfs = sqlite3_vfs_find("unix");
    unix_vfs->xSetSystemCall(unix_vfs, "fcntl", call);
  }
  static int refuse(int file, int command, ...) {
    std::va_list arguments;
    va_start(arguments, command);
    auto* const lock = va_arg(arguments, struct flock*);
    va_end(arguments);
    if (command != F_SETLK || lock->l_type == F_UNLCK) return ::fcntl(file, command, lock);
    errno = EIO;
    return -1;
  }
};

constexpr int kPage = 4096, kFrame = 24 + kPage;

class GatheringVfsTest : public ::testing::Test {
 protected:
  GatheringVfsTest() {
    std::string name = (fs::temp_directory_path() / "praxis-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    sqlite3* fresh = nullptr;
    sqlite3_open(path().c_str(), &fresh);
    sqlite3_exec(fresh, "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)",
                 nullptr, nullptr, nullptr);
    sqlite3_close(fresh);
    database_ = std::move(Database::open(path(), Database::Mode::kWrite).value());
  }
  ~GatheringVfsTest() override {
    database_.reset();
    fs::remove_all(folder_);
  }

  std::string path() const { return (folder_ / "j").string(); }
  /// Commits one row of at least `pages` pages.
  Status insert(int pages) {
    return database_->run("INSERT INTO t (body) VALUES (zeroblob(?1))", std::int64_t{pages} * kPage);
  }
  /// Copies the files as they are now, as a crash leaves them, and returns how many rows the copy holds.
  std::int64_t rows_after_a_crash() const {
    const fs::path copy = folder_ / "copy";
    for (const char* part : {"", "-wal", "-shm"}) fs::remove(copy.string() + part);
    for (const char* part : {"", "-wal"}) fs::copy_file(path() + part, copy.string() + part);
    auto found = Database::open(copy.string(), Database::Mode::kRead);
    Query query(*found, "SELECT count(*) FROM t");
    EXPECT_TRUE(query.next().value_or(false));
    return query.integer(0);
  }

  LogWrites writes_;
  fs::path folder_;
  std::optional<Database> database_;
};

TEST_F(GatheringVfsTest, TransactionIsWrittenAtOnce) {
  ASSERT_TRUE(insert(3));
  LogWrites::sizes.clear();
  ASSERT_TRUE(insert(3));
  ASSERT_EQ(LogWrites::sizes.size(), 1u);
  EXPECT_GE(LogWrites::sizes[0], 4 * kFrame);
  EXPECT_EQ(LogWrites::sizes[0] % kFrame, 0);
}

TEST_F(GatheringVfsTest, LargeTransactionIsWrittenInPieces) {
  ASSERT_TRUE(insert(1));
  LogWrites::sizes.clear();
  ASSERT_TRUE(insert(2000));  // more than SQLite's cache holds
  EXPECT_LT(LogWrites::sizes.size(), 2 * 2000u * kFrame / (64 * 1024) + 2);
  for (const int size : LogWrites::sizes) EXPECT_LE(size, 64 * 1024);
  EXPECT_EQ(rows_after_a_crash(), 2);
}

TEST_F(GatheringVfsTest, UnsyncedTransactionIsWrittenBeforeItsCommitReturns) {
  ASSERT_TRUE(database_->run("PRAGMA synchronous = NORMAL"));
  for (int rows = 1; rows < 40; ++rows) {
    ASSERT_TRUE(insert(rows % 20));
    EXPECT_EQ(rows_after_a_crash(), rows);
  }
}

TEST_F(GatheringVfsTest, RestartedLogIsGatheredToo) {
  ASSERT_TRUE(insert(5));
  ASSERT_EQ(
      sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, SQLITE_CHECKPOINT_RESTART, nullptr, nullptr),
      SQLITE_OK);
  ASSERT_TRUE(insert(1));
  LogWrites::sizes.clear();
  ASSERT_TRUE(insert(1));
  EXPECT_EQ(LogWrites::sizes.size(), 1u);
  EXPECT_EQ(rows_after_a_crash(), 3);
}

TEST_F(GatheringVfsTest, FailedLockIsAnErrorOfTheDiskAndNotAnotherProcess) {
  ASSERT_TRUE(insert(1));
  const FailingLocks failing;
  const auto inserted = insert(1);
  ASSERT_FALSE(inserted);
  EXPECT_NE(inserted.error().message.find("disk I/O error"), std::string::npos) << inserted.error().message;
}

TEST_F(GatheringVfsTest, FailedWriteRollsItsTransactionBack) {
  ASSERT_TRUE(insert(1));
  LogWrites::refuses = true;
  for (const int pages : {1, 100}) EXPECT_FALSE(insert(pages));
  LogWrites::refuses = false;
  EXPECT_EQ(rows_after_a_crash(), 1);
  ASSERT_TRUE(insert(1));
  EXPECT_EQ(rows_after_a_crash(), 2);
}

}  // namespace
}  // namespace praxis
