// What only the file of a memory does: it lasts, many processes share it, and what is removed is gone from
// it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/missing_part.hpp"
#include "memory/testing/store_folder.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::StoreFolder;

/// The files of a folder that contain `text`, in any case.
std::vector<std::string> files_with(const std::string& folder, std::string text) {
  std::vector<std::string> found;
  const auto lower = [](std::string& bytes) {
    for (char& c : bytes) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  lower(text);
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    lower(bytes);
    if (bytes.find(text) != std::string::npos) found.push_back(entry.path().filename().string());
  }
  return found;
}

/// Ends a query that has a result, which is null as long as there are notes.
int stop_at_row(void*, int, char** values, char**) { return values[0] == nullptr ? 0 : 1; }

class MemoryFile : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("deep/memory.db"); }
  std::string deep() const { return folder_.file("deep"); }
  MemoryClients open() const { return sqlite_memory(path()).value(); }

  StoreFolder folder_;
};

TEST_F(MemoryFile, Lasts_AndIsTheUsersAlone) {
  EXPECT_EQ(sqlite_memory(path(), MemoryUse::kExisting).error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE(open().database->write("c", "k", "value"));
  const auto again = sqlite_memory(path(), MemoryUse::kExisting).value();
  EXPECT_EQ(again.database->read("c", "k").value()->value, Json("value"));
  struct stat about = {};
  for (const std::string& name : {path(), path() + "-wal"}) {
    ASSERT_EQ(stat(name.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U) << name;
  }
  ASSERT_EQ(stat(deep().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
}

TEST_F(MemoryFile, OtherFiles_AreRefusedUnchanged) {
  fs::create_directories(deep());
  std::ofstream(path()) << std::string(5000, 'x');
  EXPECT_THAT(sqlite_memory(path()).error().message, HasSubstr("not a Praxis memory"));
  fs::remove(path());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "CREATE TABLE notes (x)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_THAT(sqlite_memory(path()).error().message, HasSubstr("not a Praxis memory"));
  fs::remove(path());
  (void)open();
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "PRAGMA user_version = 3", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_EQ(sqlite_memory(path()).error().kind(), ErrorKind::kVersion);
}

TEST_F(MemoryFile, WhatIsRemoved_IsInNoFile) {
  const std::string canary = "Canary7319word", filler(3000, 'f');
  const auto clients = open();
  for (int i = 0; i < 60; ++i)
    ASSERT_TRUE(clients.database->write("c", std::to_string(i), Json("note " + filler)));
  ASSERT_TRUE(
      clients.database->write("c", "key " + canary, Json("the " + canary + " sings " + filler + canary)));
  ASSERT_TRUE(clients.memory->append("run", Json(canary + " in a stream")));
  ASSERT_THAT(files_with(deep(), canary), ::testing::Not(IsEmpty())) << "the test does not see the content";
  EXPECT_EQ(clients.database->remove("c", "key " + canary).value(), true);
  EXPECT_EQ(clients.memory->clear("run").value(), true);
  EXPECT_THAT(files_with(deep(), canary), IsEmpty());
  EXPECT_THAT(clients.database->search(canary).value(), IsEmpty());
  EXPECT_THAT(clients.database->search("note").value(), SizeIs(10));
}

TEST_F(MemoryFile, ChangeOfManyNotes_AddsOnePartToTheIndexes) {
  NoteChanges changes;
  for (int i = 0; i < 60; ++i)
    changes.writes.emplace_back(std::to_string(i), "some words of note " + std::to_string(i));
  ASSERT_TRUE(open().database->change("c", std::move(changes)));
  sqlite3* file = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &file), SQLITE_OK);
  for (const char* parts :
       {"SELECT count(DISTINCT segid) FROM words_idx", "SELECT count(DISTINCT segid) FROM pieces_idx"}) {
    std::string count;
    sqlite3_exec(
        file, parts,
        [](void* into, int, char** values, char**) {
          return static_cast<std::string*>(into)->assign(values[0]), 0;
        },
        &count, nullptr);
    EXPECT_EQ(count, "1") << parts
                          << ": one for each note makes writing many of them several times as expensive";
  }
  sqlite3_close(file);
}

TEST_F(MemoryFile, RemovalThatWasCutOff_IsCompletedWhenItIsOpenedAgain) {
  const std::string canary = "canary4455word";
  const pid_t child = fork();
  if (child == 0) {
    const auto clients = open();
    (void)clients.database->write("c", "k", Json(canary));
    // A reader keeps the log from being emptied. The process ends once the removal is committed.
    sqlite3 *reader = nullptr, *watcher = nullptr;
    sqlite3_open(path().c_str(), &reader);
    sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM notes", nullptr, nullptr, nullptr);
    sqlite3_open(path().c_str(), &watcher);
    const std::thread watch([watcher] {
      while (sqlite3_exec(watcher, "SELECT 1 / (count(*) = 0) FROM notes", stop_at_row, nullptr, nullptr) ==
             SQLITE_OK) {
      }
      _exit(0);
    });
    (void)clients.database->remove("c", "k");
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_THAT(files_with(deep(), canary), ::testing::Not(IsEmpty())) << "the removal was not cut off";
  const auto clients = open();
  EXPECT_FALSE(clients.database->read("c", "k").value()) << "the removal is durable";
  EXPECT_THAT(files_with(deep(), canary), IsEmpty());
}

TEST_F(MemoryFile, FiftyProcesses_LoseAndDoubleNothing) {
  constexpr int kProcesses = 50;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto clients = sqlite_memory(path());
      const bool written = clients &&
                           clients->database->write("all", std::to_string(i), "text").has_value() &&
                           clients->memory->append("log", i, {"effect " + std::to_string(i / 2)}).has_value();
      _exit(written ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto clients = open();
  EXPECT_EQ(clients.database->query("all").value().size(), std::size_t{kProcesses});
  EXPECT_EQ(clients.memory->read("log").value().size(), std::size_t{kProcesses / 2}) << "each effect once";
}

/// Gives this process a file system of its own on `folder`, with this much space.
bool mount_small_disk(const std::string& folder) {
  const std::string user = "0 " + std::to_string(geteuid()) + " 1\n";
  const std::string group = "0 " + std::to_string(getegid()) + " 1\n";
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/uid_map") << user;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/gid_map") << group;
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

/// What a process finds that fills a disk: 0, or the number of the expectation that does not hold.
int fill_small_disk(const std::string& folder) {
  const std::string ballast = folder + "/ballast";
  std::ofstream(ballast) << std::string(200'000, 'x');
  const auto clients = sqlite_memory(folder + "/memory.db");
  if (!clients || !clients->database->write("c", "first", "before")) return 2;
  Status written;
  int count = 0;
  for (; written && count < 1000; ++count)
    written = clients->database->write("c", std::to_string(count), Json(std::string(20'000, 'a')));
  if (written || written.error().kind() != ErrorKind::kFull) return 3;
  const auto kept = clients->database->query("c", {}, {5000});
  if (!kept || kept->size() != static_cast<std::size_t>(count)) return 4;  // the failed one is not there
  if (clients->database->read("c", "first").value()->value != Json("before")) return 5;
  fs::remove(ballast);
  if (!clients->database->write("c", "later", "after")) return 6;
  return sqlite_memory(folder + "/memory.db")->database->read("c", "later").value() ? 0 : 7;
}

TEST_F(MemoryFile, FullDisk_IsAnErrorAndKeepsWhatIsThere) {
  if (PRAXIS_SANITIZED) GTEST_SKIP() << "a thread of the sanitizers keeps the process out of a namespace";
  constexpr int kNoMount = 99;
  const pid_t child = fork();
  if (child == 0) _exit(mount_small_disk(folder_.path()) ? fill_small_disk(folder_.path()) : kNoMount);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kNoMount) PRAXIS_MISSING_PART("a mount namespace");
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace praxis
