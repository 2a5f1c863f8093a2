// Faults of the journal in whole trees, seen from the command line: a disk of each size is full at another
// point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <future>
#include <memory>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "net/testing/test_server.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A lead with two sub-agents that write notes, and a journal on a small file system.
class CliFaults : public CommandLine {
 protected:
  CliFaults() {
    file("lead.toml",
         "id = \"lead\"\nmodel = \"script:lead.jsonl\"\n[policy]\nallow = [\"kv\"]\n"
         "[agents.alpha]\nfile = \"clerk.toml\"\ndescription = \"Does a part\"\n"
         "[agents.beta]\nfile = \"clerk.toml\"\ndescription = \"Does a part\"\n");
    file("lead.jsonl", R"({"tool_calls": [{"name": "alpha", "arguments": {"prompt": "one"}}, )"
                       R"({"name": "beta", "arguments": {"prompt": "two"}}]})"
                       "\n"
                       R"({"text": "DONE"})"
                       "\n");
    file("clerk.toml",
         "id = \"clerk\"\nmodel = \"script:clerk.jsonl\"\n[policy]\nallow = [\"kv\"]\n[tools.kv]\n");
    file("clerk.jsonl", note("a") + note("b") + R"({"text": "part"})" + "\n");
    std::filesystem::create_directory(disk_);
  }
  ~CliFaults() override { umount2(disk_.c_str(), MNT_DETACH); }

  static std::string note(const std::string& key) {
    return R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": ")" + key +
           R"(", "value": ")" + std::string(9'000, 'x') + "\"}}]}\n";
  }
  bool mount_disk(int kilobytes) {
    umount2(disk_.c_str(), MNT_DETACH);
    const std::string size = "size=" + std::to_string(kilobytes) + "k";
    return mount("tmpfs", disk_.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }
  bool enlarge_disk() { return mount("tmpfs", disk_.c_str(), "tmpfs", MS_REMOUNT, "size=8m") == 0; }
  CommandResult with_journal(std::vector<std::string> words) const {
    words.insert(words.end(), {"--journal", (disk_ / "j").string()});
    return praxis(words);
  }
  /// The run ended because the disk was full; `tree` shows it, and it resumes once there is room.
  void check_stopped(const CommandResult& run) {
    EXPECT_EQ(run.status, 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("no space left"));
    ASSERT_TRUE(enlarge_disk());
    const std::string id = json_string(with_journal({"runs", "--json"}).last_item(), "id");
    if (id.empty()) return;  // not even its first record was written
    const CommandResult watched = with_journal({"tree", id, "--watch", "--json"});
    const bool begun = watched.status == 1;
    EXPECT_TRUE(begun || watched.status == 0) << watched.err;
    const CommandResult resumed = with_journal(begun ? std::vector<std::string>{"resume", id}
                                                     : std::vector<std::string>{"resume", id, "go"});
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_THAT(resumed.out, HasSubstr("DONE"));
    std::size_t nodes = 0;
    for (const Json& node : with_journal({"tree", id, "--json"}).items()) {
      EXPECT_EQ(json_string(node, "status"), "completed") << json_string(node, "path");
      EXPECT_THAT(with_journal({"export", json_string(node, "id")}).out, Not(HasSubstr("no space")));
      ++nodes;
    }
    EXPECT_EQ(nodes, 3U) << "a sub-agent is missing";
  }

  const std::filesystem::path disk_ = folder_ / "disk";
};

TEST_F(CliFaults, FullDiskAtAnyPointOfATree_EndsTheRunAndAllOfItResumes) {
  if (!mount_disk(96)) PRAXIS_MISSING_PART("needs the right to mount");
  int stopped = 0;
  constexpr int kStep = PRAXIS_SANITIZED ? 24 : 12;
  for (int kilobytes = 96; kilobytes <= 360; kilobytes += kStep) {
    SCOPED_TRACE(std::to_string(kilobytes) + " KiB");
    ASSERT_TRUE(mount_disk(kilobytes));
    const CommandResult run = with_journal({"run", "lead.toml", "go"});
    if (run.status == 0) continue;
    ++stopped;
    check_stopped(run);
    if (HasFailure()) return;
  }
  EXPECT_GT(stopped, 4) << "the disk was rarely full";
}

/// A run whose call has reached a server that never answers.
class CliInDoubt : public CommandLine {
 protected:
  CliInDoubt() {
    const std::string host = server_.url("").substr(std::string("http://").size());
    file("payer.toml",
         "id = \"payer\"\nmodel = \"script:payer.jsonl\"\n[policy]\nallow = [\"http\"]\n[tools.http]\nallow "
         "= [\"" +
             host + "\"]\n");
    file("payer.jsonl", R"({"tool_calls": [{"name": "http", "arguments": {"method": "POST", "url": ")" +
                            server_.url("/pay") + "\"}}]}\n" + R"({"text": "DONE"})" + "\n");
    options_.env["no_proxy"] = options_.env["NO_PROXY"] = "127.0.0.1";
  }
  std::unique_ptr<Process> start() {
    auto run = std::make_unique<Process>(command({"run", "payer.toml", "go"}), options_);
    asked_.get_future().wait_for(std::chrono::seconds(30));
    return run;
  }

  std::promise<void> asked_;
  TestServer server_{[this](const TestRequest&, TestConnection& to) {
    asked_.set_value();
    to.wait_for_close();
  }};
};

TEST_F(CliInDoubt, CallOfAKilledRun_IsListedBeforeTheRunIsResumed) {
  const auto run = start();
  run->signal(SIGKILL);
  run->finish();
  const CommandResult listed = praxis({"approve"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("(in_doubt, not resumed)"));
  EXPECT_THAT(listed.out, HasSubstr("/pay"));
  EXPECT_THAT(listed.out, HasSubstr("praxis resume " + last_run()));
  EXPECT_EQ(json_string(praxis({"approve", "--json"}).last_item(), "resume"), last_run());
  EXPECT_THAT(praxis({"doctor"}).out, HasSubstr("1 call may or may not have run"));
}

TEST_F(CliInDoubt, RunTakenByForce_WarnsOfTheProcessThatStillLives) {
  const auto run = start();
  run->signal(SIGSTOP);
  const CommandResult taken = praxis({"resume", "last", "--force"});
  EXPECT_EQ(taken.status, 3) << taken.err;
  const auto warning = taken.err.find("still lives");
  ASSERT_NE(warning, std::string::npos) << taken.err;
  EXPECT_NE(taken.err.find("End it before you allow a call in doubt", warning + 1), std::string::npos);
  EXPECT_GT(taken.err.rfind("still lives"), taken.err.find("--allow"))
      << "the choices come without a warning";
  run->signal(SIGKILL);
  run->finish();
  EXPECT_THAT(praxis({"approve"}).out, HasSubstr("(in_doubt)")) << "parked by the run that took it";
}

}  // namespace
}  // namespace praxis::testing
