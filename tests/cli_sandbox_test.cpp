// Machines on which a call of a tool cannot run, although the run began on one where it could: the call waits
// for a human and runs once the machine is repaired. `ApprovalsTest` proves that the model reads nothing of
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Runs its arguments where /usr/bin/bwrap is not a program.
constexpr const char* kWithoutBubblewrap =
    "exec unshare -m sh -c 'mount --bind /dev/null /usr/bin/bwrap && exec \"$@\"' sh \"$@\"";
/// Runs its arguments as an ordinary user who can make no user namespace.
constexpr const char* kWithoutNamespaces =
    "exec setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur sh -c 'echo 1 > "
    "/proc/sys/user/max_user_namespaces && exec unshare -U --map-user=1000 -- \"$@\"' sh \"$@\"";
/// Runs its arguments as root of a user namespace in which no further one can be made.
constexpr const char* kWithoutLoans =
    "exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"' sh \"$@\"";

/// A run that waits for the approval of a call of `shell`.
class CliSandbox : public CommandLine {
 protected:
  void SetUp() override {
    if (!probe_sandbox().full())
      PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
    if (geteuid() != 0) PRAXIS_MISSING_PART("needs root, to change what commands find");
    std::filesystem::create_directories(folder_ / "ws");
    std::filesystem::create_directories(folder_ / "data");
    file("data/text", "a text\n");
    file("worker.toml",
         "id = \"worker\"\nmodel = \"script:worker.jsonl\"\n[policy]\nask = [\"shell\", \"file_read\"]\n"
         "[tools.shell]\nfolder = \"ws\"\nread = [\"data\"]\n[tools.file]\nread = [\"data\"]\n");
    wait_for(R"({"name": "shell", "arguments": {"argv": ["sh", "-c", "echo ran >> mark; cat mark"]}})");
  }

  void wait_for(const std::string& call) const {
    file("worker.jsonl", R"({"tool_calls": [)" + call + "]}\n{\"text\": \"DONE\"}\n");
    const CommandResult begun = praxis({"run", "worker.toml", "go"});
    ASSERT_EQ(begun.status, 3) << begun.err;
  }
  /// Runs `praxis` within the shell line `wrapped`; a null one is a healthy machine.
  CommandResult praxis_within(const char* wrapped, const std::vector<std::string>& arguments) const {
    if (wrapped == nullptr) return praxis(arguments);
    std::vector<std::string> words{"sh", "-c", wrapped, "sh"};
    for (const std::string& word : command(arguments)) words.push_back(word);
    return run(words, options_);
  }
  CommandResult allow(const char* wrapped, const std::string& step) const {
    return praxis_within(wrapped, {"resume", "last", "--allow", step});
  }
  /// Gives all files to a user.
  void give_all(uid_t user) const {
    const auto give = [&](const std::filesystem::path& path) {
      EXPECT_EQ(lchown(path.c_str(), user, user), 0) << path;
    };
    for (const std::filesystem::path& top : {folder_, std::filesystem::path(home_folder())}) {
      give(top);
      for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) give(entry.path());
    }
  }
  /// What the call gave when it ran; attempts that the machine refused are not results.
  std::string result_of_the_call() const {
    const Json run = praxis({"export", "last", "--format", "json"}).last_line();
    std::string all;
    for (const Json& item : run.at("items").as_array()) {
      if (json_string(item, "type") == "result" && json_string(item, "outcome") == "ok")
        all += json_string(item, "text");
    }
    return all;
  }
  /// The call waits because of the machine, and every view says what it lacks.
  void expect_waiting(const CommandResult& resumed, const std::string& step, const std::string& why) const {
    EXPECT_EQ(resumed.status, 3) << resumed.err;
    EXPECT_THAT(resumed.err, AllOf(HasSubstr(step + " waits (machine)"), HasSubstr(why)));
    EXPECT_THAT(praxis({"tree", "last"}).out,
                AllOf(HasSubstr("waits for a human (machine): "), HasSubstr(why)));
    EXPECT_THAT(praxis({"approve"}).out, HasSubstr("(machine)"));
    EXPECT_THAT(json_string(praxis({"approve", "--json"}).last_item(), "prompt"), HasSubstr(why));
    EXPECT_THAT(praxis({"runs"}).out, HasSubstr("awaiting_user"));
    EXPECT_EQ(contents("ws/mark"), "") << "the program ran";
  }
  /// On a healthy machine the call runs once.
  void expect_done(const std::string& step) const {
    const CommandResult resumed = allow(nullptr, step);
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_THAT(resumed.out, HasSubstr("DONE"));
    EXPECT_THAT(result_of_the_call(), StartsWith("exit status 0"));
    EXPECT_EQ(contents("ws/mark"), "ran\n");
    EXPECT_THAT(praxis({"replay", "last"}).out, HasSubstr("identical"));
  }
};

