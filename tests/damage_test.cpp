// A damaged journal is reported as damaged: whatever is altered behind its back, it gives what was written or
// an error, never something else. And what a crash leaves behind is no damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "journal/testing/journals.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

constexpr std::uint64_t kFlipsPerColumn = 50;
constexpr std::uint64_t kFlipsOfFile = 2000;

/// SQL `flip(value, random)`: the value with one bit changed.
void flip_value(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto random = static_cast<std::uint64_t>(sqlite3_value_int64(arguments[1]));
  if (sqlite3_value_type(arguments[0]) == SQLITE_INTEGER) {
    const int bit = 8 + static_cast<int>(random % 40);  // a lower one could make two rows the same
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
  CrashDamage() {
    Stage stage(*std::ranges::find(scenarios(), "huge_result", &Scenario::name), {});
    stage.play();
    session_ = stage.session();
    exported_ = *export_session(stage.journal(), session_);
    log_ = log_of(exported_);
    const std::string whole = folder_ / "whole";
    EXPECT_TRUE(import_session(*open_journal(whole), exported_));
    bytes_ = file_bytes(whole);
  }

  void write(std::string_view bytes) const {
    for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(copy_ + end);
    std::ofstream(copy_, std::ios::binary) << bytes;
  }

  /// Runs SQL on a fresh copy.
  void damage(const std::string& sql) const {
    write(bytes_);
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(copy_.c_str(), &connection), SQLITE_OK);
    sqlite3_create_function(connection, "flip", 2, SQLITE_UTF8, nullptr, flip_value, nullptr, nullptr);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    EXPECT_GT(sqlite3_total_changes(connection), 0) << sql;
    sqlite3_close(connection);
  }

  /// The records and blobs of an export; its first line is from the listing, which no hash covers.
  static std::string log_of(const std::string& exported) { return exported.substr(exported.find('\n')); }

  /// The log that the copy gives.
  Result<std::string> read() const {
    const auto journal = sqlite_journal(copy_);
    if (!journal) return fail(journal.error());
    const auto records = read_records(**journal, session_);
    if (!records) return fail(records.error());
    auto exported = export_session(**journal, session_);
    if (!exported) return fail(exported.error());
    return log_of(*exported);
  }

  const MemoryFolder folder_;
  const std::string copy_ = folder_ / "copy";
  SessionId session_;
  std::string exported_, log_;
  std::string bytes_;
};

TEST_F(CrashDamage, Undamaged_GivesWhatWasWritten) {
  write(bytes_);
  EXPECT_EQ(read(), log_);
}

TEST_F(CrashDamage, AnyBitOfAnyColumn_IsCorrupt) {
  const std::vector<std::pair<std::string, std::string>> columns{
      {"entries", "body"}, {"entries", "kind"}, {"entries", "time"},       {"entries", "seq"},
      {"entries", "hash"}, {"blobs", "bytes"},  {"sessions", "head_hash"}, {"sessions", "head_seq"}};
  for (const auto& [table, column] : columns) {
    const std::string key = table == "entries" ? "seq" : table == "blobs" ? "digest" : "id";
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
    damage("DELETE FROM entries WHERE seq > " + std::to_string(left));
    const auto found = read();
    ASSERT_FALSE(found) << left << " entries left";
    EXPECT_EQ(kind_of(found), "corrupt") << found.error().message;
  }
}

TEST_F(CrashDamage, AnyBitOfTheFile_IsFoundOrMakesNoDifference) {
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

/// A checkpoint writes pages of the log to the file, the first one first; from then on the file alone is no
/// whole database. A process that is killed then must not leave a journal that nobody can open.
TEST_F(CrashDamage, KilledAmidACheckpoint_OpensAndLosesNothing) {
  constexpr std::size_t kLogHeader = 32, kFrameHeader = 24, kPage = 4096;
  const std::string live = folder_ / "live";
  const auto journal = open_journal(live);
  ASSERT_TRUE(import_session(*journal, exported_));
  std::string file = file_bytes(live);
  const std::string log = file_bytes(live + "-wal");
  bool has_first_page = false;
  for (std::size_t at = kLogHeader; at + kFrameHeader + kPage <= log.size(); at += kFrameHeader + kPage) {
    if (log.compare(at, 4, std::string_view("\0\0\0\1", 4)) != 0) continue;
    file.replace(0, kPage, log, at + kFrameHeader, kPage);
    has_first_page = true;
  }
  ASSERT_TRUE(has_first_page);
  write(file);
  std::ofstream(copy_ + "-wal", std::ios::binary) << log;
  EXPECT_EQ(read(), log_);
}

}  // namespace
}  // namespace praxis::testing
