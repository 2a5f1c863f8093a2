// A sealed journal: it works as a plain one, its files tell nothing, and what was altered does not open.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "journal/chain.hpp"
#include "journal/reseal.hpp"
#include "journal/testing/journals.hpp"
#include "praxis/seal/secret.hpp"
#include "store/testing/killed_at.hpp"

namespace praxis::testing {
namespace {

const std::string kCanary = "CANARY-4711";
const SessionId kSealed{"01SEALED"};

SealSecret secret_of(char byte) { return SealKey(SecretBytes(std::string(SealKey::kBytes, byte))); }

AskSealSecret asking(char byte) {
  return [byte]() -> Result<std::shared_ptr<const SealSecret>> {
    return std::make_shared<const SealSecret>(secret_of(byte));
  };
}

class SealedJournalTest : public ::testing::Test {
 protected:
  SealedJournalTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_sealed_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/journal.db";
  }
  ~SealedJournalTest() override { std::filesystem::remove_all(folder_); }

  Result<std::shared_ptr<Journal>> open(AskSealSecret key, bool read_only = false) {
    SqliteJournalOptions options;
    options.key = std::move(key);
    options.read_only = read_only;
    return sqlite_journal(path_, std::move(options));
  }

  /// Everything that the columns can hold, each with the canary.
  void fill(Journal& journal) {
    const Lease lease = *journal.create(kSealed, {5});
    const std::string bytes = kCanary + " blob";
    const Digest digest = digest_of(bytes);
    Append append{
        lease, 0, {}, {{digest, bytes}}, {kCanary + " agent", kCanary, "idle", kCanary + " title", {}}};
    for (int i = 1; i <= 3; ++i)
      append.entries.push_back(
          {"kind", {i}, R"({"text":")" + kCanary + std::to_string(i) + digest.hex() + "\"}"});
    Result<std::uint64_t> last;
    journal.append(std::move(append), [&](Result<std::uint64_t> done) { last = std::move(done); });
    const auto first = journal.inbox().post(kSealed, kCanary + " message", {6});
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(journal.inbox().post(kSealed, kCanary + " waits", {7}));
    ASSERT_TRUE(journal.inbox().answer(lease, *first, kCanary + " outcome"));
    ASSERT_TRUE(journal.label(kSealed, {"CANARY-4711-name", {"CANARY-4711-tag"}, {}}));
    journal.release(lease);
  }

  void expect_whole(Journal& journal) {
    const auto entries = journal.read(kSealed);
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 3U);
    EXPECT_TRUE((*entries)[2].body.starts_with(R"({"text":"CANARY-47113)"));
    EXPECT_EQ(journal.blob(digest_of(kCanary + " blob")).value_or(""), kCanary + " blob");
    const auto row = journal.session(kSealed);
    ASSERT_TRUE(row) << row.error().message;
    EXPECT_EQ(row->title, kCanary + " title");
    EXPECT_EQ(row->agent, kCanary + " agent");
    EXPECT_EQ(row->name, "CANARY-4711-name");
    EXPECT_EQ(row->tags, std::vector<std::string>{"CANARY-4711-tag"});
    EXPECT_EQ(row->status, "idle");
    const auto messages = journal.inbox().messages();
    ASSERT_TRUE(messages) << messages.error().message;
    ASSERT_EQ(messages->size(), 1U);
    EXPECT_EQ(messages->front().body, kCanary + " waits");
    EXPECT_EQ(journal.inbox().outcome(1).value(), kCanary + " outcome");
  }

  void expect_opens(char byte) {
    const auto journal = open(asking(byte), true);
    ASSERT_TRUE(journal) << journal.error().message;
    expect_whole(**journal);
  }
  ErrorKind error_with(AskSealSecret key) {
    const auto journal = open(std::move(key), true);
    return journal ? ErrorKind::kNone : journal.error().kind();
  }

  bool tells(const std::string& word) const {
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      std::ifstream in(file.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (bytes.find(word) != std::string::npos) return true;
    }
    return false;
  }

  void sql(const std::string& statement) {
    sqlite3* file = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &file), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(file, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(file);
    sqlite3_close(file);
  }

  void make_plain() { fill(**open({})); }
  void make_sealed() { fill(**open(asking('k'))); }

  std::string folder_, path_;
};

TEST_F(SealedJournalTest, NewJournalWithAKey_IsSealedAndTellsNothing) {
  {
    const auto journal = open(asking('k'));
    ASSERT_TRUE(journal) << journal.error().message;
    fill(**journal);
    EXPECT_FALSE(tells(kCanary)) << "while it is open, in the log";
    expect_whole(**journal);
    const auto swept = (*journal)->sweep();
    ASSERT_TRUE(swept) << swept.error().message;
    EXPECT_EQ(swept->blobs, 0U) << "an entry names the blob";
  }
  EXPECT_FALSE(tells(kCanary));
  EXPECT_FALSE(
      tells(std::string(reinterpret_cast<const char*>(digest_of(kCanary + " blob").bytes.data()), 32)));
  expect_opens('k');
}

