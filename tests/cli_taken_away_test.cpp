// A journal that is taken away under a run: the run stops, says why, and keeps what it has for `praxis
// import`. Runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class CliTakenAway : public CommandLine {
 protected:
  /// Starts a run that pauses after two calls.
  void SetUp() override {
    file("plan.toml", "id = \"p\"\n[tools.kv]\n" + put("a") + put("b") + "[[plan]]\nsleep_ms = 60000\n");
    fs::create_directory(folder_ / "place");
    run_.emplace(command({"run", "plan.toml", "go", "--json", "--journal", "place/j"}), options_);
    ASSERT_TRUE(run_->prints("\"step\":3")) << run_->errors;  // the pause is acknowledged
    records_ = records("place/j");
    ASSERT_GE(records_, 8U);
  }
  static std::string put(const std::string& key) {
    return "[[plan]]\ntool = \"kv\"\ninput = { op = \"put\", key = \"" + key + "\", value = \"1\" }\n";
  }
  std::size_t records(const std::string& journal) const {
    const CommandResult show = praxis({"show", "last", "--json", "--journal", journal});
    return show.status == 0 ? show.items().size() : 0;
  }
  /// The run wants to record an interrupt, and finds that it cannot.
  void expect_stopped(const std::string& says) {
    run_->signal(SIGINT);
    EXPECT_EQ(run_->finish(), 1) << run_->errors;
    EXPECT_THAT(run_->errors, HasSubstr(says));
    EXPECT_THAT(run_->errors, HasSubstr("while it was in use"));
    EXPECT_THAT(run_->errors, Not(HasSubstr("resume: ")));
  }
  /// Imports what the run has kept into a new journal.
  void import_kept() {
    const std::string before = "kept: praxis import ";
    const auto at = run_->errors.find(before);
    ASSERT_NE(at, std::string::npos) << run_->errors;
    const std::string rest = run_->errors.substr(at + before.size());
    const std::string kept = rest.substr(0, rest.find(" --journal"));
    const CommandResult imported = praxis({"import", kept, "--journal", "other"});
    fs::remove(kept);
    ASSERT_EQ(imported.status, 0) << imported.err;
    EXPECT_GE(records("other"), records_);
    EXPECT_EQ(praxis({"replay", "last", "--journal", "other"}).status, 0);
  }

  std::optional<Process> run_;
  std::size_t records_ = 0;
};

TEST_F(CliTakenAway, MovedFolder_StopsTheRunWhichIsKept) {
  fs::rename(folder_ / "place", folder_ / "elsewhere");
  expect_stopped("place/j was deleted or moved away");
  import_kept();
  EXPECT_GE(records("elsewhere/j"), records_) << "the moved journal is whole too";
}

TEST_F(CliTakenAway, DeletedFolder_StopsTheRunWhichIsKept) {
  fs::remove_all(folder_ / "place");
  expect_stopped("place/j was deleted or moved away");
  import_kept();
}

TEST_F(CliTakenAway, LogThatIsCut_StopsTheRunWhichIsKept) {
  fs::resize_file(folder_ / "place/j-wal", 0);
  expect_stopped("place/j-wal was cut");
  import_kept();
  const CommandResult runs = praxis({"runs", "--journal", "place/j"});
  EXPECT_EQ(runs.status, 1) << runs.out;
  EXPECT_THAT(runs.err, HasSubstr("lost its end"));
}

TEST_F(CliTakenAway, IndexThatIsCut_LeavesTheRunResumable) {
  fs::resize_file(folder_ / "place/j-shm", 0);
  expect_stopped("place/j-shm was cut");
  EXPECT_GE(records("place/j"), records_);
}

}  // namespace
}  // namespace praxis::testing
