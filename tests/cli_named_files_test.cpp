// Programs and keys that the user's configuration names, in the folder in which an agent works: it can
// neither write what runs with the user's rights nor read the keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "user_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* kProgram = "#!/bin/sh\nexit 0\n";
constexpr const char* kKey = "sk-KEY-CANARY-OF-A-FILE";

class CliNamedFiles : public UserCommandLine {
 protected:
  CliNamedFiles() {
    for (const char* name : {"hook.sh", "tools/hook.sh", "status.sh", "notify.sh", "secret.sh"})
      program(std::string("clone/") + name);
    file("clone/keys/house", std::string(kKey) + "\n");
    file("clone/keys/secret", std::string(kKey) + "\n");
    for (const char* name : {"house", "secret"})
      fs::permissions(folder_ / "clone/keys" / name, fs::perms::owner_read);
    for (const char* name : {"clone/agents", "clone/sub"}) fs::create_directories(folder_ / name);
    fs::create_directory_symlink(folder_ / "clone/tools", folder_ / "clone/sub/way");
    const std::string here = clone() + "/";
    file("home/.config/praxis/config.toml",
         "agents.folder = \"" + here +
             "agents\"\n[hooks.one]\nevent = \"PreToolUse\"\ncommand = [\"./hook.sh\"]\n"
             "[hooks.two]\nevent = \"PostToolUse\"\ncommand = [\"sh\", \"-c\", \"exec sh sub/way/hook.sh\"]\n"
             "[hooks.later]\nevent = \"Stop\"\ncommand = [\"" +
             here +
             "later/stop.sh\"]\n"
             "[chat]\nstatus_command = [\"sh\", \"status.sh\"]\nnotify_command = \"sh '" +
             here +
             "notify.sh'\"\n"
             "[secrets.asked]\nfrom = \"command:./secret.sh\"\n[secrets.kept]\nfrom = \"file:" +
             here +
             "keys/secret\"\n"
             "[providers.house]\napi = \"chat\"\nbase_url = \"http://127.0.0.1:1\"\nkey_file = \"" +
             here + "keys/house\"\n");
  }
  void program(const std::string& name) const {
    file(name, kProgram);
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  /// An agent that may do everything here, and follows a plan.
  CommandResult run_plan(const std::string& plan) const {
    own_file("clone/a.toml",
             "id = \"a\"\n[tools.shell]\n[tools.file]\nread = [\".\"]\nwrite = [\".\"]\n[policy]\nallow = "
             "[\"*\"]\n" +
                 plan + "[[plan]]\nfinish = \"done\"\n");
    return user_praxis({"run", "a.toml", "go", "-v"});
  }
  void expect_untouched() const {
    for (const char* name : {"hook.sh", "tools/hook.sh", "status.sh", "notify.sh", "secret.sh"})
      EXPECT_EQ(contents(std::string("clone/") + name), kProgram) << name;
    EXPECT_TRUE(fs::is_empty(folder_ / "clone/agents"));
    EXPECT_FALSE(fs::exists(folder_ / "clone/later/stop.sh"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "clone/sub/way"));
  }
};

TEST_P(CliNamedFiles, ProgramInTheSandbox_WritesNoneAndReadsNoKey) {
  const CommandResult ran = run_plan(
      "[[plan]]\ntool = \"shell\"\ninput = { argv = [\"sh\", \"-c\", '''\n"
      "for f in hook.sh tools/hook.sh sub/way/hook.sh status.sh notify.sh secret.sh agents/new.toml; do\n"
      "  echo touch pwned >> $f; rm -f $f; echo touch pwned > x; mv -f x $f\n"
      "done\n"
      "mkdir later; echo touch pwned > later/stop.sh; mv tools old; mkdir tools; mv sub/way sub/old; mv "
      "agents b\n"
      "cat keys/*; cp keys/house copy; cat copy; echo tried; touch made''' ] }\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("tried"));
  EXPECT_THAT(ran.err, Not(HasSubstr(kKey)));
  EXPECT_TRUE(fs::exists(folder_ / "clone/made")) << "the rest of the folder can be written";
  expect_untouched();
}

TEST_P(CliNamedFiles, FileTools_WriteNoneAndReadNoKey) {
  std::string plan;
  for (const char* name : {"hook.sh", "tools/hook.sh", "status.sh", "notify.sh", "secret.sh",
                           "agents/new.toml", "later/stop.sh"}) {
    plan += "[[plan]]\ntool = \"file_write\"\non_error = \"continue\"\ninput = { path = \"" +
            std::string(name) + "\", content = \"touch pwned\" }\n";
  }
  for (const char* name : {"house", "secret"}) {
    plan +=
        "[[plan]]\ntool = \"file_read\"\non_error = \"continue\"\ninput = { op = \"read\", path = \"keys/" +
        std::string(name) + "\" }\n";
  }
  const CommandResult ran = run_plan(plan);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("\"hook.sh\" is protected"));
  EXPECT_THAT(ran.err, HasSubstr("\"keys/house\" holds secrets"));
  EXPECT_THAT(ran.err, Not(HasSubstr(kKey)));
  expect_untouched();
}

TEST_P(CliNamedFiles, LeadWritesNoProgramOfASubAgent) {
  program("clone/coder.sh");
  own_file(
      "clone/helper.toml",
      "[policy]\nask = [\"coder__ask\"]\n[tools.acp.coder]\ncommand = [\"./coder.sh\"]\n[[plan]]\nfinish "
      "= \"done\"\n");
  give_all();
  const CommandResult ran = run_plan(
      "[agents.helper]\nfile = \"helper.toml\"\ndescription = \"Helps.\"\n"
      "[[plan]]\ntool = \"shell\"\ninput = { argv = [\"sh\", \"-c\", '''\n"
      "echo touch pwned >> coder.sh; rm -f coder.sh; touch made; echo tried''' ] }\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("tried"));
  EXPECT_TRUE(fs::exists(folder_ / "clone/made"));
  EXPECT_EQ(contents("clone/coder.sh"), kProgram);
}

INSTANTIATE_TEST_SUITE_P(Users, CliNamedFiles, kBothUsers, user_name);

}  // namespace
}  // namespace praxis::testing
