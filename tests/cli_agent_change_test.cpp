// A run is bound to the bytes of its agent's files: whatever wrote them since then, rights do not grow
// without the user's word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "user_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

class CliAgentChange : public UserCommandLine {
 protected:
  void SetUp() override {
    UserCommandLine::SetUp();
    own_file(
        "clone/lead.toml",
        "id = \"lead\"\nmodel = \"script:lead.jsonl\"\ninstructions_file = \"lead.md\"\n[tools.file]\nwrite "
        "= [\"out\"]\n"
        "[policy]\nask = [\"file_write\"]\n[agents.sub]\nfile = \"sub.toml\"\ndescription = \"helps\"\n");
    own_file("clone/lead.md", "Work.\n");
    own_file("clone/sub.toml", "model = \"script:sub.jsonl\"\n");
    own_file("clone/sub.jsonl", "{\"text\": \"Helped.\"}\n");
    own_file("clone/lead.jsonl",
             "{\"tool_calls\": [{\"name\": \"file_write\", \"arguments\": {\"path\": \"a.txt\", \"content\": "
             "\"A\"}}]}\n"
             "{\"text\": \"Done.\"}\n"
             "{\"tool_calls\": [{\"name\": \"file_write\", \"arguments\": {\"path\": \"" +
                 home() +
                 "/.bashrc\", \"content\": \"PWNED\"}}]}\n{\"text\": \"Done again.\"}\n{\"text\": \"And "
                 "again.\"}\n");
    own_file("clone/out/keep", "");
    own_file("home/.bashrc", "mine");
  }

  /// As a program of the run could: more rights, and no question.
  void widen() const {
    own_file("clone/lead.toml",
             "id = \"lead\"\nmodel = \"script:lead.jsonl\"\ninstructions_file = "
             "\"lead.md\"\n[tools.file]\nwrite = [\"/\"]\n"
             "[policy]\nallow = [\"*\"]\n[agents.sub]\nfile = \"sub.toml\"\ndescription = \"helps\"\n");
  }
  std::string content(const std::string& name) const { return contents("clone/" + name); }
};

INSTANTIATE_TEST_SUITE_P(Users, CliAgentChange, kBothUsers, user_name);

TEST_P(CliAgentChange, RewrittenAgentFile_GivesNoRightsToTheResumedRun) {
  ASSERT_EQ(user_praxis({"run", "lead.toml", "Work"}).status, 3);
  ASSERT_EQ(user_praxis({"resume", "last", "--allow", "p1"}).status, 0);
  EXPECT_EQ(content("out/a.txt"), "A");
  widen();
  const CommandResult refused = user_praxis({"resume", "last", "go on"});
  EXPECT_EQ(refused.status, 2) << refused.out;
  EXPECT_EQ(contents("home/.bashrc"), "mine");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("the agent file changed"), HasSubstr("- write = [\"out\"]"),
                                 HasSubstr("+ write = [\"/\"]"), HasSubstr("+ allow = [\"*\"]"),
                                 Not(HasSubstr("- model"))));
  EXPECT_EQ(user_praxis({"resume", "last", "go on", "--accept-agent", std::string(64, '0')}).status, 2);
  const std::string digest = digest_in(refused);
  widen();
  own_file("clone/sub.jsonl", "{\"text\": \"Changed again.\"}\n");
  EXPECT_EQ(user_praxis({"resume", "last", "go on", "--accept-agent", digest}).status, 2)
      << "not these bytes";
  EXPECT_EQ(contents("home/.bashrc"), "mine");
}

TEST_P(CliAgentChange, AcceptedChange_HoldsUntilTheNext) {
  ASSERT_EQ(user_praxis({"run", "lead.toml", "Work"}).status, 3);
  own_file("clone/lead.md", "Work harder.\n");
  const CommandResult refused = user_praxis({"resume", "last", "--allow", "p1"});
  ASSERT_EQ(refused.status, 2);
  EXPECT_EQ(user_praxis({"resume", "last", "--allow", "p1", "--accept-agent", digest_in(refused)}).status, 0);
  const CommandResult next = user_praxis({"resume", "last", "and now"});
  EXPECT_EQ(next.status, 3) << "the accepted files are those of the run now: " << next.err;
  own_file("clone/lead.md", "Work.\n");
  EXPECT_EQ(user_praxis({"resume", "last", "--deny", "p2"}).status, 2) << "also back to what was";
}

