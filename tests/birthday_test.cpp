// Runs examples/birthday, with its script as the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "example_tree.hpp"
#include "files.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// A copy of the example in a temporary folder, where it may write.
class BirthdayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::own_folder();
    fs::remove_all(root_);
    fs::create_directories(root_ / "examples");
    fs::copy(PRAXIS_SOURCE_DIR "/examples/birthday", root_ / "examples/birthday");
  }
  void TearDown() override { fs::remove_all(root_); }

  /// Runs a command in a clean environment; `printed_` and `told_` are its standard output and error.
  int run(const std::string& command) {
    const std::string home =
        "HOME=" + (root_ / "home").string() + " XDG_CONFIG_HOME= PRAXIS_MODEL= PRAXIS_BIN=" + kPraxis + ' ';
    const int status = std::system(
        (home + command + " >" + (root_ / "out").string() + " 2>" + (root_ / "err").string()).c_str());
    printed_ = testing::content_of(root_ / "out");
    told_ = testing::content_of(root_ / "err");
    return WEXITSTATUS(status);
  }
  int play(const std::string& answers = "") {
    return run((root_ / "examples/birthday/run").string() + ' ' + answers);
  }

  static constexpr const char* kPraxis = PRAXIS_BINARY_DIR "/praxis";
  fs::path root_;
  std::string printed_, told_;
};

TEST_F(BirthdayTest, Agent_AsksThreeTimesAndPlansAParty) {
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_THAT(told_, HasSubstr("Whose birthday is it, and how old will they be?"));
  EXPECT_THAT(told_, HasSubstr("Where will you celebrate, and with how many guests?"));
  EXPECT_THAT(told_, HasSubstr("Can all of the guests eat chocolate and nuts?"));
  EXPECT_THAT(printed_, HasSubstr("> One of them must not eat nuts\n"));
  EXPECT_THAT(printed_, EndsWith("coloured paper, string.\n"));
  EXPECT_EQ(testing::unfinished_nodes(root_ / "build/birthday/journal.db"), "");
  const std::string journal = " --journal " + (root_ / "build/birthday/journal.db").string();
  EXPECT_EQ(run(std::string(kPraxis) + " replay last" + journal), 0) << told_;
}

TEST_F(BirthdayTest, DeclinedQuestion_EndsTheRunSuccessfully) {
  ASSERT_EQ(play("\"Ben's\""), 0) << told_;
  EXPECT_THAT(printed_, HasSubstr("I would have needed an answer to this: Where will you celebrate"));
}

}  // namespace
}  // namespace praxis
