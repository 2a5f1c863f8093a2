// The promises of the file: damage is detected, foreign files are not changed, other users cannot read it,
// and reading changes nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <map>

#include "journal/testing/faulty_disk.hpp"
#include "journal/testing/journals.hpp"

namespace praxis {
namespace {

using testing::alter;
using testing::append_now;
using testing::append_of;
using testing::file_bytes;
using testing::kind_of;
using testing::kSession;
using testing::open_journal;

class SqliteJournalTest : public ::testing::Test {
 protected:
  /// Writes and closes a journal with entries 1 to 5 and a blob.
  void write_journal() {
    const auto journal = open_journal(path_);
    const auto lease = *journal->create(kSession, {5});
    auto append = append_of(lease, 0, {"one", "two", "three", "four", "five"});
    append.blobs = {{digest_of("blob"), "blob"}};
    append.row.status = "idle";
    ASSERT_EQ(append_now(*journal, append), 5);
  }
  /// Returns the seq from which reading the whole log reports damage; 0 if it reports none.
  std::int64_t untrusted_from(std::uint64_t from = 1, std::size_t limit = 0) {
    const auto entries = open_journal(path_)->read(kSession, from, limit);
    if (entries) return 0;
    EXPECT_EQ(kind_of(entries), "corrupt") << entries.error().message;
    return json_int(entries.error().detail(), "seq");
  }
  std::string mode(const std::string& path) {
    struct stat info{};
    if (stat(path.c_str(), &info) != 0) return "missing";
    char text[8];
    std::snprintf(text, sizeof text, "%03o", info.st_mode & 0777U);
    return text;
  }
  std::map<std::string, std::string> files() {
    std::map<std::string, std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "")) {
      found[file.path().filename().string()] = file_bytes(file.path().string());
    }
    return found;
  }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "j";
};

TEST_F(SqliteJournalTest, Reopen_FindsEverythingAndTheLeaseFree) {
  write_journal();
  const auto journal = open_journal(path_);
  EXPECT_EQ(journal->read(kSession)->size(), 5);
  EXPECT_EQ(journal->blob(digest_of("blob")), "blob");
  EXPECT_EQ(journal->session(kSession)->status, "idle");
  const auto lease = journal->acquire(kSession);
  ASSERT_TRUE(lease);
  EXPECT_EQ(append_now(*journal, append_of(*lease, 5, {"six"})), 6);
}

struct Damage {
  const char* name;
  const char* sql;
  std::int64_t seq;
};
class DamageTest : public SqliteJournalTest, public ::testing::WithParamInterface<Damage> {};
INSTANTIATE_TEST_SUITE_P(
    All, DamageTest,
    ::testing::Values(Damage{"Time", "UPDATE chain SET time = time | 1 WHERE seq = 3", 3},
                      Damage{"Kind", "UPDATE chain SET kind = 'nessage_appended' WHERE seq = 3", 3},
                      Damage{"Body", "UPDATE chain SET body = 'thref' WHERE seq = 3", 3},
                      Damage{"Hash", "UPDATE chain SET hash = zeroblob(32) WHERE seq = 3", 3},
                      Damage{"ShortHash", "UPDATE chain SET hash = x'00' WHERE seq = 3", 3},
                      Damage{"Seq", "UPDATE chain SET seq = 9 WHERE seq = 3", 3},
                      Damage{"Session", "UPDATE chain SET session = 9 WHERE seq = 3", 3},
                      Damage{"Deleted", "DELETE FROM chain WHERE seq = 3", 3},
                      Damage{"First", "DELETE FROM chain WHERE seq = 1", 1},
                      Damage{"Tail", "DELETE FROM chain WHERE seq > 3", 4},
                      Damage{"All", "DELETE FROM chain", 1},
                      Damage{
                          "Swapped",
                          "UPDATE chain SET seq = 99 WHERE seq = 2; UPDATE chain SET seq = 2 WHERE seq = 4;"
                          "UPDATE chain SET seq = 4 WHERE seq = 99",
                          2},
                      Damage{"HeadSeq", "UPDATE sessions SET head_seq = 7", 6},
                      Damage{"HeadSeqLower", "UPDATE sessions SET head_seq = 4", 5},
                      Damage{"HeadHash", "UPDATE sessions SET head_hash = zeroblob(32)", 5}),
    [](const auto& damage) { return std::string(damage.param.name); });

