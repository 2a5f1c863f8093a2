// `praxis runs`, and the ids with which users name a run; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
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
  EXPECT_THAT(brief.err, HasSubstr("too short for a part of a session's id"));
}

TEST_F(CliRuns, BeginningOfManyIds_NamesTheNewestOnly) {
  for (int i = 0; i < 10; ++i) ASSERT_EQ(praxis({"run", "--model", "script:hello.jsonl", "Hi"}).status, 0);
  const std::string beginning = json_string(praxis({"runs", "--json"}).items().at(0), "id").substr(0, 4);
  const CommandResult shown = praxis({"show", beginning});
  EXPECT_EQ(shown.status, 2);
  EXPECT_THAT(shown.err, HasSubstr(" more\n"));
  EXPECT_LT(shown.err.size(), 400U);
}

// ---- names and tags

TEST_F(CliRuns, Name_StandsForTheRunEverywhere) {
  const std::string id = last_run();
  ASSERT_EQ(praxis({"run", "--model", "script:hello.jsonl", "Another"}).status, 0);
  EXPECT_EQ(praxis({"runs", "name", id, "release-review"}).status, 0);
  EXPECT_THAT(praxis({"show", "release-review"}).out, HasSubstr(id));
  EXPECT_THAT(praxis({"runs"}).out, HasSubstr("[release-review] A long task"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"logs"}, {"replay"}, {"export"}, {"tree"}, {"fork"}}) {
    std::vector<std::string> all = words;
    all.emplace_back("release-review");
    EXPECT_EQ(praxis(all).status, 0) << words[0];
  }
  const CommandResult taken = praxis({"runs", "name", "last", "release-review"});
  EXPECT_EQ(taken.status, 2);
  EXPECT_THAT(taken.err, HasSubstr("session " + id + " is called \"release-review\" already"));
  EXPECT_EQ(praxis({"runs", "name", id, "two words"}).status, 2);
  EXPECT_EQ(praxis({"runs", "unname", "release-review"}).status, 0);
  EXPECT_EQ(praxis({"show", "release-review"}).status, 2);
}

TEST_F(CliRuns, Tags_AreAddedRemovedAndFiltered) {
  EXPECT_EQ(praxis({"runs", "tag", "last", "good", "checked"}).status, 0);
  EXPECT_EQ(praxis({"runs", "untag", "last", "checked"}).status, 0);
  EXPECT_THAT(praxis({"runs", "--tag", "good"}).out, HasSubstr("#good"));
  EXPECT_EQ(praxis({"runs", "--tag", "checked"}).out, "");
}

TEST_F(CliRuns, ParkedStep_IsFoundByTheNameOfItsRun) {
  file("ask.toml", "model = \"script:ask.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  file("ask.jsonl",
       R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "b"}}]})"
       "\n{\"text\": \"Noted.\"}\n");
  ASSERT_EQ(praxis({"run", "ask.toml", "Note it"}).status, 3);
  ASSERT_EQ(praxis({"runs", "name", "last", "notes"}).status, 0);
  EXPECT_THAT(praxis({"approve", "notes/p1"}).out, HasSubstr("kv"));
  EXPECT_EQ(praxis({"approve", "notes/p1", "--deny"}).status, 0);
}

// ---- search and filters

TEST_F(CliRuns, Search_LooksIntoConversations) {
  file("other.jsonl", R"({"text": "The answer mentions a Platypus."})");
  ASSERT_EQ(praxis({"run", "--model", "script:other.jsonl", "Animals"}).status, 0);
  EXPECT_THAT(praxis({"runs", "platypus"}).out, AllOf(HasSubstr("Animals"), Not(HasSubstr("A long task"))));
  EXPECT_THAT(praxis({"runs", "long", "TASK"}).out,
              AllOf(HasSubstr("A long task"), Not(HasSubstr("Animals"))));
  EXPECT_EQ(praxis({"runs", "no such words"}).out, "");
}

