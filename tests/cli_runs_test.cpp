// `praxis runs`, and the ids with which users name a run; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CliRuns : public CommandLine {
 protected:
  CliRuns() {
    file("hello.jsonl", R"({"text": "Hello.", "usage": {"input": 10, "output": 2, "cost_usd": 0.01}})");
  }
  void SetUp() override {
    ASSERT_EQ(
        praxis({"run", "--model", "script:hello.jsonl", "A long task that no narrow screen can show whole"})
            .status,
        0);
  }
  /// The lines that a terminal of this width gets.
  std::vector<std::string> on_screen(int columns) const {
    const std::string set = "stty cols " + std::to_string(columns) + " rows 24; ";
    std::istringstream text(shell("script -qec '" + set + "praxis runs' /dev/null").out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
      std::erase(line, '\r');
      lines.push_back(line);
    }
    return lines;
  }
};

TEST_F(CliRuns, Screen_GetsAHeaderAndRowsThatFit) {
  if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  for (const int columns : {40, 80}) {
    const auto lines = on_screen(columns);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_THAT(lines[0],
                AllOf(StartsWith("ID "), HasSubstr("AGE"), HasSubstr("STATUS"), HasSubstr("TITLE")));
    EXPECT_LE(lines[1].size(), static_cast<std::size_t>(columns)) << lines[1];
    EXPECT_THAT(lines[1], HasSubstr("completed"));
  }
  const std::string row = on_screen(80).at(1);
  EXPECT_THAT(row, AllOf(HasSubstr("agent "), HasSubstr("$0.0100"), HasSubstr(" s  ")));
  const std::string id = row.substr(0, row.find(' '));
  EXPECT_EQ(id.size(), 8U);
  EXPECT_EQ(praxis({"show", id}).status, 0) << "the id that is shown names the run";
}

TEST_F(CliRuns, Pipe_GetsWholeIdsWithoutAHeader) {
  const CommandResult runs = praxis({"runs"});
  EXPECT_THAT(runs.out, AllOf(StartsWith(last_run()), HasSubstr("script:hello.jsonl"), HasSubstr("$0.01"),
                              HasSubstr("no narrow screen can show whole")));
  const Json row = praxis({"runs", "--json"}).last_item();
  EXPECT_EQ(row.at("cost_usd"), Json(0.01));
  EXPECT_EQ(json_int(row, "tokens"), 12);
}

TEST_F(CliRuns, Id_MayBeTypedInAnyCase) {
  std::string id = last_run();
  std::ranges::transform(id, id.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  EXPECT_EQ(praxis({"show", id.substr(20)}).status, 0);
  EXPECT_EQ(praxis({"show", id}).status, 0);
  EXPECT_EQ(praxis({"show", "LAST"}).status, 0);
  const CommandResult brief = praxis({"show", id.substr(0, 2)});
  EXPECT_EQ(brief.status, 2);
  EXPECT_THAT(brief.err, HasSubstr("is too short for a part of a session's id"));
}

}  // namespace
}  // namespace praxis::testing
