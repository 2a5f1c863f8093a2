// Names, tags and removal of sessions, in every kind of journal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "journal/acknowledged.hpp"
#include "journal/testing/any_journal.hpp"
#include "journal/testing/journals.hpp"

namespace praxis {
namespace {

using testing::alter;
using testing::append_now;
using testing::append_of;
using ::testing::ElementsAre;
using testing::file_bytes;
using testing::kind_of;
using testing::kOther;
using testing::kSession;
using testing::open_journal;

Blob blob_of(std::string bytes) { return {digest_of(bytes), bytes}; }

/// Appends one entry that names the blob.
void append_blob(Journal& journal, const Lease& lease, std::uint64_t seq, const Blob& blob) {
  Append append = append_of(lease, seq, {R"({"$blob":")" + blob.digest.hex() + "\"}"});
  append.blobs.push_back(blob);
  ASSERT_TRUE(append_now(journal, std::move(append)));
}

/// A session with these entries, released.
void make(Journal& journal, const SessionId& id, std::vector<std::string> bodies,
          const SessionId& parent = {}) {
  const Lease lease = *journal.create(id, {5});
  Append append = append_of(lease, 0, std::move(bodies));
  append.row.parent = parent;
  ASSERT_TRUE(append_now(journal, std::move(append)));
  journal.release(lease);
}

class LabelTest : public testing::AnyJournalTest {};
INSTANTIATE_TEST_SUITE_P(Journals, LabelTest, testing::kAllJournals, testing::journal_name);

TEST_P(LabelTest, NameAndTags_AreInTheRow) {
  make(*journal_, kSession, {"1"});
  ASSERT_TRUE(journal_->label(kSession, {.name = "release", .add_tags = {"good", "a", "good"}}));
  ASSERT_TRUE(journal_->label(kSession, {.remove_tags = {"a", "unknown"}}));
  const auto row = journal_->session(kSession);
  EXPECT_EQ(row->name, "release");
  EXPECT_THAT(row->tags, ElementsAre("good"));
  EXPECT_EQ(journal_->sessions()->front().name, "release");
  ASSERT_TRUE(journal_->label(kSession, {.name = ""}));
  EXPECT_EQ(journal_->session(kSession)->name, "");
}

TEST_P(LabelTest, Name_BelongsToOneSession) {
  make(*journal_, kSession, {"1"});
  make(*journal_, kOther, {"1"});
  ASSERT_TRUE(journal_->label(kSession, {.name = "release"}));
  ASSERT_TRUE(journal_->label(kSession, {.name = "release"})) << "its own";
  EXPECT_EQ(kind_of(journal_->label(kOther, {.name = "release"})), "exists");
  EXPECT_EQ(journal_->session(kOther)->name, "");
  ASSERT_TRUE(journal_->remove(kSession));
  EXPECT_TRUE(journal_->label(kOther, {.name = "release"}));
}

TEST_P(LabelTest, TextThatIsNoName_IsRefused) {
  make(*journal_, kSession, {"1"});
  for (const std::string text : {"last", "1st", "two words", "-x", "a\x1b", "\xC3\xA9"})
    EXPECT_EQ(journal_->label(kSession, {.name = text}).error().code, ErrorCode::kInput) << text;
  EXPECT_FALSE(journal_->label(kSession, {.name = std::string(65, 'a')}));
  EXPECT_FALSE(journal_->label(kSession, {.add_tags = {""}}));
  EXPECT_EQ(kind_of(journal_->label(kOther, {.name = "x"})), "not_found");
}

class RemovalTest : public testing::AnyJournalTest {
 protected:
  void make_tree() {
    make(*journal_, SessionId("root"), {"1", "2"});
    make(*journal_, SessionId("child"), {"1"}, SessionId("root"));
    make(*journal_, kOther, {"1"});
    make(*journal_, SessionId("grandchild"), {"1"}, SessionId("child"));
  }
};
INSTANTIATE_TEST_SUITE_P(Journals, RemovalTest, testing::kAllJournals, testing::journal_name);

TEST_P(RemovalTest, Positions_AreNeverUsedAgain) {
  make(*journal_, kOther, {"1"});
  make(*journal_, kSession, {"1", "2"});
  const std::uint64_t last = *journal_->last_position();
  ASSERT_TRUE(journal_->remove(kSession));
  make(*journal_, SessionId("third"), {"1"});
  const auto all = journal_->changes(0, 0);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->at(0).session, kOther);
  EXPECT_GT(all->at(1).position, last) << "who has seen everything gets it";
}

