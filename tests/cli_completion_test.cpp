// What a shell offers after a tab.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CliCompletion : public CommandLine {
 protected:
  CliCompletion() {
    options_.env["OPENAI_API_KEY"] = "k";
    file("config/praxis/agents/reviewer.toml", "id = 'reviewer'\nmodel = 'script:a.jsonl'\n");
    file("a.jsonl", "{\"text\": \"Fine.\"}\n");
    file("config/praxis/config.toml", "model = 'script:a.jsonl'\n");
  }

  /// The candidates, without descriptions.
  std::vector<std::string> candidates(std::vector<std::string> words) const {
    words.insert(words.begin(), "__complete");
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.err, IsEmpty());
    std::vector<std::string> found;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) found.push_back(line.substr(0, line.find('\t')));
    return found;
  }
  std::string run_reviewer() const {
    EXPECT_EQ(praxis({"run", "reviewer", "Look"}).status, 0);
    return last_run();
  }
  /// What bash offers for a line with the cursor at its end, as it splits it.
  std::string in_bash(const std::string& line, const std::string& words) const {
    const std::string count = std::to_string(std::count(words.begin(), words.end(), '\n'));
    const CommandResult result =
        shell("source <(praxis completion bash); COMP_LINE='" + line +
              "' COMP_POINT=" + std::to_string(line.size()) + "; mapfile -t COMP_WORDS <<< '" + words +
              "'; COMP_CWORD=" + count + "; _praxis praxis; printf '%s\\n' \"${COMPREPLY[@]}\"");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }
};

TEST_F(CliCompletion, CommandsFlagsAndVerbs_AreOffered) {
  EXPECT_THAT(candidates({"ru"}), ElementsAre("run", "runs"));
  EXPECT_THAT(candidates({""}), AllOf(Contains("doctor"), Contains("--help"), Not(Contains("__complete"))));
  EXPECT_THAT(candidates({"run", "--max-"}), ElementsAre("--max-usd", "--max-steps"));
  EXPECT_THAT(candidates({"config", ""}), ElementsAre("show", "explain", "set", "edit"));
  EXPECT_THAT(praxis({"__complete", "ru"}).out, StartsWith("run\tRun one turn of an agent"));
}

TEST_F(CliCompletion, RunsAndTheirNames_AreOffered) {
  EXPECT_THAT(candidates({"show", ""}), ElementsAre("last")) << "no journal yet";
  const std::string id = run_reviewer();
  EXPECT_THAT(candidates({"show", ""}), ElementsAre("last", id));
  ASSERT_EQ(praxis({"runs", "name", "last", "best"}).status, 0);
  EXPECT_THAT(candidates({"show", ""}), ElementsAre("last", "best", id));
  EXPECT_THAT(candidates({"resume", id.substr(0, 12)}), ElementsAre(id));
  EXPECT_THAT(praxis({"__complete", "fork", id}).out, HasSubstr("\treviewer completed Look"));
  EXPECT_THAT(candidates({"tree", "st"}), ElementsAre("stop", "steer"));
  EXPECT_THAT(candidates({"tree", "stop", ""}), ElementsAre("last", "best", id));
  EXPECT_THAT(candidates({"show", "--journal", "other.db", ""}), ElementsAre("last"));
}

TEST_F(CliCompletion, StepsThatAwaitAHuman_AreOffered) {
  file("ask.toml", "id = 'ask'\nmodel = 'script:ask.jsonl'\n[tools.kv]\n[policy]\nask = ['kv']\n");
  file("ask.jsonl", R"({"tool_calls": [{"name": "kv", "arguments": {"op": "get", "key": "k"}}]})");
  ASSERT_EQ(praxis({"run", "ask.toml", "Go"}).status, 3);
  EXPECT_THAT(candidates({"approve", ""}), ElementsAre(last_run() + "/p1"));
}

