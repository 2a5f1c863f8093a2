// The agents that ship in the program, at the command line.
#include <gmock/gmock.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CliAgents : public CommandLine {
 protected:
  CliAgents() { file("talk.jsonl", "{\"text\": \"Done.\"}\n"); }
};

TEST_F(CliAgents, EachPresetRunsByItsName) {
  for (const std::string name : {"assistant", "coder", "researcher", "reviewer"}) {
    const CommandResult run = praxis({"run", name, "Look", "--model", "script:talk.jsonl"});
    EXPECT_EQ(run.status, 0) << name << ": " << run.err;
    EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("agent: " + name));
    EXPECT_EQ(praxis({"resume", "last", "Again", "--model", "script:talk.jsonl"}).status, 1)
        << "the script has one line only, but the agent is found again";
  }
}

TEST_F(CliAgents, ReviewerCannotWrite) {
  file(
      "write.jsonl",
      "{\"tool_calls\": [{\"name\": \"file_write\", \"arguments\": {\"path\": \"a\", \"content\": \"b\"}}]}\n"
      "{\"text\": \"No.\"}\n");
  praxis({"run", "reviewer", "Write", "--model", "script:write.jsonl"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
  praxis({"run", "coder", "Write", "--model", "script:write.jsonl"});
  EXPECT_EQ(contents("a"), "b");
}

TEST_F(CliAgents, ListShowAndInitAgree) {
  EXPECT_THAT(praxis({"agents"}).out, AllOf(StartsWith("assistant "), HasSubstr("\ncoder "),
                                            HasSubstr("\nresearcher "), HasSubstr("\nreviewer ")));
  const CommandResult shown = praxis({"agents", "show", "coder"});
  EXPECT_THAT(shown.out, HasSubstr("id = \"coder\""));
  EXPECT_EQ(praxis({"agents", "init", "coder"}).status, 0);
  EXPECT_EQ(contents("coder.toml"), shown.out);
  EXPECT_EQ(praxis({"run", "coder.toml", "Look", "--model", "script:talk.jsonl"}).status, 0);
  const CommandResult again = praxis({"agents", "init", "coder"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("exists and was not changed"));
  EXPECT_THAT(praxis({"agents", "show", "codr"}).err, HasSubstr("did you mean \"coder\"?"));
  EXPECT_THAT(praxis({"agents", "init", "codr"}).err, HasSubstr("there is no preset \"codr\""));
}

TEST_F(CliAgents, AgentOfTheUserComesBeforeThePreset) {
  file("config/praxis/agents/coder.toml", "id = 'mine'\n");
  praxis({"run", "coder", "Look", "--model", "script:talk.jsonl"});
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("agent: mine"));
  EXPECT_THAT(praxis({"agents"}).out, HasSubstr("config/praxis/agents/coder.toml"));
  EXPECT_EQ(json_string(praxis({"agents", "--json"}).lines().front(), "name"), "assistant");
}

TEST_F(CliAgents, ChangedPresetFileIsWrittenAgain) {
  praxis({"run", "reviewer", "Look", "--model", "script:talk.jsonl"});
  const auto file = json_string(praxis({"agents", "show", "reviewer", "--json"}).last_line(), "file");
  ASSERT_THAT(file, HasSubstr("state/praxis/presets/"));
  const std::string before = praxis({"agents", "show", "reviewer"}).out;
  std::ofstream(file) << "id = 'other'\n";
  EXPECT_EQ(praxis({"agents", "show", "reviewer"}).out, before);
}

}  // namespace
}  // namespace praxis::testing