TEST_F(SealedJournalTest, WithoutItsKey_NothingIsReadable) {
  make_sealed();
  const auto without = open({}, true);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().kind(), ErrorKind::kKey);
  EXPECT_NE(without.error().message.find("encryption.journal_key"), std::string::npos);
  EXPECT_EQ(error_with(asking('x')), ErrorKind::kKey);
  EXPECT_FALSE(open({})) << "for writing";
  EXPECT_FALSE(open(asking('x')));
  expect_opens('k');
}

TEST_F(SealedJournalTest, PlainJournalWithAKey_IsNotWritten) {
  make_plain();
  const auto journal = open(asking('k'));
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().kind(), ErrorKind::kKey);
  EXPECT_NE(journal.error().message.find("praxis journal seal"), std::string::npos);
}

TEST_F(SealedJournalTest, Values_AreBoundToTheirPlaces) {
  make_sealed();
  const std::string changes[] = {
      "UPDATE chain SET body = (SELECT body FROM chain WHERE seq = 2) WHERE seq = 1",
      "UPDATE chain SET kind = 'other' WHERE seq = 2",
      "UPDATE chain SET time = 9 WHERE seq = 3",
      "UPDATE chain SET body = substr(body, 1, length(body) - 1) WHERE seq = 3",
  };
  for (const std::string& change : changes) {
    const auto copy = path_ + ".copy";
    std::filesystem::copy_file(path_, copy);
    sql(change);
    // An attacker can compute the chain again: it has no key.
    sqlite3* file = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &file), SQLITE_OK);
    sqlite3_close(file);
    auto database = Database::open(path_, Database::Mode::kWrite);
    Digest hash = chain_start(kSealed);
    for (std::int64_t seq = 1; seq <= 3; ++seq) {
      {
        Query query(*database, "SELECT time, kind, body FROM chain WHERE seq = ?1", seq);
        ASSERT_TRUE(query.next().value_or(false));
        hash = chain_next(hash, static_cast<std::uint64_t>(seq), {query.integer(0)}, query.bytes(1),
                          query.bytes(2));
      }
      ASSERT_TRUE(database->run("UPDATE chain SET hash = ?2 WHERE seq = ?1", seq, hash));
    }
    ASSERT_TRUE(database->run("UPDATE sessions SET head_hash = ?1", hash));
    database = fail(ErrorCode::kInternal, "closed");
    std::filesystem::remove(path_ + ".head");
    const auto journal = open(asking('k'), true);
    ASSERT_TRUE(journal);
    const auto entries = (*journal)->read(kSealed);
    ASSERT_FALSE(entries) << change;
    EXPECT_EQ(entries.error().kind(), ErrorKind::kCorrupt);
    std::filesystem::rename(copy, path_);
  }
}

