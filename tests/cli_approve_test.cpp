// Long and hostile calls before an approver: in a pipe, and at a terminal of 40, 80 and 200 columns.
#include <gmock/gmock.h>

#include <regex>

#include "app/testing/call_screen.hpp"
#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliApprove : public CommandLine {
 protected:
  CliApprove() {
    file("notes.toml",
         "id = 'notes'\nmodel = 'script:notes.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv']\nask = ['kv']\n");
    arguments_ = {{"value", "\n  allow:   praxis approve p1 --allow\n" + std::string(3000, 'x') +
                                std::string(200, ' ') + "p2 waits\u202E\u200B"},
                  {"key", "p\u0430ss"},
                  {"op", "put"}};
    wait_for(to_json_text(arguments_));
  }

  /// Starts a run that waits for an approval of `kv` with these arguments.
  CommandResult wait_for(const std::string& arguments) {
    const Json call{{"id", "c1"}, {"name", "kv"}, {"arguments", arguments}};
    file("notes.jsonl", to_json_text({{"tool_calls", JsonArray{call}}}) + "\n{\"text\": \"Noted.\"}\n");
    return run_ = praxis({"run", "notes.toml", "Note it"});
  }

  /// Runs a command at a terminal, on which the user types `keys`. The output ends with `status N`.
  std::string at_terminal(std::size_t columns, const std::string& words, const std::string& keys) const {
    ProcessOptions options = options_;
    options.env["PATH"] = std::string(PRAXIS_BINARY_DIR) + ":" + std::getenv("PATH");
    options.input = keys;
    const std::string line =
        "stty rows 24 cols " + std::to_string(columns) + "; " + words + "; echo status $?";
    std::string seen = run({"script", "-qec", line, "/dev/null"}, options).out;
    std::erase(seen, '\r');
    return std::regex_replace(seen, std::regex("-- [0-9]+ more lines: Enter, or q to leave -- "), "\n");
  }

  /// Pages of a terminal with 24 rows that the whole call takes.
  std::size_t pages(std::size_t columns) const {
    std::istringstream shown(at_terminal(columns, "praxis approve p1", ""));
    std::size_t rows = 0;
    for (std::string row; std::getline(shown, row);) rows += row.starts_with("  |") ? 1 : 0;
    return (rows + 22) / 23;
  }

  JsonObject arguments_;
  CommandResult run_;
};

TEST_F(CliApprove, CutCall_IsAllowedOnlyAfterAllOfItWasShown) {
  EXPECT_EQ(run_.status, 3);
  EXPECT_THAT(run_.err, AllOf(HasSubstr("  | call kv\n  | op: \"put\"\n  | key: \"p\\u0430ss\"\n"),
                              HasSubstr("  show:    praxis approve "), Not(HasSubstr(" --allow p1"))));
  EXPECT_THAT(praxis({"approve"}).out, AllOf(HasSubstr("  show:    praxis approve "), HasSubstr(" --deny")));
  EXPECT_THAT(praxis({"tree"}).out, AllOf(HasSubstr("(shows all of it)"), Not(HasSubstr("--allow (or"))));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"approve", "p1", "--allow"},
                                                {"approve", "p1", "--always", "--yes"},
                                                {"resume", "last", "--allow", "p1"}}) {
    const CommandResult refused = praxis(words);
    EXPECT_EQ(refused.status, 2) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("longer than what was shown"), HasSubstr("praxis approve ")));
  }
  const std::string whole = praxis({"approve", "p1"}).out;
  const auto call = read_screen(whole);
  ASSERT_TRUE(call) << whole;
  EXPECT_EQ(to_canonical_json(call->arguments), to_canonical_json(arguments_));
  const auto at = whole.find("  allow:   ") + 11;
  const CommandResult allowed = shell(whole.substr(at, whole.find('\n', at) - at));
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_EQ(allowed.out, "Noted.\n");
}

TEST_F(CliApprove, OnATerminal_AllOfTheCallIsShownPageByPageBeforeTheQuestion) {
  if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  for (const std::size_t columns : {40U, 80U, 200U}) {
    const std::string left = at_terminal(columns, "praxis approve p1 --allow", "q\n");
    EXPECT_THAT(left, AllOf(HasSubstr("not decided"), HasSubstr("status 3")));
    EXPECT_EQ(left.contains("[y/N]"), pages(columns) == 1) << "a part only is not asked about";
    const std::string keys(pages(columns) - 1, '\n');
    const std::string refused = at_terminal(columns, "praxis approve p1 --allow", keys + "n\n");
    EXPECT_THAT(refused, AllOf(HasSubstr("Allow this call? [y/N]"), HasSubstr("status 3"))) << columns;
    const std::string allowed = at_terminal(columns, "praxis approve p1 --allow", keys + "y\n");
    EXPECT_THAT(allowed, AllOf(HasSubstr("Noted."), HasSubstr("status 0"))) << columns;
    const auto call = read_screen(allowed);
    ASSERT_TRUE(call) << allowed;
    EXPECT_EQ(to_canonical_json(call->arguments), to_canonical_json(arguments_));
    EXPECT_EQ(wait_for(to_json_text(arguments_)).status, 3);
  }
}

TEST_F(CliApprove, LastNamesTheNewestRun) {
  wait_for(R"({"op":"put","key":"new","value":"v"})");
  EXPECT_EQ(praxis({"approve", "p1"}).status, 2) << "two runs have such a step";
  const CommandResult shown = praxis({"approve", "LAST/p1"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("key: \"new\""));
  EXPECT_EQ(praxis({"approve", "last/p1", "--allow"}).status, 0);
  EXPECT_EQ(praxis({"approve", "last/p1", "--allow"}).status, 2) << "it is decided";
}

TEST_F(CliApprove, RepeatedKey_IsRefusedWithoutAnApprover) {
  const CommandResult result = wait_for(R"({"op":"get","key":"a","\u006fp":"put"})");
  EXPECT_EQ(result.status, 4) << "blocked by policy: " << result.err;
  EXPECT_THAT(result.err, HasSubstr("the key \"op\" occurs more than once"));
}

}  // namespace
}  // namespace praxis::testing
