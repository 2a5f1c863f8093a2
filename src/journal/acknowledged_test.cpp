// A journal that is shorter than what was acknowledged is refused, whatever made it shorter.
#include "journal/acknowledged.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "journal/accept_loss.hpp"
#include "journal/testing/journals.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLogHeader = 32, kFrame = 24 + 4096;

JournalHead some_head() {
  JournalHead head;
  head.entry = 12;
  head.hash = digest_of("x");
  head.seq = 7;
  head.session = "01SESSION";
  head.message = 3;
  head.answer = 2;
  return head;
}

TEST(JournalHeadText, IsReadAsWritten) {
  EXPECT_EQ(parse_journal_head(to_text(some_head())), some_head());
  EXPECT_EQ(parse_journal_head(to_text(some_head()) + "   \n"), some_head());
  const JournalHead empty{.hash = {}, .session = "-"};
  EXPECT_EQ(parse_journal_head(to_text(empty)), empty);
}

TEST(JournalHeadText, AnyDamageIsNotAHead) {
  const std::string text = to_text(some_head());
  for (std::size_t at = 0; at < text.size(); ++at) {
    EXPECT_FALSE(parse_journal_head(text.substr(0, at))) << at;
    std::string changed = text;
    changed[at] ^= 1;
    EXPECT_FALSE(parse_journal_head(changed)) << at;
  }
}

/// The bytes of the files of a journal at one moment.
struct FilesOfJournal {
  std::string file, log, head;
};

class AcknowledgedTest : public ::testing::Test {
 protected:
  /// Appends entries one by one, then copies the files as a kill leaves them.
  FilesOfJournal killed_after(int entries) {
    const auto journal = open_journal(path_);
    if (!lease_) lease_ = *journal->create(kSession, {5});
    if (seq_ > 0) lease_ = *journal->acquire(kSession);
    for (int left = entries; left > 0; --left) {
      EXPECT_TRUE(append_now(*journal, append_of(*lease_, seq_, {R"({"n":1})"})));
      ++seq_;
    }
    return files();
  }
  FilesOfJournal files() const {
    return {file_bytes(path_), file_bytes(path_ + "-wal"), file_bytes(path_ + ".head")};
  }

  /// Writes the files of a journal that no process has open.
  void write(const FilesOfJournal& bytes) const {
    fs::remove(copy_ + "-shm");
    fs::remove(copy_ + ".owners");
    put(copy_, bytes.file);
    put(copy_ + "-wal", bytes.log);
    put(copy_ + ".head", bytes.head);
  }
  static void put(const std::string& path, const std::string& bytes) {
    fs::remove(path);
    if (!bytes.empty()) std::ofstream(path, std::ios::binary) << bytes;
  }

  void expect_refused(const FilesOfJournal& bytes, const std::string& what) const {
    SCOPED_TRACE(what);
    write(bytes);
    const auto reader = open_journal(copy_, {.create = false, .read_only = true});
    const auto read = reader->read(kSession, 1, 0);
    EXPECT_EQ(kind_of(read), "corrupt");
    EXPECT_EQ(kind_of(reader->sessions(0)), "corrupt");
    const auto opened = sqlite_journal(copy_);
    EXPECT_EQ(kind_of(opened), "corrupt");
    if (!opened) {
      EXPECT_NE(opened.error().message.find("lost its end"), std::string::npos) << opened.error().message;
    }
    EXPECT_TRUE(file_bytes(copy_) == bytes.file && file_bytes(copy_ + "-wal") == bytes.log)
        << "the evidence is changed";
  }
  void expect_read(const FilesOfJournal& bytes, std::size_t entries, const std::string& what) const {
    SCOPED_TRACE(what);
    for (const bool read_only : {true, false}) {
      write(bytes);
      const auto journal = sqlite_journal(copy_, {.create = false, .read_only = read_only});
      ASSERT_TRUE(journal) << journal.error().message;
      const auto read = (*journal)->read(kSession, 1, 0);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->size(), entries);
    }
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "j", copy_ = folder_ / "copy";
  std::optional<Lease> lease_;
  std::uint64_t seq_ = 0;
};

TEST_F(AcknowledgedTest, KilledJournalOpensAsWritten) { expect_read(killed_after(8), 8, "as it is"); }

TEST_F(AcknowledgedTest, FlippedBitInTheLogIsRefused) {
  const FilesOfJournal whole = killed_after(8);
  const std::size_t frames = (whole.log.size() - kLogHeader) / kFrame;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    for (const std::size_t at : {std::size_t{9}, std::size_t{17}, std::size_t{600}}) {
      FilesOfJournal damaged = whole;
      damaged.log[kLogHeader + frame * kFrame + at] ^= 4;
      expect_refused(damaged, "frame " + std::to_string(frame) + ", byte " + std::to_string(at));
    }
  }
}