TEST_F(SealedJournalTest, ChangedRowsBlobsAndMessages_AreFound) {
  make_sealed();
  sql("UPDATE sessions SET title = agent");
  sql("UPDATE blobs SET bytes = CAST(substr(bytes, 1, 50) || x'00' || substr(bytes, 52) AS BLOB)");
  sql("UPDATE mail SET body = outcome WHERE id = 1; UPDATE mail SET body = (SELECT outcome FROM mail WHERE "
      "id = 1) "
      "WHERE id = 2");
  const auto journal = open(asking('k'), true);
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_EQ((*journal)->session(kSealed).error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ((*journal)->blob(digest_of(kCanary + " blob")).error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ((*journal)->inbox().messages().error().kind(), ErrorKind::kCorrupt);
}

TEST_F(SealedJournalTest, FlippedBitAnywhereInASealedValue_IsFound) {
  make_sealed();
  const std::string columns[] = {"body FROM chain WHERE seq = 2", "bytes FROM blobs",
                                 "body FROM mail WHERE id = 2", "title FROM sessions", "wrapped FROM seal"};
  std::string bytes;
  {
    std::ifstream in(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (const std::string& column : columns) {
    std::string value;
    {
      auto database = Database::open(path_, Database::Mode::kFileOnly);
      const std::string text = "SELECT " + column;
      Query query(*database, text);
      ASSERT_TRUE(query.next().value_or(false)) << column;
      value = query.text(0);
    }
    const auto place = bytes.find(value);
    ASSERT_NE(place, std::string::npos) << column;
    for (std::size_t at = 0; at < value.size(); at += 7) {
      std::string changed = bytes;
      changed[place + at] = static_cast<char>(changed[place + at] ^ (1 << (at % 8)));
      std::ofstream(path_, std::ios::binary) << changed;
      const auto journal = open(asking('k'), true);
      const bool found = !journal || !(*journal)->read(kSealed) || !(*journal)->session(kSealed) ||
                         !(*journal)->blob(digest_of(kCanary + " blob")) || !(*journal)->inbox().messages();
      EXPECT_TRUE(found) << column << " at " << at;
    }
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  expect_opens('k');
}

TEST_F(SealedJournalTest, Seal_LeavesNoPlainByte) {
  make_plain();
  ASSERT_TRUE(tells(kCanary));
  const auto sealed = seal_journal(path_, secret_of('k'), {9});
  ASSERT_TRUE(sealed) << sealed.error().message;
  EXPECT_FALSE(tells(kCanary));
  expect_opens('k');
  const auto seal = seal_of_journal(path_);
  ASSERT_TRUE(seal && *seal);
  EXPECT_EQ((*seal)->since.value, 9);
  EXPECT_TRUE((*seal)->is_clean);
  const auto again = open(asking('k'));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE((*again)->acquire(kSealed));
}

TEST_F(SealedJournalTest, WhileItIsOpen_IsNotSealed) {
  make_plain();
  const auto journal = open({});
  EXPECT_EQ(seal_journal(path_, secret_of('k'), {9}).error().kind(), ErrorKind::kLeaseHeld);
  expect_whole(**journal);
}

TEST_F(SealedJournalTest, Rekey_OpensWithTheNewKeyOnly) {
  make_sealed();
  ASSERT_TRUE(rekey_journal(path_, secret_of('k'), secret_of('n')));
  expect_opens('n');
  EXPECT_EQ(error_with(asking('k')), ErrorKind::kKey);
  EXPECT_EQ(rekey_journal(path_, secret_of('k'), secret_of('m')).error().kind(), ErrorKind::kKey);
}

TEST_F(SealedJournalTest, NewKey_SealsEveryValueAgain) {
  make_sealed();
  const auto copy = path_ + ".copy";
  std::filesystem::copy_file(path_, copy);
  const auto renewed = renew_journal_key(path_, secret_of('k'), {11});
  ASSERT_TRUE(renewed) << renewed.error().message;
  expect_opens('k');
  std::filesystem::remove(copy);
}

TEST_F(SealedJournalTest, KillAtAnyStepOfSeal_LeavesOneState) {
  make_plain();
  const std::string base = folder_ + "/base";
  for (int at = 0;; ++at) {
    std::filesystem::remove_all(base);
    std::filesystem::create_directory(base);
    path_ = base + "/journal.db";
    fill(**open({}));
    const bool killed = killed_at(
        at, [&](const OnSealStep& on_step) { return seal_journal(path_, secret_of('k'), {9}, on_step); });
    const auto seal = seal_of_journal(path_);
    ASSERT_TRUE(seal) << seal.error().message;
    if (*seal) {
      expect_opens('k');
      EXPECT_EQ(error_with({}), ErrorKind::kKey) << "step " << at;
    } else {
      expect_whole(**open({}, true));
    }
    const auto finished = seal_journal(path_, secret_of('k'), {10});
    ASSERT_TRUE(finished) << "step " << at << ": " << finished.error().message;
    expect_opens('k');
    for (const char* suffix : {"", "-wal"}) {
      std::ifstream in(path_ + suffix, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(bytes.find(kCanary), std::string::npos) << "step " << at << suffix;
    }
    if (!killed) {
      EXPECT_GT(at, 8);
      return;
    }
  }
}

TEST_F(SealedJournalTest, KillAtAnyStepOfNewKeyAndRekey_LeavesExactlyOneKey) {
  make_sealed();
  for (int at = 0; killed_at(
           at,
           [&](const OnSealStep& on_step) { return renew_journal_key(path_, secret_of('k'), {9}, on_step); });
       ++at) {
    expect_opens('k');
  }
  for (int at = 0;; ++at) {
    const bool killed = killed_at(at, [&](const OnSealStep& on_step) {
      return rekey_journal(path_, secret_of('k'), secret_of('n'), on_step);
    });
    const bool old_opens = error_with(asking('k')) == ErrorKind::kNone;
    EXPECT_NE(old_opens, error_with(asking('n')) == ErrorKind::kNone) << "step " << at;
    if (!killed) break;
    if (!old_opens) {
      ASSERT_TRUE(rekey_journal(path_, secret_of('n'), secret_of('k')));
    }
  }
  expect_opens('n');
}

}  // namespace
}  // namespace praxis::testing
