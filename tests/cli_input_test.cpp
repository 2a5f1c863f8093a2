// What a user gives to `praxis run` on standard input, and where its output goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CliInput : public CommandLine {
 protected:
  CliInput() { file("hello.jsonl", "{\"text\": \"Hello there.\"}\n"); }

  CommandResult run_with(const std::string& input, std::vector<std::string> arguments) const {
    ProcessOptions options = options_;
    options.input = input;
    return praxis(std::move(arguments), options);
  }
  std::string records() const { return praxis({"export", "last"}).out; }
};

TEST_F(CliInput, PipeWithAPrompt_IsSentAsABlockOfItsOwn) {
  const CommandResult run =
      run_with("-old line\n+new line\n", {"run", "--model", "script:hello.jsonl", "Review this"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(records(),
              HasSubstr(R"({"type":"text","text":"Review this"},)"
                        R"({"type":"text","text":"\n\n<stdin>\n-old line\n+new line\n</stdin>"})"));
  EXPECT_EQ(json_string(praxis({"runs", "--json"}).last_item(), "title").substr(0, 11), "Review this");
}

TEST_F(CliInput, PipeWithAPromptOfResume_IsSentToo) {
  ASSERT_EQ(run_with("", {"run", "--model", "script:hello.jsonl", "Hi"}).status, 0);
  file("hello.jsonl", "{\"text\": \"Hello there.\"}\n{\"text\": \"Read.\"}\n");
  const CommandResult run = run_with("the log", {"resume", "last", "Read this"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(records(), HasSubstr(R"(<stdin>\nthe log\n</stdin>)"));
}

TEST_F(CliInput, EmptyPipeAndDevice_AddNothing) {
  EXPECT_EQ(run_with(" \n", {"run", "--model", "script:hello.jsonl", "Hi"}).status, 0);
  EXPECT_THAT(records(), Not(HasSubstr("stdin")));
  EXPECT_EQ(shell("praxis run --model script:hello.jsonl Hi < /dev/zero").status, 0);
}

TEST_F(CliInput, BytesThatAreNoText_AreRefused) {
  const std::string bytes("\x89PNG\0\xff", 6);
  for (const std::string prompt : {"-", "What is this?"}) {
    const CommandResult run = run_with(bytes, {"run", "--model", "script:hello.jsonl", prompt});
    EXPECT_EQ(run.status, 2) << prompt;
    EXPECT_THAT(run.err, HasSubstr("standard input is not UTF-8 text"));
  }
}

TEST_F(CliInput, PipeThatStaysOpen_IsNamedWhileTheProgramWaitsForIt) {
  const CommandResult run = shell(
      "mkfifo pipe; praxis run --model script:hello.jsonl Hi < pipe 2> errors & exec 3> pipe; "
      "until grep -q 'waiting for the end of standard input' errors; do sleep 0.05; done; "
      "echo late >&3; exec 3>&-; wait $!");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(records(), HasSubstr(R"(<stdin>\nlate\n</stdin>)"));
}

TEST_F(CliInput, RepeatedOption_TakesOneValueAndLeavesThePrompt) {
  file("notes.txt", "buy milk");
  EXPECT_EQ(run_with("", {"run", "--model", "script:hello.jsonl", "--attach", "notes.txt", "Look"}).status,
            0);
  EXPECT_THAT(records(), HasSubstr("Look"));
}

TEST_F(CliInput, OutputFile_EndsWithANewline) {
  ASSERT_EQ(run_with("", {"run", "--model", "script:hello.jsonl", "Hi", "-o", "answer.txt"}).status, 0);
  EXPECT_EQ(contents("answer.txt"), "Hello there.\n");
}

TEST_F(CliInput, DashAsTheOutputFile_IsStandardOutput) {
  const CommandResult run = run_with("", {"run", "--model", "script:hello.jsonl", "Hi", "-o", "-"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "Hello there.\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "-"));
  const CommandResult twice =
      run_with("", {"run", "--json", "--model", "script:hello.jsonl", "Hi", "-o", "-"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("-o - and --json both write to standard output"));
  const CommandResult exported = praxis({"export", "last", "-o", "-"});
  EXPECT_EQ(exported.status, 0);
  EXPECT_THAT(exported.out, Not(IsEmpty()));
}

TEST_F(CliInput, UnknownPrice_IsNeitherZeroNorSilentlyABound) {
  file("priced.jsonl", R"({"text": "Hi", "usage": {"input": 10, "output": 2, "cost_usd": 0.01}})");
  const CommandResult priced = run_with("", {"run", "--json", "--model", "script:priced.jsonl", "Hi"});
  EXPECT_EQ(priced.last_line().at("cost_usd"), Json(0.01));
  EXPECT_THAT(priced.err, HasSubstr("12 tokens, $0.01"));
  const CommandResult run = run_with("", {"run", "--json", "--model", "script:hello.jsonl", "Hi"});
  EXPECT_TRUE(run.last_line().at("cost_usd").is_null());
  EXPECT_THAT(run.err, HasSubstr(" tokens, $?"));

  options_.env["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1";
  options_.env["OPENAI_API_KEY"] = "key";
  const auto bounded = [&](const std::string& model) {
    return run_with("", {"run", "--max-usd", "0.01", "--timeout", "1ms", "--model", model, "Hi"}).err;
  };
  EXPECT_THAT(bounded("openai:mine"), HasSubstr("the price of openai:mine is not known"));
  EXPECT_THAT(bounded("openai:gpt-5-mini"), Not(HasSubstr("is not known")));
}

TEST_F(CliInput, Verbose_ShowsTheResultsOfCalls) {
  std::string lines;
  for (int i = 1; i <= 25; ++i) lines += "line " + std::to_string(i) + "\\n";
  file("below.jsonl", "{\"text\": \"\\u001b[2J" + lines + "\"}\n");
  file("below.toml", "model = \"script:below.jsonl\"\n");
  file("lead.jsonl", R"({"tool_calls": [{"name": "below", "arguments": {"prompt": "Go"}}]})"
                     "\n{\"text\": \"Done.\"}\n");
  file("lead.toml",
       "model = \"script:lead.jsonl\"\n[agents.below]\nfile = \"below.toml\"\ndescription = \"Works\"\n");
  const CommandResult verbose = praxis({"run", "lead.toml", "Go", "-v"});
  EXPECT_EQ(verbose.out, "Done.\n");
  EXPECT_THAT(verbose.err, HasSubstr("line 1\n  | line 2\n"));
  EXPECT_THAT(verbose.err, HasSubstr("  | line 20\n  | ... 5 more lines; praxis show has all of them\n"));
  EXPECT_THAT(verbose.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(praxis({"run", "lead.toml", "Go"}).err, Not(HasSubstr("line 1")));
  EXPECT_EQ(praxis({"run", "lead.toml", "Go", "-v", "-q"}).status, 2);
}

TEST_F(CliInput, RecordingOfAScript_SaysThatItRecordedNothing) {
  const CommandResult run = run_with("", {"run", "--model", "script:hello.jsonl", "Hi", "--record", "talk"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("warning: --record talk: nothing was recorded"));
}

}  // namespace
}  // namespace praxis::testing