TEST_F(AcknowledgedTest, MissingOrCutLogIsRefused) {
  const FilesOfJournal whole = killed_after(8);
  for (const std::size_t size : {std::size_t{0}, kLogHeader, whole.log.size() / 2, whole.log.size() - 1}) {
    FilesOfJournal cut = whole;
    cut.log.resize(size);
    expect_refused(cut, "log of " + std::to_string(size) + " bytes");
  }
}

TEST_F(AcknowledgedTest, OlderCopyIsRefused) {
  FilesOfJournal older = killed_after(3);
  const FilesOfJournal closed = files();
  const std::string head = killed_after(1).head;
  older.head = head;
  expect_refused(older, "a copy in use");
  expect_refused({closed.file, "", head}, "a closed copy");
}

TEST_F(AcknowledgedTest, ErrorNamesWhatIsLost) {
  FilesOfJournal older = killed_after(3);
  older.head = killed_after(2).head;
  write(older);
  const auto opened = sqlite_journal(copy_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("record 5 of session 01SESSION was acknowledged, the file ends at 3"),
            std::string::npos)
      << opened.error().message;
}

TEST_F(AcknowledgedTest, AnotherJournalIsRefused) {
  const FilesOfJournal whole = killed_after(3);
  const auto other = open_journal(folder_ / "other");
  const Lease lease = *other->create(kOther, {5});
  for (std::uint64_t seq = 0; seq < 5; ++seq)
    ASSERT_TRUE(append_now(*other, append_of(lease, seq, {R"({"n":2})"})));
  expect_refused({file_bytes(folder_ / "other"), file_bytes(folder_ / "other-wal"), whole.head}, "another");
}

TEST_F(AcknowledgedTest, OldMissingOrTornHeadIsNoError) {
  const FilesOfJournal early = killed_after(3);
  FilesOfJournal whole = killed_after(3);
  const std::string last = whole.head;
  for (const std::string& head :
       {early.head, std::string(), std::string(5000, '\0'), std::string(300, 'x')}) {
    whole.head = head;
    expect_read(whole, 6, "head of " + std::to_string(head.size()) + " bytes");
  }
  for (std::size_t size = 1; size < last.size(); size += 50) {
    whole.head = last.substr(0, size);
    expect_read(whole, 6, "head cut to " + std::to_string(size));
  }
}

TEST_F(AcknowledgedTest, LostMessageAndLostAnswerAreRefused) {
  killed_after(1);
  const auto journal = open_journal(path_);
  const Lease lease = *journal->acquire(kSession);
  FilesOfJournal before = files();
  const auto message = journal->inbox().post(kSession, "stop", {9});
  ASSERT_TRUE(message);
  const FilesOfJournal posted = files();
  ASSERT_TRUE(journal->inbox().answer(lease, *message, "stopped"));
  const FilesOfJournal answered = files();
  before.head = posted.head;
  expect_refused(before, "a message");
  expect_refused({posted.file, posted.log, answered.head}, "an answer");
}

TEST_F(AcknowledgedTest, HeadFollowsAllWriters) {
  const auto one = open_journal(path_), two = open_journal(path_);
  const Lease first = *one->create(kSession, {5}), second = *two->create(kOther, {5});
  for (std::uint64_t seq = 0; seq < 3; ++seq) {
    ASSERT_TRUE(append_now(*one, append_of(first, seq, {R"({"n":1})"})));
    ASSERT_TRUE(append_now(*two, append_of(second, seq, {R"({"n":2})"})));
    std::int64_t last = 0;
    for (const JournalHead& head : acknowledged_heads(path_)) last = std::max(last, head.entry);
    EXPECT_EQ(last, static_cast<std::int64_t>(2 * seq + 2));
  }
}

TEST_F(AcknowledgedTest, UnsyncedChangeIsNotAcknowledged) {
  killed_after(1);
  const auto journal = open_journal(path_);
  const std::string head = file_bytes(path_ + ".head");
  const Lease lease = *journal->acquire(kSession);
  journal->release(lease);
  ASSERT_TRUE(journal->sessions(0));
  EXPECT_EQ(file_bytes(path_ + ".head"), head);
}