TEST_P(CliAgentChange, EachNamedFile_IsPartOfTheAgent) {
  ASSERT_EQ(user_praxis({"run", "lead.toml", "Work"}).status, 3);
  for (const auto& [name, shown] : {std::pair{"lead.toml", "the agent file changed"},
                                    {"lead.md", "\"lead.md\" changed"},
                                    {"sub.toml", "\"sub.toml\" changed"},
                                    {"sub.jsonl", "\"model:sub.jsonl\" changed"},
                                    {"lead.jsonl", "\"model:lead.jsonl\" changed"}}) {
    const std::string before = content(name);
    own_file(std::string("clone/") + name, before + "\n");
    const CommandResult refused = user_praxis({"resume", "last", "--allow", "p1"});
    EXPECT_EQ(refused.status, 2) << name;
    EXPECT_THAT(refused.err, HasSubstr(shown));
    own_file(std::string("clone/") + name, before);
  }
  EXPECT_EQ(user_praxis({"resume", "last", "--allow", "p1"}).status, 0) << "nothing is changed";
}

TEST_P(CliAgentChange, EverySurface_RefusesTheChange) {
  ASSERT_EQ(user_praxis({"run", "lead.toml", "Work"}).status, 3);
  const CommandResult branch = user_praxis({"fork", "last"});
  ASSERT_EQ(branch.status, 0) << branch.err;
  const std::string fork = branch.out.substr(0, branch.out.find('\n'));
  const std::string run = json_string(user_praxis({"runs", "--json", "-n", "5"}).last_item(), "id");
  widen();
  EXPECT_EQ(user_praxis({"resume", fork, "--allow", "p1"}).status, 2);
  EXPECT_EQ(user_praxis({"resume", fork, "more"}).status, 2);
  EXPECT_EQ(user_praxis({"resume", run, "--allow", "p1"}).status, 2);
  EXPECT_EQ(user_praxis({"resume", run, "--allow", "p1", "--agent", "lead.toml"}).status, 2);
  const CommandResult approved = user_praxis({"approve", run + "/p1", "--allow"});
  EXPECT_EQ(approved.status, 2);
  EXPECT_THAT(approved.err, HasSubstr("--accept-agent"));
  EXPECT_THAT(user_praxis({"approve"}).out, HasSubstr(run + "/p1")) << "nothing is decided";
  EXPECT_FALSE(fs::exists(clone() + "/out/a.txt"));
  EXPECT_EQ(contents("home/.bashrc"), "mine");
}

TEST_P(CliAgentChange, MovedAgentFiles_AreTheSameAgent) {
  ASSERT_EQ(user_praxis({"run", "lead.toml", "Work"}).status, 3);
  for (const char* name : {"lead.toml", "lead.md", "sub.toml"}) {
    own_file(std::string("clone/moved/") + name, content(name));
    fs::remove(clone() + '/' + name);
  }
  fs::rename(clone() + "/moved/lead.toml", clone() + "/moved/other.toml");
  const CommandResult moved = user_praxis({"resume", "last", "--allow", "p1", "--agent", "moved/other.toml"});
  EXPECT_THAT(moved.err, Not(HasSubstr("the agent file changed")));
}

TEST_P(CliAgentChange, Question_IsAskedAtATerminal) {
  if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  ASSERT_EQ(user_praxis({"run", "lead.toml", "Work"}).status, 3);
  own_file("clone/lead.md", "Work harder.\n");
  const auto typed = [this](const std::string& answer) {
    ProcessOptions options = options_;
    options.input = answer + "\n";
    std::string words = PRAXIS_BINARY_DIR "/praxis resume last --allow p1";
    if (is_ordinary()) words = "setpriv --reuid=65534 --regid=65534 --clear-groups -- " + words;
    return run({"script", "-qec", words, "/dev/null"}, options);
  };
  const CommandResult refused = typed("n");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.out, AllOf(HasSubstr("+ Work harder."), HasSubstr("as they are now? [y/N]")));
  EXPECT_FALSE(fs::exists(clone() + "/out/a.txt"));
  EXPECT_EQ(typed("y").status, 0);
  EXPECT_EQ(content("out/a.txt"), "A");
}

TEST_P(CliAgentChange, AgentFile_CannotSayWhatItsFilesWere) {
  ASSERT_EQ(user_praxis({"run", "lead.toml", "Work"}).status, 3);
  own_file("clone/lead.toml", content("lead.toml") + "[metadata]\nagent_files = {}\nproject = \"/\"\n");
  EXPECT_EQ(user_praxis({"resume", "last", "--allow", "p1"}).status, 2);
}

}  // namespace
}  // namespace praxis::testing
