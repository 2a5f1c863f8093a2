// `praxis skills`, and agents that use skills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string skill_text(const std::string& name, const std::string& body) {
  return "---\nname: " + name + "\ndescription: Use it for " + name + ".\n---\n" + body;
}

class CliSkills : public CommandLine {
 protected:
  CliSkills() {
    file(".agents/skills/tea/SKILL.md", skill_text("tea", "Boil water first.\n"));
    file(".agents/skills/tea/scripts/boil.sh", "echo \"the water is hot\"\n");
    file(".agents/skills/broken/SKILL.md", "nothing\n");
    file(".claude/skills/coffee/SKILL.md", skill_text("coffee", "Grind.\n"));
  }
  /// An agent with the skills of `folders` that calls `skill`, then ends.
  void agent(const std::string& folders, const std::string& more = "", const std::string& calls = "") const {
    file("script.jsonl", R"({"tool_calls": [{"name": "skill", "arguments": {"name": "tea"}}]})"
                         "\n" +
                             calls +
                             R"({"text": "DONE"})"
                             "\n");
    file("agent.toml", "model = \"script:script.jsonl\"\n" + more + "[tools.skills]\n" + folders);
  }
  /// The results of tools in the last run, in order.
  std::vector<std::string> results() const {
    std::vector<std::string> all;
    for (const Json& item : praxis({"logs", "last", "--json"}).items()) {
      const std::string event = json_string(item, "event");
      if (event == "tool.completed" || event == "tool.failed") all.push_back(to_json_text(item));
    }
    return all;
  }
};

TEST_F(CliSkills, ListShowAndCheck) {
  const CommandResult list = praxis({"skills"});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_EQ(list.out,
            "tea                      Use it for tea.\ncoffee                   Use it for coffee.\n");
  EXPECT_THAT(list.err, AllOf(HasSubstr("skills/broken is left out"), HasSubstr("must begin with a line")));
  EXPECT_EQ(praxis({"skills", "list", "--from", ".claude/skills"}).out,
            "coffee                   Use it for coffee.\n");
  EXPECT_EQ(praxis({"skills", "show", "tea"}).out, "Boil water first.\n\n");
  EXPECT_EQ(praxis({"skills", "check", ".agents/skills/tea/", ".claude/skills/coffee"}).out,
            "tea: correct\ncoffee: correct\n");
  const CommandResult broken = praxis({"skills", "check", ".agents/skills/tea", ".agents/skills/broken"});
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.err, HasSubstr("must begin with a line"));
  const CommandResult unknown = praxis({"skills", "show", "te"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"tea\"?"));
}

TEST_F(CliSkills, SkillsOfTheUserAreTheDefault) {
  const std::string own = home_folder() + "/.agents/skills/tea";
  std::filesystem::create_directories(own);
  std::ofstream(own + "/SKILL.md") << skill_text("tea", "Mine: boil milk.\n");
  agent("");
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  EXPECT_EQ(run.status, 0) << run.err;
  ASSERT_EQ(results().size(), 1U);
  EXPECT_THAT(results()[0], AllOf(HasSubstr("Mine: boil milk."), Not(HasSubstr("Boil water"))));
}

TEST_F(CliSkills, ModelGetsTheInstructionsWhenItAsks_AndReplayNeedsNoFile) {
  agent("folders = [\".agents/skills\"]\n");
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("broken\" is left out"));
  EXPECT_THAT(run.out, HasSubstr("DONE"));
  ASSERT_EQ(results().size(), 1U);
  EXPECT_THAT(results()[0], AllOf(HasSubstr("tool.completed"), HasSubstr("Boil water first."),
                                  HasSubstr("scripts/boil.sh")));
  const std::string records = praxis({"show", "last", "--records", "--json"}).out;
  EXPECT_THAT(records, HasSubstr("- tea: Use it for tea."));
  std::filesystem::remove_all(folder_ / ".agents");
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliSkills, ScriptRunsInTheSandboxUnderTheRulesOfShell) {
  if (!probe_sandbox().full())
    PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
  const std::string script = (folder_ / ".agents/skills/tea/scripts/boil.sh").string();
  const std::string skill = (folder_ / ".agents/skills/tea/SKILL.md").string();
  std::filesystem::create_directories(folder_ / "work");
  const std::string calls =
      R"({"tool_calls": [{"name": "shell", "arguments": {"argv": ["sh", ")" + script +
      R"("]}}]})"
      "\n" +
      R"({"tool_calls": [{"name": "shell", "arguments": {"argv": ["sh", "-c", "echo evil >>)" + skill +
      R"("]}}]})"
      "\n";
  agent("folders = [\".agents/skills\"]\n",
        "[policy]\nallow = [\"shell\"]\n[tools.shell]\nfolder = \"work\"\nwrite = [\".\"]\n", calls);
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 0);
  ASSERT_EQ(results().size(), 3U);
  EXPECT_THAT(results()[1], HasSubstr("the water is hot"));
  EXPECT_EQ(contents(".agents/skills/tea/SKILL.md"), skill_text("tea", "Boil water first.\n"))
      << "no tool writes a skill";
  agent("folders = [\".agents/skills\"]\n",
        "[policy]\ndeny = [\"shell\"]\nallow = [\"skill\"]\n[tools.text]\n", calls);
  praxis({"run", "agent.toml", "go"});
  ASSERT_GE(results().size(), 2U);
  EXPECT_THAT(results()[1], HasSubstr("tool.failed")) << "a skill gives no tool";
}

TEST_F(CliSkills, ChangedSkill_StopsAResumeUntilItIsAccepted) {
  agent("folders = [\".agents/skills\"]\n", "", "");
  file("script.jsonl", R"({"tool_calls": [{"name": "ask_user", "arguments": {"question": "Which?"}}]})"
                       "\n"
                       R"({"text": "DONE"})"
                       "\n");
  file("agent.toml",
       "model = \"script:script.jsonl\"\n[tools.ask_user]\n[tools.skills]\nfolders = [\".agents/skills\"]\n");
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 3);
  file(".agents/skills/tea/SKILL.md", skill_text("tea", "Changed.\n"));
  const CommandResult resumed = praxis({"resume", "last", "--answer", "p1=Green"});
  EXPECT_EQ(resumed.status, 2) << resumed.out << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("tea/SKILL.md"));
}

}  // namespace
}  // namespace praxis::testing
