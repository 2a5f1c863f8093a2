// Runs examples/issue-with-failing-test: with its own stand-in for the tracker, and with one of the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/testing/missing_part.hpp"
#include "example_folder.hpp"
#include "example_tree.hpp"
#include "praxis/process/sandbox.hpp"
#include "process.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kToken = "canary-7dK2mQx94LbTz0";
/// What a tracker notes about the request that opens the issue.
constexpr const char* kOnePost =
    R"({"method": "POST", "path": "/issues", "token": "right", "body": "{\"title\": \"A further kilogram that has )"
    R"(begun costs nothing\", \"body\": \"self.assertEqual(price_in_cents(5.2), 580)\\nAssertionError: 500 != 580\"}"})"
    "\n";

class IssueExample : public ExampleFolder {
 protected:
  IssueExample() : ExampleFolder("issue-with-failing-test") {}
  void SetUp() override {
    if (!probe_sandbox().full())
      PRAXIS_MISSING_PART("the sandbox cannot be built here: " << probe_sandbox().reason());
  }

  fs::path build(const std::string& rest) const { return root_ / "build" / name_ / rest; }
  int praxis(const std::string& arguments) {
    return run("env -C " + root_.string() + ' ' + kPraxis + ' ' + arguments + " --journal " +
               journal().string());
  }
  /// Writes a configuration of the user with a secret for a tracker.
  void configure(const std::string& host) const {
    const fs::path folder = root_ / "home/.config/praxis";
    fs::create_directories(folder);
    std::ofstream(folder / "token") << kToken;
    fs::permissions(folder / "token", fs::perms::owner_read | fs::perms::owner_write);
    std::ofstream(folder / "config.toml")
        << "[secrets.tracker]\nfrom = \"file:token\"\nhosts = [\"" << host << "\"]\n";
    fs::permissions(folder / "config.toml", fs::perms::owner_read | fs::perms::owner_write);
  }
};

/// A tracker of the test, with its folder.
class OwnTracker {
 public:
  OwnTracker(const fs::path& program, fs::path folder)
      : folder_(std::move(folder)), process_({"python3", program.string(), folder_.string()}, with_token()) {}
  /// Host and port, once it listens.
  std::string host() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!fs::exists(folder_ / "port") && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return "127.0.0.1:" + content_of(folder_ / "port");
  }
  std::string requests() const { return content_of(folder_ / "requests.jsonl"); }

 private:
  static ProcessOptions with_token() {
    ProcessOptions options;
    options.env["TRACKER_TOKEN"] = kToken;
    return options;
  }

  const fs::path folder_;
  Process process_;
};

TEST_F(IssueExample, TestFailsForTheReasonOfTheReport_AndOneIssueIsOpened) {
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_EQ(
      printed_,
      "Issue 1 is open, with a test that fails: AssertionError: 500 != 580.\n?? test_begun_kilogram.py\n");
  EXPECT_THAT(told_, AllOf(HasSubstr("p1 waits (approval)"), HasSubstr("step 5: p1 is decided: allow")));
  EXPECT_EQ(content_of(build("requests.jsonl")), kOnePost);
  EXPECT_EQ(unfinished_nodes(journal()), "");
  ASSERT_EQ(praxis("show last"), 0) << told_;
  EXPECT_THAT(printed_,
              AllOf(HasSubstr("exit status 0\nstderr:\n..\n"), HasSubstr("exit status 1\nstderr:\nF\n"),
                    HasSubstr("\nAssertionError: 500 != 580\n"), HasSubstr("\nHTTP 201\n")));
  EXPECT_EQ(praxis("replay last"), 0) << told_;
}

TEST_F(IssueExample, WithoutTheBug_TheTestPasses) {
  ASSERT_EQ(play(), 0) << told_;
  const std::string unittest =
      "env -C " + build("repository").string() + " python3 -m unittest test_begun_kilogram";
  EXPECT_EQ(run(unittest), 1) << told_;
  std::string program = content_of(build("repository/postage.py"));
  program.replace(program.find("int(kilos)"), 10, "-int(-kilos // 1)");
  std::ofstream(build("repository/postage.py")) << program;
  EXPECT_EQ(run(unittest), 0) << told_;
}

TEST_F(IssueExample, CallThatWasCutOff_IsNotSentAgain) {
  ASSERT_EQ(play("--crash"), 0) << told_;
  EXPECT_THAT(told_, AllOf(HasSubstr("p2 waits (in_doubt)"), HasSubstr("p2 is decided: answer")));
  EXPECT_EQ(content_of(build("requests.jsonl")), kOnePost);
  EXPECT_EQ(unfinished_nodes(journal()), "");
  EXPECT_EQ(praxis("replay last"), 0) << told_;
}

TEST_F(IssueExample, AtARealTracker_NothingIsSentBeforeAPersonAllowsIt) {
  const OwnTracker tracker(root_ / "examples" / name_ / "tracker.py", root_ / "tracker");
  configure(tracker.host());
  EXPECT_EQ(play("--tracker http://" + tracker.host()), 3) << told_;
  EXPECT_EQ(tracker.requests(), "");
  EXPECT_THAT(unfinished_nodes(journal()), HasSubstr("  awaiting_user  "));
  EXPECT_EQ(praxis("approve last/p1 --allow"), 0) << told_;
  EXPECT_EQ(tracker.requests(), kOnePost);
  EXPECT_EQ(unfinished_nodes(journal()), "");
  EXPECT_THAT(content_of(journal()) + content_of(journal().string() + "-wal"), Not(HasSubstr(kToken)));
}

TEST_F(IssueExample, Readme_ShowsWhatIsPrinted) { expect_readme_holds(); }

}  // namespace
}  // namespace praxis::testing