TEST_P(DamageTest, EveryKind_IsFoundAndNamed) {
  write_journal();
  EXPECT_EQ(untrusted_from(), 0);
  alter(path_, GetParam().sql);
  EXPECT_EQ(untrusted_from(), GetParam().seq);
}

TEST_F(SqliteJournalTest, BrokenLinks_HideNoEntries) {
  for (const auto* damage :
       {"UPDATE chain SET before = 0 WHERE seq = 3", "UPDATE chain SET before = 5 WHERE seq = 2",
        "UPDATE sessions SET head_id = 1"}) {
    std::filesystem::remove(path_);
    write_journal();
    alter(path_, damage);
    EXPECT_EQ(open_journal(path_)->read(kSession)->size(), 5) << damage;
    EXPECT_EQ(open_journal(path_)->read(kSession, 3)->size(), 3) << damage;
  }
}

TEST_F(SqliteJournalTest, UnlinkedEntry_IsNotRead) {
  write_journal();
  alter(path_, "INSERT INTO chain SELECT 6, session, 6, 5, time, hash, kind, body FROM chain LIMIT 1");
  EXPECT_EQ(untrusted_from(), 0);
  EXPECT_EQ(open_journal(path_)->read(kSession)->size(), 5);
}

TEST_F(SqliteJournalTest, LogOfAnotherSession_IsNotTrusted) {
  write_journal();
  alter(path_, "UPDATE sessions SET name = '02SESSION'");
  EXPECT_EQ(kind_of(open_journal(path_)->read(SessionId("02SESSION"))), "corrupt");
}

TEST_F(SqliteJournalTest, EntriesBeforeTheDamage_AreReadable) {
  write_journal();
  alter(path_, "UPDATE chain SET body = '' WHERE seq = 3");
  EXPECT_EQ(untrusted_from(1, 2), 0);
  EXPECT_EQ(untrusted_from(2, 2), 3);
  EXPECT_EQ(untrusted_from(4), 0) << "chained to the stored hash of entry 3";
}

TEST_F(SqliteJournalTest, DamagedEnd_IsShownInTheList) {
  write_journal();
  alter(path_, "DELETE FROM chain WHERE seq = 5");
  const auto journal = open_journal(path_);
  EXPECT_EQ(journal->sessions()->front().status, "corrupt");
  EXPECT_EQ(journal->session(kSession)->status, "corrupt");
}

TEST_F(SqliteJournalTest, AlteredBlob_IsNotReturned) {
  write_journal();
  alter(path_, "UPDATE blobs SET bytes = CAST('blab' AS BLOB)");
  EXPECT_EQ(kind_of(open_journal(path_)->blob(digest_of("blob"))), "corrupt");
}

TEST_F(SqliteJournalTest, AppendToADamagedEnd_IsRefused) {
  write_journal();
  alter(path_, "UPDATE sessions SET head_seq = 4");
  const auto journal = open_journal(path_);
  auto append = append_of(*journal->acquire(kSession), 4, {"other five"});
  append.blobs = {{digest_of("new"), "new"}};
  EXPECT_EQ(kind_of(append_now(*journal, append)), "corrupt");
  EXPECT_EQ(kind_of(journal->blob(digest_of("new"))), "not_found");
}