TEST_F(CliSandbox, ProgramThatBuildsItIsGone_CallWaitsUntilItIsBack) {
  expect_waiting(allow(kWithoutBubblewrap, "p1"), "p2", "bubblewrap is not installed");
  expect_waiting(allow(kWithoutBubblewrap, "p2"), "p3", "bubblewrap is not installed");
  expect_done("p3");
}

TEST_F(CliSandbox, NamespacesAreForbidden_CallWaits) {
  give_all(65534);
  const CommandResult resumed = allow(kWithoutNamespaces, "p1");
  give_all(0);
  expect_waiting(resumed, "p2", "the sandbox cannot be built");
  expect_done("p2");
}

TEST_F(CliSandbox, FolderOfRootCannotBeLent_CallWaits) {
  expect_waiting(allow(kWithoutLoans, "p1"), "p2", "cannot be lent to an ordinary user");
  expect_done("p2");
}

TEST_F(CliSandbox, GrantedFolderIsMissing_CallWaits) {
  std::filesystem::rename(folder_ / "data", folder_ / "away");
  expect_waiting(allow(nullptr, "p1"), "p2", "data: No such file");
  std::filesystem::rename(folder_ / "away", folder_ / "data");
  expect_done("p2");
}

TEST_F(CliSandbox, GrantedFolderOfAFileToolIsMissing_CallWaits) {
  wait_for(R"({"name": "file_read", "arguments": {"op": "read", "path": "text"}})");
  std::filesystem::rename(folder_ / "data", folder_ / "away");
  const CommandResult waiting = allow(nullptr, "p1");
  EXPECT_EQ(waiting.status, 3) << waiting.err;
  EXPECT_THAT(waiting.err, AllOf(HasSubstr("p2 waits (machine)"), HasSubstr("does not exist")));
  std::filesystem::rename(folder_ / "away", folder_ / "data");
  const CommandResult resumed = allow(nullptr, "p2");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(result_of_the_call(), HasSubstr("a text"));
}

TEST_F(CliSandbox, CallOfASubAgent_WaitsAndEndsWithItsLead) {
  file("lead.toml",
       "id = \"lead\"\nmodel = \"script:lead.jsonl\"\n[policy]\nallow = [\"shell\"]\n"
       "[agents.worker]\nfile = \"worker.toml\"\ndescription = \"Works\"\n");
  file("lead.jsonl",
       "{\"tool_calls\": [{\"name\": \"worker\", \"arguments\": {\"prompt\": \"go\"}}]}\n"
       "{\"text\": \"LED\"}\n");
  const auto command_in = [](const CommandResult& waiting) {
    const auto at = waiting.err.find("praxis resume ");
    EXPECT_NE(at, std::string::npos) << waiting.err;
    return at == std::string::npos ? "false" : waiting.err.substr(at, waiting.err.find('\n', at) - at);
  };
  ProcessOptions options = options_;
  options.env["PATH"] = std::string(PRAXIS_BINARY_DIR) + ":" + std::getenv("PATH");
  const CommandResult begun = praxis({"run", "lead.toml", "go"});
  ASSERT_EQ(begun.status, 3) << begun.err;
  const CommandResult waiting =
      run({"sh", "-c", kWithoutBubblewrap, "sh", "sh", "-c", command_in(begun)}, options);
  EXPECT_EQ(waiting.status, 3) << waiting.err;
  EXPECT_THAT(waiting.err,
              AllOf(HasSubstr("waits for lead/worker (machine)"), HasSubstr("bubblewrap is not installed")));
  EXPECT_EQ(contents("ws/mark"), "") << "the program ran";
  const CommandResult resumed = shell(command_in(waiting));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "LED\n");
  EXPECT_EQ(contents("ws/mark"), "ran\n");
}

TEST_F(CliSandbox, ProcessWithoutDescriptors_EndsOrWaitsAndTheCallRunsOnce) {
  int ended = 0;
  for (int room = 10; room <= 40; room += 3) {
    SCOPED_TRACE(std::to_string(room) + " descriptors");
    std::filesystem::remove(folder_ / "ws/mark");
    wait_for(R"({"name": "shell", "arguments": {"argv": ["sh", "-c", "echo ran >> mark; cat mark"]}})");
    const std::string line = "ulimit -n " + std::to_string(room) + "; exec \"$@\"";
    const CommandResult few = allow(line.c_str(), "p1");
    if (few.status == 0) break;
    ++ended;
    CommandResult resumed = praxis({"resume", "last"});  // takes up what was cut off
    for (int step = 1; resumed.status != 0 && step <= 3; ++step)
      resumed = allow(nullptr, "p" + std::to_string(step));
    EXPECT_EQ(resumed.status, 0) << few.err << resumed.err;
    EXPECT_EQ(contents("ws/mark"), "ran\n") << few.err;
  }
  EXPECT_GT(ended, 2);
}

}  // namespace
}  // namespace praxis::testing
