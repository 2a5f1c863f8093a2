#include "app/agent_sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/line_changes.hpp"
#include "praxis/base/digest.hpp"

namespace praxis::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Lines = std::vector<std::string>;

TEST(AgentSources, RunRecordedWithoutDigests_IsReadAsBefore) {
  const AgentSources sources{{".", "id = 'a'\n"}};
  EXPECT_EQ(changed_sources(nullptr, sources).digest, "");
  EXPECT_EQ(changed_sources(JsonObject{{"agent_file", "a.toml"}}, sources).digest, "");
}

TEST(AgentSources, FilesThatComeAndGo_AreChanges) {
  const std::string digest = digest_of("id = 'a'\n").hex();
  const JsonObject recorded{{kAgentFiles, JsonObject{{".", digest}, {"old.md", digest}}}};
  EXPECT_EQ(changed_sources(recorded, {{".", "id = 'a'\n"}, {"old.md", "id = 'a'\n"}}).digest, "");
  const AgentChange change = changed_sources(recorded, {{".", "id = 'a'\n"}, {"new\n.md", ""}});
  EXPECT_NE(change.digest, "");
  EXPECT_THAT(change.lines, ElementsAre("\"old.md\" is gone", "\"new\\u000a.md\" is new"));
}

TEST(LineChanges, ChangedLines_AreMarkedWithTwoAroundThem) {
  EXPECT_THAT(changed_lines("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nfive\n6\n"),
              ElementsAre("  ...", "  3", "  4", "- 5", "+ five", "  6"));
  EXPECT_THAT(changed_lines("a\n", "a\n"), ElementsAre("  ..."));
  EXPECT_THAT(changed_lines("", "a\x1b[2K\n"), ElementsAre("+ a\\u001b[2K"));
  EXPECT_THAT(marked_changes({}, {}), IsEmpty());
}

TEST(LineChanges, VeryLongTexts_AreShownWhole) {
  const Lines before(3000, "a"), after(3000, "b");
  EXPECT_EQ(marked_changes(before, after).size(), 6000U);
}

}  // namespace
}  // namespace praxis::app