TEST_F(SqliteJournalTest, EveryFlippedByte_IsFoundOrHarmless) {
  {
    const auto journal = open_journal(path_);
    ASSERT_TRUE(
        append_now(*journal, append_of(*journal->create(kSession, {5}), 0, {"some text", "more of it"})));
  }
  const auto sound = file_bytes(path_);
  int found = 0;
  for (std::size_t at = 4096; at < sound.size(); at += 7) {
    if (sound[at] == 0) continue;
    auto damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(path_, std::ios::binary) << damaged;
    const auto entries = open_journal(path_, {.read_only = true})->read(kSession);
    if (entries) {
      ASSERT_EQ(entries->size(), 2) << at;
      EXPECT_EQ(entries->front().body + entries->back().body, "some textmore of it") << at;
    } else {
      ++found;
    }
  }
  EXPECT_GT(found, 20);
}

TEST_F(SqliteJournalTest, ForeignFile_IsRefusedAndUntouched) {
  const std::string garbage(5000, 'g');
  std::ofstream(path_) << garbage;
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "corrupt");
  EXPECT_EQ(files(), (std::map<std::string, std::string>{{"j", garbage}}));

  std::ofstream(path_, std::ios::trunc) << "";
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "corrupt") << "empty";

  alter(path_, "CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA user_version = 1");
  const auto database = files();
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "corrupt") << "a database of another program";
  EXPECT_EQ(files(), database);
}

TEST_F(SqliteJournalTest, NewerFormat_IsRefusedAndUntouched) {
  write_journal();
  alter(path_, "PRAGMA user_version = 6");
  const auto before = files();
  const auto opened = sqlite_journal(path_);
  EXPECT_EQ(kind_of(opened), "version");
  EXPECT_NE(opened.error().message.find("format 6"), std::string::npos) << opened.error().message;
  EXPECT_EQ(kind_of(sqlite_journal(path_, {.read_only = true})), "version");
  EXPECT_EQ(files(), before);
}

TEST_F(SqliteJournalTest, FormatThatDoesNotExist_IsNamed) {
  write_journal();
  alter(path_, "PRAGMA user_version = -1");
  const auto opened = sqlite_journal(path_);
  EXPECT_EQ(kind_of(opened), "corrupt");
  EXPECT_EQ(opened.error().message, "journal " + path_ + " has format -1, which does not exist");
}