TEST_F(CliRuns, Filters_MustAllFit) {
  file("free.jsonl", R"({"text": "Free."})");
  ASSERT_EQ(praxis({"run", "--model", "script:free.jsonl", "Free of cost"}).status, 0);
  const auto titles = [&](const std::vector<std::string>& filters) {
    std::vector<std::string> words{"runs", "--json"};
    words.insert(words.end(), filters.begin(), filters.end());
    std::string found;
    for (const Json& item : praxis(words).items()) found += json_string(item, "title").substr(0, 4) + ' ';
    return found;
  };
  EXPECT_EQ(titles({}), "Free A lo ");
  EXPECT_EQ(titles({"--min-cost", "0.01"}), "A lo ");
  EXPECT_EQ(titles({"--max-cost", "0.001"}), "Free ");
  EXPECT_EQ(titles({"--model", "FREE"}), "Free ");
  EXPECT_EQ(titles({"--agent", "agent", "--status", "completed", "--since", "1h"}), "Free A lo ");
  EXPECT_EQ(titles({"--agent", "other"}), "");
  EXPECT_EQ(titles({"--status", "error"}), "");
  EXPECT_EQ(titles({"--older", "1h"}), "");
  EXPECT_EQ(titles({"-n", "1"}), "Free ");
  const CommandResult wrong = praxis({"runs", "--status", "complete"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean \"completed\"?"));
}

// ---- removal

TEST_F(CliRuns, Rm_RemovesOneRunForGood) {
  const std::string first = last_run();
  ASSERT_EQ(praxis({"run", "--model", "script:hello.jsonl", "Another"}).status, 0);
  const CommandResult unsure = praxis({"runs", "rm", first});
  EXPECT_EQ(unsure.status, 2);
  EXPECT_THAT(unsure.err, HasSubstr("confirm with --yes"));
  EXPECT_EQ(praxis({"runs", "rm", first, "nosuch-run", "--yes"}).status, 2) << "then nothing is removed";
  EXPECT_EQ(praxis({"show", first}).status, 0);
  const CommandResult removed = praxis({"runs", "rm", first, "--yes", "--json"});
  EXPECT_EQ(removed.status, 0);
  EXPECT_EQ(json_int(removed.last_line(), "removed"), 1);
  EXPECT_EQ(json_string(removed.last_item(), "id"), first);
  EXPECT_EQ(praxis({"show", first}).status, 2);
  EXPECT_THAT(praxis({"runs"}).out, AllOf(HasSubstr("Another"), Not(HasSubstr("A long task"))));
  EXPECT_EQ(praxis({"doctor"}).out.find("corrupt"), std::string::npos);
}

TEST_F(CliRuns, Rm_AsksAtATerminal) {
  TerminalSession no(command({"runs", "rm", "last"}), options_);
  no.answer("Remove 1 run for good? [y/N]", "n\n");
  EXPECT_EQ(no.finish(), 2);
  EXPECT_THAT(no.screen(), HasSubstr("A long task"));
  EXPECT_NE(last_run(), "");
  TerminalSession yes(command({"runs", "rm", "last"}), options_);
  yes.answer("[y/N]", "y\n");
  EXPECT_EQ(yes.finish(), 0);
  EXPECT_EQ(last_run(), "");
}

