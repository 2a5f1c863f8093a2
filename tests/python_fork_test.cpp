// Runs examples/python-fork, with its script as the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/testing/missing_part.hpp"
#include "example_tree.hpp"
#include "files.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A copy of the example in a temporary folder, where it may write.
class PythonForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!probe_sandbox().full())
      PRAXIS_MISSING_PART("the sandbox cannot be built here: " << probe_sandbox().reason());
    fs::remove_all(root_);
    fs::create_directories(root_ / "examples");
    fs::copy(PRAXIS_SOURCE_DIR "/examples/python-fork", root_ / "examples/python-fork");
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

  static constexpr const char* kPraxis = PRAXIS_BINARY_DIR "/praxis";
  const fs::path root_ = testing::own_folder();
  std::string printed_, told_;
};

TEST_F(PythonForkTest, ThreeForks_AreAskedAndTheMajorityWins) {
  ASSERT_EQ(run((root_ / "examples/python-fork/run").string()), 0) << told_;
  EXPECT_EQ(printed_, "The Volga (3 of 3 say so)\n");
  const std::string journal = " --journal " + (root_ / "build/python-fork/journal.db").string();
  EXPECT_EQ(run(std::string(kPraxis) + " replay last" + journal), 0) << told_;
  ASSERT_EQ(run(std::string(kPraxis) + " tree last" + journal), 0) << told_;
  EXPECT_THAT(printed_, HasSubstr("vote"));
  EXPECT_EQ(testing::unfinished_nodes(root_ / "build/python-fork/journal.db"), "");
}

}  // namespace
}  // namespace praxis
