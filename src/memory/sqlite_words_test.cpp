#include "memory/sqlite_words.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "memory/memory_file.hpp"
#include "memory/testing/store_folder.hpp"

namespace praxis {
namespace {

using Scores = std::vector<std::pair<std::int64_t, double>>;

class SqliteWordsOfFile : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(words_.prepare());
    for (std::int64_t note = 1; note <= 600; ++note) add(note);
  }

  void add(std::int64_t note) {
    std::string text = "note";
    for (std::int64_t i = 0; i < note % 7; ++i) text += " filler";
    if (note % 3 == 0) text += " journals";
    if (note % 5 == 0) text += " a journal and a secret";
    if (note % 50 == 0) text += " vector vectors vector";
    ASSERT_TRUE(database_.run("INSERT INTO words (rowid, text) VALUES (?1, ?2)", note, text));
    texts_.push_back(std::move(text));
  }

  Scores ours(const std::string& match, std::size_t limit = 10'000) {
    Scores found;
    auto visited = words_.visit_best(match, [&](std::int64_t note, double score) {
      found.emplace_back(note, score);
      return found.size() < limit;
    });
    EXPECT_TRUE(visited);
    return found;
  }

  Scores of_fts5(const std::string& match) {
    Scores found;
    Query query(database_,
                "SELECT rowid, -bm25(words) AS score FROM words WHERE words MATCH ?1 "
                "ORDER BY score DESC, rowid DESC",
                match);
    for (auto row = query.next(); row && *row; row = query.next())
      found.emplace_back(query.integer(0), query.real(1));
    return found;
  }

  testing::StoreFolder folder_;
  Database database_ = *open_memory_file(folder_.file("words.db"), MemoryUse::kCreate, {});
  std::vector<std::string> texts_;
  SqliteWords words_{database_, "count_words", "SELECT count_words(words) FROM words WHERE words MATCH ?1"};
};

TEST_F(SqliteWordsOfFile, ScoresAreThoseOfFts5) {
  for (const std::string match : {"journal", "vector", "\"secret\" OR \"journal\"",
                                  "filler OR vectors OR note", "\"a journal\" OR absent", "absent"}) {
    EXPECT_EQ(ours(match), of_fts5(match)) << match;
  }
  EXPECT_EQ(ours("journal", 3).size(), 3U);
}

TEST_F(SqliteWordsOfFile, ChangesCountAtOnce) {
  std::ignore = ours("journal OR secret");
  for (std::int64_t note = 2; note <= 600; note += 2) {
    ASSERT_TRUE(database_.run("INSERT INTO words (words, rowid, text) VALUES ('delete', ?1, ?2)", note,
                              texts_[static_cast<std::size_t>(note) - 1]));
  }
  for (std::int64_t note = 601; note <= 700; ++note) add(note);
  EXPECT_EQ(ours("journal OR secret"), of_fts5("journal OR secret"));
}

TEST_F(SqliteWordsOfFile, QueryThatFts5CannotRead_IsAnError) {
  EXPECT_FALSE(words_.visit_best("\"", [](std::int64_t, double) { return true; }));
  EXPECT_EQ(ours("vector"), of_fts5("vector"));
}

}  // namespace
}  // namespace praxis