TEST_P(RemovalTest, Tree_GoesAsAWhole) {
  make_tree();
  EXPECT_EQ(journal_->remove(SessionId("root")), 3U);
  ASSERT_EQ(journal_->sessions()->size(), 1U);
  EXPECT_EQ(journal_->sessions()->front().id, kOther);
  EXPECT_EQ(journal_->read(kOther)->size(), 1U);
  for (const char* gone : {"root", "child", "grandchild"}) {
    EXPECT_EQ(kind_of(journal_->read(SessionId(gone))), "not_found");
    EXPECT_EQ(kind_of(journal_->acquire(SessionId(gone))), "not_found");
  }
  EXPECT_EQ(kind_of(journal_->remove(SessionId("root"))), "not_found");
}

TEST_P(RemovalTest, TreeInUse_StaysWhole) {
  make_tree();
  const Lease lease = *journal_->acquire(SessionId("grandchild"));
  EXPECT_EQ(kind_of(journal_->remove(SessionId("root"))), "lease_held");
  EXPECT_EQ(journal_->sessions()->size(), 4U);
  EXPECT_TRUE(append_now(*journal_, append_of(lease, 1, {"2"})));
  EXPECT_EQ(journal_->read(SessionId("root"))->size(), 2U);
}

TEST_P(RemovalTest, NewSessions_FollowTheRemovedOnes) {
  make_tree();
  ASSERT_TRUE(journal_->remove(SessionId("root")));
  make(*journal_, SessionId("root"), {"again"});
  make(*journal_, SessionId("new"), {"1", "2"});
  EXPECT_EQ(journal_->read(SessionId("root"))->front().body, "again");
  EXPECT_EQ(journal_->sessions()->front().id, SessionId("new"));
  EXPECT_EQ(journal_->children(SessionId("root"))->size(), 0U);
}

TEST_P(RemovalTest, BlobsThatNoEntryNames_AreSwept) {
  const Blob shared = blob_of("shared"), own = blob_of("own payload");
  const Lease first = *journal_->create(kSession, {5}), second = *journal_->create(kOther, {5});
  append_blob(*journal_, first, 0, shared);
  append_blob(*journal_, first, 1, own);
  append_blob(*journal_, second, 0, shared);
  journal_->release(first);
  journal_->release(second);
  EXPECT_EQ(journal_->sweep()->blobs, 0U) << "all are named";
  ASSERT_TRUE(journal_->remove(kSession));
  const auto swept = journal_->sweep();
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->blobs, 1U);
  EXPECT_EQ(swept->bytes, own.bytes.size());
  EXPECT_EQ(kind_of(journal_->blob(own.digest)), "not_found");
  EXPECT_EQ(journal_->blob(shared.digest), "shared");
}