TEST_F(CliCompletion, AgentsModelsAndSettings_AreOffered) {
  EXPECT_THAT(candidates({"run", "rev"}), ElementsAre("reviewer"));
  EXPECT_THAT(candidates({"chat", ""}), Contains("coder")) << "presets too";
  EXPECT_THAT(candidates({"run", "--model", "openai:gpt-5-m"}), Contains("openai:gpt-5-mini"));
  EXPECT_THAT(candidates({"run", "--model=openai:gpt-5-m"}), Each(StartsWith("--model=openai:gpt-5-m")));
  EXPECT_THAT(candidates({"run", "--model", "anthropic:"}), IsEmpty()) << "has no key";
  EXPECT_THAT(candidates({"models", "anthro"}), Contains("anthropic"));
  EXPECT_THAT(candidates({"config", "explain", "limits.max_u"}), ElementsAre("limits.max_usd"));
}

TEST_F(CliCompletion, Trouble_IsNeverTold) {
  file("config/praxis/config.toml", "model = [\n");
  EXPECT_THAT(candidates({"show", ""}), IsEmpty());
  std::filesystem::remove(folder_ / "config/praxis/config.toml");
  file("broken.db", std::string(5000, 'x'));
  EXPECT_THAT(candidates({"show", "--journal", "broken.db", ""}), ElementsAre("last"));
  EXPECT_THAT(candidates({"show", "-C", "/nowhere", ""}), IsEmpty());
  EXPECT_THAT(candidates({}), Contains("run"));
  EXPECT_THAT(candidates({"nosuch", ""}), IsEmpty());
  EXPECT_THAT(candidates({"run", "--json", "rev"}), ElementsAre("reviewer")) << "no envelope";
}

TEST_F(CliCompletion, NamesThatAShellWouldExpand_AreNotOffered) {
  for (const char* name : {"$(touch x)", "`touch x`", "a b", "a;b", "a'b", "a\"b", "a\nb", "a\x1b[2Jb", "*"})
    file(std::string("config/praxis/agents/") + name + ".toml", "id = 'x'\n");
  EXPECT_THAT(candidates({"run", ""}), AllOf(Contains("reviewer"), Each(::testing::MatchesRegex("[a-z-]+"))));
}

TEST_F(CliCompletion, BashScript_AsksTheProgram) {
  EXPECT_EQ(in_bash("praxis run --max-", "praxis\nrun\n--max-"), "--max-usd\n--max-steps\n");
  EXPECT_EQ(in_bash("praxis run rev", "praxis\nrun\nrev"), "reviewer\n");
  EXPECT_EQ(in_bash("praxis run --attach ", "praxis\nrun\n--attach\n"), "\n") << "then bash offers files";
  // Bash splits words at colons and equals signs, and replaces only the last piece.
  EXPECT_THAT(in_bash("praxis run --model openai:gpt-5-m", "praxis\nrun\n--model\nopenai\n:\ngpt-5-m"),
              StartsWith("gpt-5-mini"));
  EXPECT_THAT(in_bash("praxis run --model openai:", "praxis\nrun\n--model\nopenai\n:"),
              HasSubstr("\ngpt-5-mini\n"));
  EXPECT_THAT(in_bash("praxis run --model=openai:gpt-5-m", "praxis\nrun\n--model\n=\nopenai\n:\ngpt-5-m"),
              StartsWith("gpt-5-mini"));
}

TEST_F(CliCompletion, InBashATab_CompletesTheWord) {
  file("rc", "PS1='> '\nsource <(praxis completion bash)\n");
  ProcessOptions options = options_;
  options.env["PATH"] = std::string(PRAXIS_BINARY_DIR) + ":" + std::getenv("PATH");
  TerminalSession bash({"bash", "--noprofile", "--rcfile", "rc", "-i"}, options);
  bash.answer(">", "praxis models openai:gpt-5-min\t");
  ASSERT_TRUE(bash.shows("praxis models openai:gpt-5-mini"));
  bash.type("\x15praxis run --model=openai:gpt-5-min\t");
  ASSERT_TRUE(bash.shows("praxis run --model=openai:gpt-5-mini"));
  bash.type("\x15praxis show las\t");
  ASSERT_TRUE(bash.shows("praxis show last"));
  bash.type(
      "\x15"
      "exit\n");
  EXPECT_EQ(bash.finish(), 0);
}

}  // namespace
}  // namespace praxis::testing
