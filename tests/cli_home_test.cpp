// The home folder, and what lies above it, is a workspace only if the user agrees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "user_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

class CliHome : public UserCommandLine {
 protected:
  void SetUp() override {
    UserCommandLine::SetUp();
    own_file("home/.netrc", "SECRET\n");
    own_file("home/projects/a/note", "inside\n");
    fs::create_symlink(home(), folder_ / "other_name");
  }

  /// An agent that reads `path` with its file tool, after the lines `more`.
  void reader(const std::string& folder, const std::string& path, const std::string& more = "") const {
    own_file("clone/reader.toml",
             more + "[tools.file]\nread = [\"" + folder +
                 "\"]\n[[plan]]\ntool = \"file_read\"\ninput = { op = \"read\", path = \"" + path + "\" }\n");
  }
  CommandResult typed(const std::string& command, const std::string& answer) const {
    ProcessOptions options = options_;
    options.input = answer + "\n";
    std::string words = PRAXIS_BINARY_DIR "/praxis " + command;
    if (is_ordinary()) words = "setpriv --reuid=65534 --regid=65534 --clear-groups -- " + words;
    return run({"script", "-qec", words, "/dev/null"}, options);
  }
  void expect_refused(const CommandResult& result, const std::string& what) const {
    EXPECT_EQ(result.status, 2) << what << result.out;
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("SECRET"))) << what;
    EXPECT_THAT(result.err, AllOf(HasSubstr("your home folder or holds it"), HasSubstr("--allow-home")))
        << what;
  }
};

INSTANTIATE_TEST_SUITE_P(Users, CliHome, kBothUsers, user_name);

TEST_P(CliHome, EveryToolThatReachesIt_NeedsConsent) {
  for (const std::string& folder : {home(), folder_.string(), std::string("/"), home() + "/projects/..",
                                    (folder_ / "other_name").string(), std::string("../home")}) {
    reader(folder, home() + "/.netrc");
    expect_refused(user_praxis({"run", "reader.toml"}), "file, " + folder);
  }
  for (const std::string& tool :
       {"[tools.shell]\nfolder = \"" + home() + "\"\n", "[tools.shell]\nread = [\"" + home() + "\"]\n",
        "[tools.shell]\nwrite = [\"" + folder_.string() + "\"]\n",
        std::string("[tools.python]\nread = [\"/\"]\n"), "[tools.python]\nfolder = \"" + home() + "\"\n",
        "[tools.file]\nwrite = [\"" + home() + "\"]\n"}) {
    own_file("clone/any.toml",
             "model = \"script:x.jsonl\"\n[policy]\nask = [\"shell\", \"python\"]\n" + tool);
    expect_refused(user_praxis({"run", "any.toml", "hi"}), tool);
    own_file("clone/lead.toml",
             "model = \"script:x.jsonl\"\n[agents.sub]\nfile = \"any.toml\"\ndescription = \"x\"\n");
    expect_refused(user_praxis({"run", "lead.toml", "hi"}), "sub-agent, " + tool);
  }
  own_file("home/here.toml", "model = \"script:x.jsonl\"\n[policy]\nask = [\"shell\"]\n[tools.shell]\n");
  expect_refused(user_praxis({"run", "-C", home(), "here.toml", "hi"}), "shell in the current folder");
}

TEST_P(CliHome, FolderBelowIt_NeedsNone) {
  reader(home() + "/projects", "a/note");
  EXPECT_EQ(user_praxis({"run", "reader.toml"}).status, 0);
}

TEST_P(CliHome, ConsentOfTheUser_HoldsForTheRun) {
  reader(home(), ".netrc");
  const CommandResult allowed = user_praxis({"run", "reader.toml", "--allow-home"});
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("SECRET"));
  EXPECT_EQ(user_praxis({"resume", "last", "again"}).status, 0) << "the run records the consent";
}

TEST_P(CliHome, ChangedAgentFile_NeedsConsentOfItsOwn) {
  reader("../home/projects", "a/note");
  ASSERT_EQ(user_praxis({"run", "reader.toml"}).status, 0);
  reader("../home", ".netrc", "[metadata]\nhome_accepted = true\n");
  const std::string digest = digest_in(user_praxis({"resume", "last", "again"}));
  expect_refused(user_praxis({"resume", "last", "again", "--accept-agent", digest}), "changed");
  EXPECT_EQ(user_praxis({"resume", "last", "again", "--accept-agent", digest, "--allow-home"}).status, 0);
}

TEST_P(CliHome, Question_IsAskedAtATerminal) {
  if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  reader(home(), ".netrc");
  const CommandResult refused = typed("run reader.toml", "n");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.out, AllOf(HasSubstr("Let them reach it? [y/N]"), Not(HasSubstr("SECRET"))));
  const CommandResult allowed = typed("run reader.toml", "y");
  EXPECT_EQ(allowed.status, 0) << allowed.out;
  EXPECT_THAT(allowed.out, HasSubstr("SECRET"));
}

}  // namespace
}  // namespace praxis::testing