class SqliteRemovalTest : public ::testing::Test {
 protected:
  void write_two() const {
    const auto journal = open_journal(path_);
    make(*journal, kSession, {std::string(400'000, 'x'), "2"});
    make(*journal, kOther, {"1", std::string(400'000, 'y')});
  }
  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "j";
};

TEST_F(SqliteRemovalTest, AcknowledgedEndOfARemovedSession_IsNoLoss) {
  make(*open_journal(path_), kSession, {"1", "2"});
  const JournalHeads heads = acknowledged_heads(path_);
  const auto old_end = std::ranges::max(heads, {}, &JournalHead::entry);
  EXPECT_EQ(old_end.session, kSession.str());
  make(*open_journal(path_), kOther, {"1"});
  ASSERT_TRUE(open_journal(path_)->remove(kSession));
  // As if no process had lived to note the ends after this one.
  ASSERT_TRUE(replace_heads(path_, old_end));
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "");
  EXPECT_EQ(open_journal(path_, {.read_only = true})->sessions()->size(), 1U);
}

TEST_F(SqliteRemovalTest, RemovedLastEntry_IsStillTheEnd) {
  write_two();
  const auto last = std::ranges::max(acknowledged_heads(path_), {}, &JournalHead::entry);
  ASSERT_TRUE(open_journal(path_)->remove(kOther));
  ASSERT_TRUE(replace_heads(path_, last));
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "");
}

TEST_F(SqliteRemovalTest, LossAfterARemoval_IsNoticed) {
  write_two();
  ASSERT_TRUE(open_journal(path_)->remove(kSession));
  make(*open_journal(path_), SessionId("new"), {"1", "2"});
  alter(path_,
        "DELETE FROM chain WHERE id = (SELECT max(id) FROM chain); DELETE FROM sessions WHERE name = 'new'");
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "corrupt");
}

TEST_F(SqliteRemovalTest, Identifiers_OnlyGrow) {
  write_two();
  const auto before = std::ranges::max(acknowledged_heads(path_), {}, &JournalHead::entry).entry;
  ASSERT_TRUE(open_journal(path_)->remove(kOther));
  make(*open_journal(path_), SessionId("new"), {"1"});
  EXPECT_GT(std::ranges::max(acknowledged_heads(path_), {}, &JournalHead::entry).entry, before);
}

TEST_F(SqliteRemovalTest, Space_IsGivenBack) {
  write_two();
  EXPECT_EQ(shrink_journal(path_), 0U) << "nothing is free";
  const auto before = std::filesystem::file_size(path_);
  {
    const auto journal = open_journal(path_);
    ASSERT_TRUE(journal->remove(kSession));
    EXPECT_EQ(shrink_journal(path_), 0U) << "the journal is open";
  }
  const auto freed = shrink_journal(path_);
  ASSERT_TRUE(freed) << freed.error().message;
  EXPECT_GT(*freed, 300'000U);
  EXPECT_EQ(std::filesystem::file_size(path_), before - *freed);
  const auto journal = open_journal(path_);
  EXPECT_EQ(journal->read(kOther)->back().body, std::string(400'000, 'y'));
  EXPECT_EQ(kind_of(shrink_journal(folder_ / "missing")), "not_found");
}

TEST_F(SqliteRemovalTest, Bytes_AreGoneFromTheFile) {
  {
    const auto journal = open_journal(path_);
    make(*journal, kSession, {"a secret phrase"});
    make(*journal, kOther, {"1"});
    ASSERT_TRUE(journal->remove(kSession));
  }
  EXPECT_EQ(file_bytes(path_).find("a secret phrase"), std::string::npos);
}

TEST_F(SqliteRemovalTest, BrokenLinks_DoNotKeepEntries) {
  write_two();
  alter(path_, "UPDATE chain SET before = 99 WHERE seq = 2 AND session = 1");
  ASSERT_TRUE(open_journal(path_)->remove(kSession));
  alter(path_, "UPDATE chain SET kind = kind WHERE session = 2");
  EXPECT_EQ(open_journal(path_)->read(kOther)->size(), 2U);
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &connection), SQLITE_OK);
  int rows = 0;
  const auto count = [](void* to, int, char**, char**) { return ++*static_cast<int*>(to), 0; };
  sqlite3_exec(connection, "SELECT 1 FROM chain WHERE session = 1", count, &rows, nullptr);
  sqlite3_close(connection);
  EXPECT_EQ(rows, 0);
}

TEST_F(SqliteRemovalTest, Reader_SeesItGoneAndReadsOn) {
  write_two();
  const auto reader = open_journal(path_, {.read_only = true});
  const auto writer = open_journal(path_);
  EXPECT_EQ(reader->read(kSession)->size(), 2U);
  ASSERT_TRUE(writer->remove(kSession));
  EXPECT_EQ(kind_of(reader->read(kSession)), "not_found");
  EXPECT_EQ(reader->read(kOther)->size(), 2U);
  EXPECT_EQ(reader->sessions()->size(), 1U);
}

}  // namespace
}  // namespace praxis
