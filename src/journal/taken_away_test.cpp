// A journal whose files are moved, replaced, cut or deleted while it is open: nothing more is acknowledged,
// and what it holds can still be read.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "journal/testing/journals.hpp"
#include "store/sqlite.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;

struct Way {
  const char* name;
  const char* says;  ///< in the error
  std::function<void(const std::string& journal)> take;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Makes another journal with one session, and moves its file over `journal`.
void move_another_over(const std::string& journal) {
  {
    const auto other = open_journal(journal + ".other");
    append_now(*other, append_of(*other->create(SessionId{"other"}, {5}), 0, {"x"}));
  }
  fs::rename(journal + ".other", journal);
}

void overwrite_log(const std::string& journal) {
  std::string log = file_bytes(journal + "-wal");
  log[16] ^= 1;  // the salts
  std::fstream(journal + "-wal", std::ios::binary | std::ios::in | std::ios::out) << log;
}

const std::vector<Way> kWays = {
    {"Deleted", "j was deleted or moved away", [](const auto& j) { fs::remove(j); }},
    {"Renamed", "j was deleted or moved away", [](const auto& j) { fs::rename(j, j + ".elsewhere"); }},
    {"Replaced", "j was replaced", [](const auto& j) { move_another_over(j); }},
    {"ReplacedByText", "j was replaced",
     [](const auto& j) {
       put(j + ".text", "a text");
       fs::rename(j + ".text", j);
     }},
    {"FolderMoved", "j was deleted or moved away",
     [](const auto& j) {
       fs::rename(fs::path(j).parent_path(), fs::path(j).parent_path().string() + "-away");
     }},
    {"FolderDeleted", "j was deleted or moved away",
     [](const auto& j) { fs::remove_all(fs::path(j).parent_path()); }},
    {"Cut", "j was cut", [](const auto& j) { fs::resize_file(j, 0); }},
    {"LogDeleted", "j-wal was deleted or moved away", [](const auto& j) { fs::remove(j + "-wal"); }},
    {"LogReplaced", "j-wal was replaced",
     [](const auto& j) {
       fs::copy_file(j + "-wal", j + ".copy");
       fs::rename(j + ".copy", j + "-wal");
     }},
    {"LogCut", "j-wal was cut", [](const auto& j) { fs::resize_file(j + "-wal", 0); }},
    {"LogCutInTheMiddle", "j-wal was cut",
     [](const auto& j) { fs::resize_file(j + "-wal", fs::file_size(j + "-wal") - 1); }},
    {"LogOverwritten", "j-wal was overwritten", [](const auto& j) { overwrite_log(j); }},
    {"IndexDeleted", "j-shm was deleted or moved away", [](const auto& j) { fs::remove(j + "-shm"); }},
};

class TakenAwayTest : public ::testing::TestWithParam<Way> {
 protected:
  TakenAwayTest() {
    fs::create_directory(folder_ / "place");
    journal_ = open_journal(path_);
    lease_ = *journal_->create(kSession, {5});
    append("one");
    append("two");
  }

  Result<std::uint64_t> append(const std::string& body) {
    auto end = append_now(*journal_, append_of(*lease_, seq_, {body}));
    if (end) seq_ = *end;
    return end;
  }
  void expect_taken(const Error& error) const {
    EXPECT_TRUE(is_taken_away(error)) << error.message;
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_NE(error.message.find(GetParam().says), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("while it was in use"), std::string::npos) << error.message;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "place/j";
  std::shared_ptr<Journal> journal_;
  std::optional<Lease> lease_;
  std::uint64_t seq_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Ways, TakenAwayTest, ::testing::ValuesIn(kWays),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(TakenAwayTest, NothingMoreIsAcknowledged) {
  GetParam().take(path_);
  for (int tries = 0; tries < 2; ++tries) {
    const auto end = append("three");
    ASSERT_FALSE(end) << "acknowledged";
    expect_taken(end.error());
  }
  const auto posted = journal_->inbox().post(kSession, "message", {6});
  ASSERT_FALSE(posted);
  expect_taken(posted.error());
}

TEST_P(TakenAwayTest, WhatTheJournalHoldsIsStillRead) {
  GetParam().take(path_);
  ASSERT_FALSE(append("three"));
  const auto entries = journal_->read(kSession);
  ASSERT_TRUE(entries) << entries.error().message;
  // The last commit may be there: its journal was found to be gone when it was made.
  ASSERT_GE(entries->size(), 2u);
  EXPECT_EQ(entries->front().body, "one");
  EXPECT_TRUE(journal_->session(kSession));
}

TEST_P(TakenAwayTest, ClosingChangesNoFileThatIsThere) {
  GetParam().take(path_);
  ASSERT_FALSE(append("three"));
  const std::string file = fs::exists(path_) ? file_bytes(path_) : "";
  const std::string log = fs::exists(path_ + "-wal") ? file_bytes(path_ + "-wal") : "";
  journal_.reset();
  EXPECT_EQ(fs::exists(path_) ? file_bytes(path_) : "", file);
  EXPECT_EQ(fs::exists(path_ + "-wal") ? file_bytes(path_ + "-wal") : "", log);
}

/// A touch of the memory that mapped the cut part would kill the process with SIGBUS.
TEST(TakenAway, IndexThatIsCutIsNotTouched) {
  TemporaryFolder folder;
  const std::string path = folder / "j";
  auto journal = open_journal(path);
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"one"})));
  ASSERT_TRUE(journal->read(kSession));  // a reader has mapped it too
  fs::resize_file(path + "-shm", 0);
  const auto end = append_now(*journal, append_of(lease, 1, {"two"}));
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message.find("j-shm was cut"), std::string::npos) << end.error().message;
  const auto entries = journal->read(kSession);
  ASSERT_FALSE(entries);
  EXPECT_TRUE(is_taken_away(entries.error())) << entries.error().message;
  journal.reset();
  EXPECT_EQ(open_journal(path)->read(kSession)->size(), 1u);
}

TEST(TakenAway, JournalThatIsPutBackIsUsedAgain) {
  TemporaryFolder folder;
  const std::string path = folder / "j";
  const auto journal = open_journal(path);
  const auto lease = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"one"})));
  fs::rename(path, path + ".away");
  EXPECT_FALSE(append_now(*journal, append_of(lease, 1, {"two"})));
  fs::rename(path + ".away", path);
  const auto entries = journal->read(kSession);
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_TRUE(append_now(*journal, append_of(lease, entries->size(), {"three"})));
}

/// SQLite's own shell may copy the log into the file and cut it, under the locks that SQLite checks.
TEST(TakenAway, CheckpointByAnotherProgramIsNoLoss) {
  TemporaryFolder folder;
  const std::string path = folder / "j";
  const auto journal = open_journal(path);
  const auto lease = *journal->create(kSession, {5});
  for (std::uint64_t seq = 0; seq < 6; ++seq) {
    const auto end = append_now(*journal, append_of(lease, seq, {"entry"}));
    ASSERT_TRUE(end) << end.error().message;
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
    const char* how = seq % 2 == 0 ? "PRAGMA wal_checkpoint(TRUNCATE)" : "PRAGMA wal_checkpoint(RESTART)";
    EXPECT_EQ(sqlite3_exec(other, how, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
  }
  EXPECT_EQ(journal->read(kSession)->size(), 6u);
}

}  // namespace
}  // namespace praxis::testing
