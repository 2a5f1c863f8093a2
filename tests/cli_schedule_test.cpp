// The command `schedule`: what it keeps, shows and refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class CliSchedule : public CommandLine {
 protected:
  CliSchedule() {
    file("script.jsonl", R"({"text":"Hello."})");
    file("config/praxis/agents/morning.toml", "model = \"script:script.jsonl\"\n");
  }
  CommandResult schedule(Words words) const {
    words.insert(words.begin(), "schedule");
    words.insert(words.end(), {"--journal", "runs.db"});
    return praxis(words);
  }
  /// Whether the only schedule is paused, as `list` says it to programs.
  bool is_paused() const {
    const auto listed = schedule({"list", "--json"}).items();
    EXPECT_EQ(listed.size(), 1U);
    return !listed.empty() && json_bool(listed.front(), "paused");
  }
};

TEST_F(CliSchedule, PausedAndUnpaused_IsShownAndRemoved) {
  const auto added = schedule({"add", "0 6 * * 1-5", "morning", "Summarise", "--zone", "UTC"});
  ASSERT_EQ(added.status, 0) << added.err;
  const std::string id = added.out.substr(0, added.out.find('\n'));
  EXPECT_FALSE(is_paused());
  EXPECT_EQ(schedule({"pause", id}).status, 0);
  EXPECT_TRUE(is_paused());
  EXPECT_EQ(schedule({"unpause", id}).status, 0);
  EXPECT_FALSE(is_paused());
  EXPECT_EQ(schedule({"rm", id}).status, 0);
  EXPECT_THAT(schedule({"list", "--json"}).items(), ::testing::IsEmpty());
}

TEST_F(CliSchedule, AgentOfTheProgram_IsTakenByItsName) {
  const auto added = schedule({"add", "0 6 * * 1-5", "researcher", "What is new?", "--zone", "UTC"});
  ASSERT_EQ(added.status, 0) << added.err;
  const auto listed = schedule({"list", "--json"}).items();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(json_text(listed.front(), "agent"), "researcher");
}

TEST_F(CliSchedule, Add_RefusesWhatCanNeverRun) {
  file("here.toml", "model = \"script:script.jsonl\"\n");
  struct Case {
    Words words;
    std::string message, hint;
  };
  for (const auto& [words, message, hint] : std::vector<Case>{
           {{"0 6 * * *", "mornin", "x"},
            "no agent \"mornin\"; did you mean \"morning\"?",
            "looked for mornin.toml"},
           {{"0 6 * * *", "here.toml", "x"},
            "by its name here, not by the file \"here.toml\"",
            "config/praxis/agents"},
           {{"99 6 * * *", "morning", "x"}, "the minute \"99\"", "from 0 to 59"},
           {{"0 6 31 2 *", "morning", "x"}, "never come", "a day that the month has"},
           {{"@daily", "morning"}, "add needs times, an agent and a prompt", "praxis schedule add"}}) {
    Words all = words;
    all.insert(all.begin(), "add");
    const auto refused = schedule(all);
    EXPECT_EQ(refused.status, 2) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(message));
    EXPECT_THAT(refused.err, HasSubstr(hint));
  }
  EXPECT_THAT(schedule({"list", "--json"}).items(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace praxis::testing
