// A damaged journal is reported as damaged: for any change of bytes on disk, reading returns the original
// data or an error, never other data. The state after a crash is not damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "damaged_journal.hpp"

namespace praxis::testing {
namespace {

constexpr std::uint64_t kFlipsPerColumn = 50;
constexpr std::uint64_t kFlipsOfFile = PRAXIS_SANITIZED ? 400 : 2000;

/// SQL function `flip(value, random)`: returns the value with one bit changed.
void flip_value(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto random = static_cast<std::uint64_t>(sqlite3_value_int64(arguments[1]));
  if (sqlite3_value_type(arguments[0]) == SQLITE_INTEGER) {
    const int bit = 8 + static_cast<int>(random % 40);  // flipping a lower bit could make two rows equal
    return sqlite3_result_int64(context, sqlite3_value_int64(arguments[0]) ^ std::int64_t{1} << bit);
  }
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
  std::string bytes(static_cast<const char*>(sqlite3_value_blob(arguments[0])), size);
  bytes[random / 8 % size] ^= static_cast<char>(1 << random % 8);
  const auto* flipped = bytes.data();
  if (sqlite3_value_type(arguments[0]) == SQLITE_TEXT) {
    return sqlite3_result_text(context, flipped, static_cast<int>(size), SQLITE_TRANSIENT);
  }
  sqlite3_result_blob(context, flipped, static_cast<int>(size), SQLITE_TRANSIENT);
}

/// The file of a finished session, and copies of it to damage.
class CrashDamage : public ::testing::Test {
 protected:
  void write(std::string_view bytes, std::string_view log = "") const {
    journal_.write({std::string(bytes), std::string(log)});
  }

  /// Runs SQL on a fresh copy.
  void damage(const std::string& sql) const {
    write(bytes_);
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(journal_.copy().c_str(), &connection), SQLITE_OK);
    sqlite3_create_function(connection, "flip", 2, SQLITE_UTF8, nullptr, flip_value, nullptr, nullptr);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    EXPECT_GT(sqlite3_total_changes(connection), 0) << sql;
    sqlite3_close(connection);
  }

  /// Reads the log of the copy.
  Result<std::string> read() const { return journal_.read(session_); }

  const DamagedJournal journal_{*std::ranges::find(scenarios(), "huge_result", &Scenario::name)};
  const SessionId session_ = journal_.sessions().front();
  const std::string log_ = journal_.log(session_);
  const std::string bytes_ = journal_.journal_of({session_}).file;
};

TEST_F(CrashDamage, UndamagedFile_ReturnsWhatWasWritten) {
  write(bytes_);
  EXPECT_EQ(read(), log_);
}

TEST_F(CrashDamage, AnyFlippedBitOfAnyColumn_IsCorrupt) {
  const std::vector<std::pair<std::string, std::string>> columns{
      {"chain", "body"}, {"chain", "kind"},  {"chain", "time"},         {"chain", "seq"},
      {"chain", "hash"}, {"blobs", "bytes"}, {"sessions", "head_hash"}, {"sessions", "head_seq"}};
  for (const auto& [table, column] : columns) {
    const std::string key = table == "chain" ? "seq" : table == "blobs" ? "digest" : "id";
    for (std::uint64_t seed = 0; seed < kFlipsPerColumn; ++seed) {
      SCOPED_TRACE(table + "." + column + ", seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const std::string row = std::to_string(random() >> 1);
      damage("UPDATE " + table + " SET " + column + " = flip(" + column + ", " +
             std::to_string(random() >> 1) + ") WHERE " + key + " = (SELECT " + key + " FROM " + table +
             " LIMIT 1 OFFSET " + row + " % (SELECT count(*) FROM " + table + "))");
      const auto found = read();
      ASSERT_FALSE(found);
      EXPECT_EQ(kind_of(found), "corrupt") << found.error().message;
    }
  }
}

TEST_F(CrashDamage, MissingEnd_IsCorrupt) {
  const auto entries = std::ranges::count(log_, '\n') - 1;
  for (std::ptrdiff_t left = 0; left < entries; ++left) {
    damage("DELETE FROM chain WHERE seq > " + std::to_string(left));
    const auto found = read();
    ASSERT_FALSE(found) << left << " entries left";
    EXPECT_EQ(kind_of(found), "corrupt") << found.error().message;
  }
}

TEST_F(CrashDamage, AnyFlippedBitOfTheFile_IsFoundOrHarmless) {
  int found_damaged = 0;
  for (std::uint64_t seed = 0; seed < kFlipsOfFile; ++seed) {
    std::mt19937_64 random(seed);
    std::string bytes = bytes_;
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    write(bytes);
    const auto found = read();
    EXPECT_TRUE(!found || *found == log_) << "seed " << seed;
    found_damaged += found ? 0 : 1;
  }
  EXPECT_GT(found_damaged, 0);
}

TEST_F(CrashDamage, CutFile_IsNeverReadAsAShorterSession) {
  for (std::size_t size = 0; size < bytes_.size(); size += 1000) {
    write(std::string_view(bytes_).substr(0, size));
    const auto found = read();
    EXPECT_TRUE(!found || *found == log_) << "cut to " << size << " bytes";
  }
}

/// A checkpoint writes pages of the log to the file in order; from then on the file alone is not a whole
/// database. A process that is killed then must not leave a journal that cannot be opened.
TEST_F(CrashDamage, KillDuringACheckpoint_LosesNothing) {
  constexpr std::size_t kLogHeader = 32, kFrameHeader = 24, kPage = 4096;
  auto [file, log, head] = journal_.journal_of({session_}, false);
  bool has_first_page = false;
  for (std::size_t at = kLogHeader; at + kFrameHeader + kPage <= log.size(); at += kFrameHeader + kPage) {
    if (log.compare(at, 4, std::string_view("\0\0\0\1", 4)) != 0) continue;
    file.replace(0, kPage, log, at + kFrameHeader, kPage);
    has_first_page = true;
  }
  ASSERT_TRUE(has_first_page);
  journal_.write({file, log, head});
  EXPECT_EQ(read(), log_);
}

}  // namespace
}  // namespace praxis::testing