TEST_F(SqliteJournalTest, NewerFormatInTheLog_IsRefusedAndUntouched) {
  write_journal();
  sqlite3* newer = nullptr;  // keeps what it writes out of the file's header
  ASSERT_EQ(sqlite3_open(path_.c_str(), &newer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(newer, "PRAGMA user_version = 6", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto before = file_bytes(path_) + file_bytes(path_ + "-wal");
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "version");
  EXPECT_EQ(file_bytes(path_) + file_bytes(path_ + "-wal"), before);
  sqlite3_close(newer);
}

TEST_F(SqliteJournalTest, CreatedSession_IsVisibleToOthersFromItsFirstAppend) {
  const auto journal = open_journal(path_);
  const auto other = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  for (const auto& each : {journal, other}) {
    EXPECT_EQ(kind_of(each->read(kSession)), "not_found");
    EXPECT_EQ(kind_of(each->session(kSession)), "not_found");
    EXPECT_EQ(kind_of(each->acquire(kSession)), "not_found");
    EXPECT_EQ(kind_of(each->inbox().post(kSession, "x", {5})), "not_found");
    EXPECT_TRUE(each->sessions()->empty());
  }
  ASSERT_TRUE(append_now(*journal, append_of(lease, 0, {"1"})));
  EXPECT_EQ(other->read(kSession)->size(), 1);
  EXPECT_EQ(kind_of(other->acquire(kSession)), "lease_held");
}

TEST_F(SqliteJournalTest, NameTakenTwice_BelongsToTheFirstToWrite) {
  const auto journal = open_journal(path_);
  const auto other = open_journal(path_);
  const auto late = *journal->create(kSession, {5});
  ASSERT_TRUE(append_now(*other, append_of(*other->create(kSession, {6}), 0, {"theirs"})));
  EXPECT_EQ(kind_of(append_now(*journal, append_of(late, 0, {"ours"}))), "exists");
  EXPECT_EQ(kind_of(append_now(*journal, append_of(late, 1, {"ours"}))), "lease_lost");
  journal->release(late);
  EXPECT_EQ(kind_of(journal->acquire(kSession)), "lease_held") << "it released nothing";
  EXPECT_EQ(journal->read(kSession)->front().body, "theirs");
}

TEST_F(SqliteJournalTest, FormerOwnerOfTheSessionAbove_LearnsThatItLostIt) {
  const SessionId below("below");
  const auto former = open_journal(path_);
  const auto owner = open_journal(path_);
  const auto above = testing::make_session(*former, kSession);
  const auto late = *former->create(below, {5});
  auto taken = owner->acquire(kSession, true);
  ASSERT_TRUE(taken) << taken.error().message;
  ASSERT_TRUE(append_now(*owner, append_of(*owner->create(below, {6}), 0, {"theirs"})));
  auto append = append_of(late, 0, {"ours"});
  append.on_behalf_of = above;
  EXPECT_EQ(kind_of(append_now(*former, std::move(append))), "lease_lost") << "and not that it exists";
}

TEST_F(SqliteJournalTest, ReleaseOfAnUnwrittenSession_LeavesNothing) {
  const auto journal = open_journal(path_);
  const auto old = *journal->create(kSession, {5});
  journal->release(old);
  EXPECT_TRUE(journal->sessions()->empty());
  const auto lease = *journal->create(kSession, {6});
  journal->release(old);
  EXPECT_EQ(kind_of(append_now(*journal, append_of(old, 0, {"old"}))), "not_found");
  EXPECT_EQ(kind_of(journal->create(kSession, {7})), "exists") << "an outdated lease releases nothing";
  EXPECT_EQ(append_now(*journal, append_of(lease, 0, {"1"})), 1);
  journal->release(old);
  EXPECT_EQ(kind_of(append_now(*journal, append_of(old, 1, {"old"}))), "lease_lost");
  EXPECT_EQ(append_now(*journal, append_of(lease, 1, {"2"})), 2);
}

TEST_F(SqliteJournalTest, ReleasedLease_IsSoonFreeForOthers) {
  const auto journal = open_journal(path_);
  const auto other = open_journal(path_);
  journal->release(testing::make_session(*journal, kSession));
  auto lease = other->acquire(kSession);
  for (int i = 0; i < 10'000 && kind_of(lease) == "lease_held"; ++i) lease = other->acquire(kSession);
  EXPECT_TRUE(lease) << lease.error().message;
}

class OlderFormatTest : public SqliteJournalTest {
 protected:
  OlderFormatTest() {
    alter(path_, file_bytes(PRAXIS_SOURCE_DIR "/tests/fixtures/journal-1.sql"));
    EXPECT_EQ(schema(), kFormat1);
  }
  void expect_what_was_written(Journal& journal) {
    EXPECT_EQ(journal.read(SessionId("01ROOT"))->size(), 3);
    EXPECT_EQ(journal.read(SessionId("02CHILD"))->front().body, R"({"version":1,"parent":"01ROOT"})");
    EXPECT_EQ(journal.blob(digest_of("a payload")), "a payload");
    EXPECT_EQ(journal.sessions()->size(), 2);
    EXPECT_EQ(journal.session(SessionId("01ROOT"))->title, "Look");
    ASSERT_EQ(journal.children(SessionId("01ROOT"))->size(), 1);
    EXPECT_EQ(journal.children(SessionId("01ROOT"))->front().id, SessionId("02CHILD"));
    EXPECT_EQ(journal.inbox().messages()->size(), 0);
    EXPECT_EQ(journal.inbox().messages_for(SessionId("01ROOT"))->size(), 0);
    EXPECT_EQ(kind_of(journal.inbox().outcome(1)), "not_found");
  }
  /// Returns the names of the file's tables and indexes, and its version.
  std::string schema() {
    sqlite3* connection = nullptr;
    std::string found;
    const auto note = [](void* text, int, char** values, char**) {
      static_cast<std::string*>(text)->append(values[0]).append(" ");
      return 0;
    };
    EXPECT_EQ(sqlite3_open(path_.c_str(), &connection), SQLITE_OK);
    for (const auto* sql : {"SELECT name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name",
                            "PRAGMA user_version", "PRAGMA integrity_check"}) {
      EXPECT_EQ(sqlite3_exec(connection, sql, note, &found, nullptr), SQLITE_OK);
    }
    sqlite3_close(connection);
    return found;
  }
  static constexpr auto kFormat1 = "blobs entries owners sessions sqlite_sequence 1 ok ";
};

TEST_F(OlderFormatTest, ReadOnlyJournal_IsReadUnchanged) {
  const auto before = files();
  expect_what_was_written(*open_journal(path_, {.read_only = true}));
  EXPECT_EQ(files(), before);
}

TEST_F(OlderFormatTest, JournalOpenedForWriting_IsUpgraded) {
  const auto reader = open_journal(path_, {.read_only = true});
  expect_what_was_written(*reader);
  {
    const auto journal = open_journal(path_);
    expect_what_was_written(*journal);
    const auto lease = *journal->acquire(SessionId("01ROOT"));
    EXPECT_EQ(append_now(*journal, append_of(lease, 3, {"more"})), 4);
    EXPECT_EQ(journal->inbox().post(SessionId("02CHILD"), "x", {5}), 1);
    EXPECT_EQ(reader->inbox().messages()->size(), 1) << "a reader opened earlier";
  }
  const auto upgraded = schema();
  std::filesystem::remove(path_);
  write_journal();
  EXPECT_EQ(upgraded, schema()) << "identical to a new file";
}

TEST_F(OlderFormatTest, UpgradeOnAFullDisk_ChangesNothing) {
  testing::FaultyDisk disk;
  disk.full = true;
  EXPECT_EQ(kind_of(sqlite_journal(path_)), "full");
  disk.full = false;
  EXPECT_EQ(schema(), kFormat1);
  expect_what_was_written(*open_journal(path_));
}

TEST_F(SqliteJournalTest, ReaderThatCannotEndItsTransaction_IsDiscarded) {
  static std::atomic<bool> refuses = false;
  static constexpr auto kJudge = [](void*, int action, const char* what, const char*, const char*,
                                    const char*) -> int {
    const bool ends = action == SQLITE_TRANSACTION && std::string_view(what) == "COMMIT";
    return ends && refuses.exchange(false) ? SQLITE_DENY : SQLITE_OK;
  };
  constexpr auto kWatch = [](sqlite3* connection, char**, const sqlite3_api_routines*) -> int {
    return sqlite3_set_authorizer(connection, kJudge, nullptr);
  };
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(+kWatch));
  const auto journal = open_journal(folder_ / "watched");
  const auto lease = *journal->create(kSession, {5});
  EXPECT_EQ(append_now(*journal, append_of(lease, 0, {"1"})), 1);
  refuses = true;
  EXPECT_TRUE(journal->read(kSession));
  EXPECT_FALSE(refuses);
  EXPECT_EQ(append_now(*journal, append_of(lease, 1, {"2"})), 2);
  EXPECT_EQ(journal->session(kSession)->entries, 2);
  EXPECT_EQ(journal->read(kSession).value_or(std::vector<Entry>{}).size(), 2);
  sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(+kWatch));
}

TEST_F(SqliteJournalTest, MissingFile_IsCreatedOnlyIfAllowed) {
  EXPECT_EQ(kind_of(sqlite_journal(path_, {.create = false})), "not_found");
  EXPECT_EQ(kind_of(sqlite_journal(path_, {.read_only = true})), "not_found");
  EXPECT_TRUE(files().empty());
}

TEST_F(SqliteJournalTest, NewFiles_AreReadableByTheirOwnerOnly) {
  const auto old = umask(0);
  const auto path = folder_ / "a/b/odd name?#%41";
  const auto journal = open_journal(path);
  ASSERT_TRUE(append_now(*journal, append_of(*journal->create(kSession, {5}), 0, {"1"})));
  umask(old);
  EXPECT_EQ(mode(folder_ / "a"), "700");
  EXPECT_EQ(mode(folder_ / "a/b"), "700");
  for (const auto* suffix : {"", "-wal", "-shm", ".owners", ".head"})
    EXPECT_EQ(mode(path + suffix), "600") << suffix;
}

TEST_F(SqliteJournalTest, CleanClose_LeavesOneCompleteFile) {
  write_journal();
  EXPECT_EQ(open_journal(path_)->read(kSession)->size(), 5);
  const auto left = files();
  EXPECT_EQ(left.size(), 3);
  EXPECT_TRUE(left.contains("j"));
  EXPECT_TRUE(left.contains("j.head"));
  EXPECT_EQ(left.at("j.owners"), "");
}

TEST_F(SqliteJournalTest, WriteAheadLog_StaysSmall) {
  const auto journal = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  const std::string body(500'000, 'x');
  for (std::uint64_t seq = 0; seq < 60; ++seq)
    ASSERT_TRUE(append_now(*journal, append_of(lease, seq, {body})));
  EXPECT_LT(std::filesystem::file_size(path_ + "-wal"), 10'000'000) << "of 30 MB written";
}

TEST_F(SqliteJournalTest, ReadOnly_ChangesNothingAfterACleanClose) {
  write_journal();
  const auto before = files();
  const auto journal = open_journal(path_, {.read_only = true});
  EXPECT_EQ(journal->read(kSession)->size(), 5);
  EXPECT_EQ(journal->sessions()->size(), 1);
  EXPECT_EQ(journal->blob(digest_of("blob")), "blob");
  EXPECT_EQ(kind_of(journal->create(kSession, {1})), "read_only");
  EXPECT_EQ(kind_of(journal->acquire(kSession)), "read_only");
  EXPECT_EQ(kind_of(append_now(*journal, append_of({kSession, 1}, 5, {"six"}))), "read_only");
  EXPECT_EQ(files(), before);
}

TEST_F(SqliteJournalTest, ReadOnly_FollowsAWriter) {
  write_journal();
  const auto reader = open_journal(path_, {.read_only = true});
  EXPECT_EQ(reader->read(kSession)->size(), 5);
  {
    const auto writer = open_journal(path_);
    ASSERT_TRUE(append_now(*writer, append_of(*writer->acquire(kSession), 5, {"six"})));
    EXPECT_EQ(reader->read(kSession)->size(), 6);
  }
  EXPECT_EQ(reader->read(kSession)->size(), 6);
}

TEST_F(SqliteJournalTest, Done_MayDropTheLastReference) {
  auto journal = open_journal(path_);
  const auto lease = *journal->create(kSession, {5});
  std::promise<void> ours_gone, all_gone;
  journal->append(append_of(lease, 0, {"1"}), [&, last = journal](Result<std::uint64_t> seq) mutable {
    ours_gone.get_future().get();
    last.reset();
    EXPECT_EQ(seq, 1);
    all_gone.set_value();
  });
  journal.reset();
  ours_gone.set_value();
  all_gone.get_future().get();
}

TEST_F(SqliteJournalTest, Closing_FinishesQueuedAppends) {
  int done = 0;
  {
    const auto journal = open_journal(path_);
    const auto lease = *journal->create(kSession, {5});
    for (std::uint64_t seq = 0; seq < 100; ++seq) {
      journal->append(append_of(lease, seq, {"x"}),
                      [&](Result<std::uint64_t> last) { done += last.has_value(); });
    }
  }
  EXPECT_EQ(done, 100);
  EXPECT_EQ(open_journal(path_)->read(kSession)->size(), 100);
}

}  // namespace
}  // namespace praxis
