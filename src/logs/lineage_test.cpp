#include "logs/lineage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace praxis {
namespace {

using ::testing::ElementsAre;

/// Creates a session whose row names `parent`.
void create_below(Journal& journal, const std::string& id, const std::string& parent) {
  Append append;
  append.lease = journal.create(SessionId{id}, UnixMillis{1}).value();
  append.entries.push_back({"test", UnixMillis{1}, "{}"});
  append.row.parent = SessionId{parent};
  journal.append(std::move(append), [](const Result<std::uint64_t>& last) { EXPECT_TRUE(last); });
}

TEST(Lineage, EndsWithTheRoot) {
  const auto journal = memory_journal();
  create_below(*journal, "a", "");
  create_below(*journal, "b", "a");
  create_below(*journal, "c", "b");
  EXPECT_THAT(lineage(*journal, SessionId{"c"}).value(),
              ElementsAre(SessionId{"c"}, SessionId{"b"}, SessionId{"a"}));
}

TEST(Lineage, OfSessionsThatNameEachOtherEnds) {
  const auto journal = memory_journal();
  create_below(*journal, "a", "b");
  create_below(*journal, "b", "a");
  EXPECT_EQ(lineage(*journal, SessionId{"a"}).value().size(), std::size_t{kMostLevels});
}

TEST(Lineage, EndsBelowASessionThatTheJournalLacks) {
  const auto journal = memory_journal();
  create_below(*journal, "c", "b");
  EXPECT_THAT(lineage(*journal, SessionId{"c"}).value(), ElementsAre(SessionId{"c"}));
}

TEST(Lineage, OfAnUnknownSessionIsAnError) {
  EXPECT_EQ(lineage(*memory_journal(), SessionId{"a"}).error().kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace praxis