TEST_F(CliRuns, Prune_KeepsNamedRunsAndNeedsAFilter) {
  ASSERT_EQ(praxis({"runs", "name", "last", "keep"}).status, 0);
  for (const char* prompt : {"Second", "Third"})
    ASSERT_EQ(praxis({"run", "--model", "script:hello.jsonl", prompt}).status, 0);
  EXPECT_EQ(praxis({"runs", "prune", "--yes"}).status, 2);
  const CommandResult dry = praxis({"runs", "prune", "--since", "1h", "--dry-run"});
  EXPECT_EQ(dry.status, 0);
  EXPECT_THAT(dry.out, AllOf(HasSubstr("Second"), HasSubstr("Third"), Not(HasSubstr("keep"))));
  EXPECT_THAT(dry.err, HasSubstr("1 run with a name: kept"));
  const Json done = praxis({"runs", "prune", "--since", "1h", "--yes", "--json"}).last_line();
  EXPECT_EQ(json_int(done, "removed"), 2);
  EXPECT_EQ(json_int(done, "kept"), 1);
  EXPECT_EQ(praxis({"runs", "--json"}).items().size(), 1U);
  EXPECT_EQ(json_int(praxis({"runs", "prune", "--since", "1h", "--named", "--yes", "--json"}).last_line(),
                     "removed"),
            1);
}

TEST_F(CliRuns, Removal_TakesSubAgentsAndGivesSpaceBack) {
  const std::string big(300'000, 'x');
  file("lead.jsonl", R"({"tool_calls": [{"name": "below", "arguments": {"prompt": "Go"}}]})"
                     "\n{\"text\": \"Done.\"}\n");
  file("below.jsonl", "{\"text\": \"" + big + "\"}\n");
  file("below.toml", "model = \"script:below.jsonl\"\n");
  file("lead.toml",
       "model = \"script:lead.jsonl\"\n[agents.below]\ndescription = \"Does it\"\nfile = \"below.toml\"\n");
  ASSERT_EQ(praxis({"run", "lead.toml", "Lead"}).status, 0);
  const Json sub = praxis({"runs", "--all", "--json"}).items().front();
  const CommandResult refused = praxis({"runs", "rm", json_string(sub, "id"), "--yes"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("is a sub-agent; it goes with its run"));
  const auto before = std::filesystem::file_size(folder_ / "state/praxis/journal.db");
  const Json done = praxis({"runs", "rm", "last", "--yes", "--json"}).last_line();
  EXPECT_EQ(json_int(done, "sessions"), 2);
  EXPECT_GT(json_int(done, "freed_bytes"), 200'000);
  EXPECT_LT(std::filesystem::file_size(folder_ / "state/praxis/journal.db"), before - 200'000);
  EXPECT_EQ(praxis({"runs", "--all", "--json"}).items().size(), 1U);
}

TEST_F(CliRuns, RunInUse_IsNotRemoved) {
  file("slow.jsonl", R"({"text": "Slow.", "delay_ms": 60000})");
  Process run(command({"run", "--model", "script:slow.jsonl", "Slow"}), options_);
  std::string id;
  while ((id = json_string(praxis({"runs", "slow", "--json"}).last_item(), "id")).empty()) {
  }
  const CommandResult refused = praxis({"runs", "rm", id, "--yes"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("a process has " + id + " open; nothing is removed"));
  EXPECT_EQ(json_int(praxis({"runs", "prune", "--since", "1h", "--yes", "--json"}).last_line(), "kept"), 1);
  EXPECT_EQ(json_string(praxis({"runs", "--json"}).last_item(), "id"), id);
  run.signal(SIGKILL);
  run.finish();
  EXPECT_EQ(praxis({"runs", "rm", id, "--yes"}).status, 0) << "its process has ended";
}

TEST_F(CliRuns, WrongWords_AreExplained) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"runs", "rm"}, "rm needs at least one run"},
      {{"runs", "prune", "last", "--older", "1d"}, "prune takes filters, not \"last\""},
      {{"runs", "rm", "last", "--older", "1d"}, "rm takes ids and no filter"},
      {{"runs", "name", "last"}, "name needs one NAME after the run"},
      {{"runs", "tag", "last"}, "tag needs at least one TAG after the run"},
      {{"runs", "unname", "last", "x"}, "unname needs nothing after the run"},
      {{"runs", "--yes"}, "belong to praxis runs rm and prune"},
      {{"runs", "--older", "30"}, "is not a duration"}};
  for (const auto& [words, message] : cases) {
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace praxis::testing
