// Without acknowledged heads, damage in the middle of a log is distinguished from the end that a power loss
// has torn.
#include "journal/log_evidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <span>

#include "journal/accept_loss.hpp"
#include "journal/testing/journals.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderBytes = 32, kFrameBytes = 24 + 4096;
constexpr int kEntries = 8;

std::optional<LoggedEntry> behind_damage(const std::string& log) {
  return entry_behind_damage([&](std::span<char> bytes, std::int64_t at) {
    const auto from = static_cast<std::size_t>(at);
    if (from + bytes.size() > log.size()) return false;
    std::ranges::copy(log.substr(from, bytes.size()), bytes.begin());
    return true;
  });
}

class LogEvidenceTest : public ::testing::Test {
 protected:
  /// Appends entries one by one, each to its own session, then copies the files as a kill leaves them.
  LogEvidenceTest() {
    const auto journal = open_journal(path_);
    const Lease lease = *journal->create(kSession, {5});
    for (std::uint64_t seq = 0; seq < kEntries; ++seq) {
      ends_.push_back(file_bytes(path_ + "-wal").size());
      EXPECT_TRUE(append_now(*journal, append_of(lease, seq, {"entry"})));
    }
    file_ = file_bytes(path_);
    log_ = file_bytes(path_ + "-wal");
  }

  std::size_t frames() const { return (log_.size() - kHeaderBytes) / kFrameBytes; }
  /// Whether two whole commits follow a frame: the first one holds a record, the second one proves it.
  bool is_provable(std::size_t frame) const {
    return kHeaderBytes + (frame + 1) * kFrameBytes <= ends_[kEntries - 2];
  }

  /// Writes the file and a log, as the only files of a journal.
  void write(const std::string& log) const {
    for (const char* part : {"-shm", ".owners", ".head"}) fs::remove(copy_ + part);
    std::ofstream(copy_, std::ios::binary) << file_;
    std::ofstream(copy_ + "-wal", std::ios::binary) << log;
  }
  void expect_refused(const std::string& log) const {
    write(log);
    const auto reader = open_journal(copy_, {.create = false, .read_only = true});
    EXPECT_EQ(kind_of(reader->sessions(0)), "corrupt");
    const auto opened = sqlite_journal(copy_);
    EXPECT_EQ(kind_of(opened), "corrupt");
    EXPECT_TRUE(file_bytes(copy_) == file_ && file_bytes(copy_ + "-wal") == log) << "the evidence is changed";
  }
  void expect_opened(const std::string& log) const {
    for (const bool read_only : {true, false}) {
      write(log);
      const auto journal = sqlite_journal(copy_, {.create = false, .read_only = read_only});
      ASSERT_TRUE(journal) << journal.error().message;
      const auto rows = (*journal)->sessions(0);
      EXPECT_TRUE(rows) << rows.error().message;
    }
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "j", copy_ = folder_ / "copy";
  std::string file_, log_;
  std::vector<std::size_t> ends_;  ///< of the log before each append
};

TEST_F(LogEvidenceTest, SoundLogProvesNothing) {
  EXPECT_EQ(behind_damage(log_), std::nullopt);
  EXPECT_EQ(behind_damage(""), std::nullopt);
  expect_opened(log_);
}

TEST_F(LogEvidenceTest, FlippedBitBeforeTwoCommitsIsRefused) {
  int refused = 0;
  for (std::size_t frame = 0; frame < frames(); ++frame) {
    for (const std::size_t at : {2U, 6U, 9U, 17U, 600U}) {  // page, size, salt, checksum, content
      SCOPED_TRACE(std::to_string(frame) + " " + std::to_string(at));
      std::string log = log_;
      log[kHeaderBytes + frame * kFrameBytes + at] ^= 4;
      if (!is_provable(frame)) continue;
      expect_refused(log);
      ++refused;
    }
  }
  EXPECT_GE(refused, 30);
}

TEST_F(LogEvidenceTest, FlippedBitInTheHeaderIsRefused) {
  for (const std::size_t at : {1U, 6U, 13U, 17U, 21U, 25U, 30U}) {
    SCOPED_TRACE(at);
    std::string log = log_;
    log[at] ^= 4;
    expect_refused(log);
  }
}

TEST_F(LogEvidenceTest, LostSectorIsRefused) {
  for (std::size_t at = 512; at + 512 < ends_[kEntries - 3]; at += 512) {
    std::string log = log_;
    std::fill_n(log.begin() + static_cast<std::ptrdiff_t>(at), 512, '\0');
    if (log == log_) continue;  // it was empty
    const auto found = behind_damage(log);
    ASSERT_TRUE(found) << at;
    EXPECT_EQ(found->entry, kEntries - 1) << "the last commit has no successor";
    EXPECT_EQ(found->seq, static_cast<std::uint64_t>(kEntries - 1));
  }
}

TEST_F(LogEvidenceTest, RefusalNamesTheRecord) {
  std::string log = log_;
  log[kHeaderBytes + kFrameBytes + 600] ^= 4;
  write(log);
  const auto opened = sqlite_journal(copy_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("record 7 of session"), std::string::npos) << opened.error().message;
}

/// The journal opens with any part of the last commit, as a power loss leaves it.
TEST_F(LogEvidenceTest, TornLastCommitIsNoDamage) {
  const std::size_t begin = ends_.back(), count = (log_.size() - begin) / 512;
  for (std::size_t sector = 0; sector < count; ++sector) {
    SCOPED_TRACE(sector);
    std::string log = log_;
    std::fill_n(log.begin() + static_cast<std::ptrdiff_t>(begin + sector * 512), 512, '\0');
    EXPECT_EQ(behind_damage(log), std::nullopt);
    if (sector % 5 == 0) expect_opened(log);
  }
  for (std::size_t size = 0; size < log_.size(); size += 1111)
    EXPECT_EQ(behind_damage(log_.substr(0, size)), std::nullopt) << size;
}

/// Frames of a commit that a kill cut off stay behind those that are written later in its place.
TEST_F(LogEvidenceTest, RestOfAnUnfinishedCommitIsNoDamage) {
  std::string log = log_;
  log[ends_.back() + 600] ^= 4;  // the first frame of the last commit
  expect_opened(log);
  write(log);
  const auto journal = open_journal(copy_);
  const Lease lease = *journal->acquire(kSession);
  ASSERT_TRUE(append_now(*journal, append_of(lease, kEntries - 1, {"again"})));
  EXPECT_EQ(behind_damage(file_bytes(copy_ + "-wal")), std::nullopt);
}

TEST_F(LogEvidenceTest, AcceptedLossIsNotFoundAgain) {
  std::string log = log_;
  log[kHeaderBytes + 3 * kFrameBytes + 600] ^= 4;
  write(log);
  const auto loss = find_loss(copy_);
  ASSERT_TRUE(loss) << loss.error().message;
  EXPECT_FALSE(loss->error.empty());
  const auto kept = accept_loss(copy_);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(file_bytes(*kept + "-wal") == log);
  const auto journal = sqlite_journal(copy_);
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_TRUE((*journal)->sessions(0));
}

}  // namespace
}  // namespace praxis::testing