TEST_F(AcknowledgedTest, AcceptedLossKeepsTheDamagedFiles) {
  const FilesOfJournal whole = killed_after(8);
  FilesOfJournal damaged = whole;
  damaged.log.resize(damaged.log.size() * 2 / 3);
  write(damaged);
  const auto loss = find_loss(copy_);
  ASSERT_TRUE(loss) << loss.error().message;
  ASSERT_EQ(loss->sessions.size(), 1U);
  EXPECT_EQ(loss->sessions[0].session, kSession.str());
  EXPECT_EQ(loss->sessions[0].acknowledged, 8U);
  const std::uint64_t left = loss->sessions[0].left;
  EXPECT_LT(left, 8U);
  EXPECT_TRUE(file_bytes(copy_ + "-wal") == damaged.log) << "looking changes nothing";

  const auto kept = accept_loss(copy_);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(file_bytes(*kept) == damaged.file && file_bytes(*kept + "-wal") == damaged.log &&
              file_bytes(*kept + ".head") == damaged.head);
  const auto journal = open_journal(copy_);
  EXPECT_EQ(journal->read(kSession, 1, 0)->size(), left);
  const Lease lease = *journal->acquire(kSession);
  EXPECT_TRUE(append_now(*journal, append_of(lease, left, {R"({"n":9})"})));
  EXPECT_TRUE(find_loss(copy_)->error.empty());
}

TEST_F(AcknowledgedTest, LossIsNotAcceptedWhileTheJournalIsOpen) {
  killed_after(2);
  const auto journal = open_journal(path_);
  EXPECT_EQ(kind_of(accept_loss(path_)), "lease_held");
}

TEST_F(AcknowledgedTest, HeadKeptElsewhereShowsAnOlderCopy) {
  const FilesOfJournal older = killed_after(3);
  const auto before = head_of_journal(path_);
  ASSERT_TRUE(before) << before.error().message;
  killed_after(2);
  const auto after = head_of_journal(path_);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_TRUE(check_journal_head(path_, *before));
  EXPECT_TRUE(check_journal_head(path_, *after));
  write(older);
  EXPECT_TRUE(check_journal_head(copy_, *before));
  EXPECT_EQ(kind_of(check_journal_head(copy_, *after)), "corrupt");
}

TEST_F(AcknowledgedTest, HeadFileIsPrivate) {
  killed_after(1);
  EXPECT_EQ(fs::status(path_ + ".head").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AcknowledgedTest, NewJournalForgetsTheHeadOfADeletedOne) {
  killed_after(3);
  fs::remove(path_);
  const auto journal = open_journal(path_);
  EXPECT_TRUE(journal->sessions(0)->empty());
  EXPECT_TRUE(acknowledged_heads(path_).empty());
}

TEST_F(AcknowledgedTest, LogOfAMissingJournalIsNotLaidOverANewOne) {
  const FilesOfJournal left = killed_after(3);
  put(copy_ + "-wal", left.log);
  const auto opened = sqlite_journal(copy_);
  EXPECT_EQ(kind_of(opened), "corrupt");
  EXPECT_FALSE(fs::exists(copy_));
  EXPECT_TRUE(file_bytes(copy_ + "-wal") == left.log);
}

TEST(JournalFiles, FifoOrLinkInPlaceOfOne_IsRefusedAtOnce) {
  for (const std::string suffix : {".head", ".owners"}) {
    for (const bool is_fifo : {true, false}) {
      const TemporaryFolder folder;
      const std::string path = folder / "j", part = path + suffix;
      {
        const auto journal = open_journal(path);
      }
      fs::remove(part);
      if (is_fifo) {
        ASSERT_EQ(mkfifo(part.c_str(), 0600), 0);
      } else {
        fs::create_symlink(folder / "elsewhere", part);
      }
      const auto refused = sqlite_journal(path);  // would wait for the other end of a FIFO
      ASSERT_FALSE(refused) << suffix << is_fifo;
      EXPECT_TRUE(refused.error().message.contains(suffix)) << refused.error().message;
      (void)acknowledged_heads(path);
      EXPECT_FALSE(fs::exists(folder / "elsewhere"));
    }
  }
}

TEST(JournalFiles, EachIsTheUsersAloneUnderAnyUmask) {
  for (const mode_t mask : {0U, 022U, 077U, 0777U}) {
    const TemporaryFolder folder;
    const std::string path = folder / "state/j";
    const mode_t before = umask(mask);
    const auto journal = sqlite_journal(path);
    umask(before);
    ASSERT_TRUE(journal) << journal.error().message;
    struct stat about{};
    ASSERT_EQ(stat((folder / "state").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0700U);
    for (const char* suffix : {"", "-wal", "-shm", ".owners", ".head"}) {
      ASSERT_EQ(stat((path + suffix).c_str(), &about), 0) << suffix;
      EXPECT_EQ(about.st_mode & 07777, 0600U) << suffix << " umask " << mask;
    }
  }
}

}  // namespace
}  // namespace praxis::testing
