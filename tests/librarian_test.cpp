// Runs examples/librarian on its shelf, without a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "example_tree.hpp"
#include "files.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A copy of the example in a temporary folder, where it may write.
class LibrarianTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::own_folder();
    fs::remove_all(root_);
    fs::create_directories(root_ / "examples");
    fs::copy(PRAXIS_SOURCE_DIR "/examples/librarian", root_ / "examples/librarian",
             fs::copy_options::recursive);
  }
  void TearDown() override { fs::remove_all(root_); }

  /// Asks the librarian; returns the answer. `told_` is what the run says on standard error.
  std::string answer(const std::string& words) {
    const std::string command = "HOME=" + (root_ / "home").string() +
                                " XDG_CONFIG_HOME= XDG_STATE_HOME= PRAXIS_MODEL= PRAXIS_BIN=" + kPraxis +
                                ' ' + (root_ / "examples/librarian/run").string() + ' ' + words + " >" +
                                (root_ / "out").string() + " 2>" + (root_ / "err").string();
    const int status = std::system(command.c_str());
    told_ = testing::content_of(root_ / "err");
    EXPECT_EQ(WEXITSTATUS(status), 0) << told_;
    return testing::content_of(root_ / "out");
  }
  std::string shelf(const std::string& rest) const {
    return (root_ / "examples/librarian/shelf").string() + '/' + rest;
  }

  static constexpr const char* kPraxis = PRAXIS_BINARY_DIR "/praxis";
  fs::path root_;
  std::string told_;
};

TEST_F(LibrarianTest, Answer_IsThePassageWithItsPlace) {
  EXPECT_THAT(answer("\"How long does green tea steep?\""),
              AllOf(HasSubstr("for two minutes"), HasSubstr("Source: " + shelf("tea.md:"))));
  EXPECT_THAT(answer("\"descale with vinegar\""), HasSubstr("Source: " + shelf("kettle.html:")));
  EXPECT_THAT(told_, HasSubstr("(0 written, 0 removed)")) << "the second run stores nothing again";
  EXPECT_THAT(answer("\"zeppelins\""), HasSubstr("Neither the documents"));
}

TEST_F(LibrarianTest, Fact_IsRememberedBetweenRuns) {
  EXPECT_EQ(answer("\"Remember that the tin stands on the top shelf.\""), "I shall remember it.\n");
  EXPECT_THAT(answer("\"Where stands the tin?\""), HasSubstr("on the top shelf"));
}

TEST_F(LibrarianTest, ChangedDocument_AnswersAnew) {
  EXPECT_THAT(answer("\"hatch for books\""), HasSubstr("bicycle stand"));
  std::ofstream(shelf("hours.txt")) << "Returning books\n\nThe hatch for books is in the cellar now.\n";
  fs::remove(shelf("tea.md"));
  EXPECT_THAT(answer("\"hatch for books\""), AllOf(HasSubstr("in the cellar"), Not(HasSubstr("bicycle"))));
  EXPECT_THAT(answer("\"camomile\""), HasSubstr("Neither the documents")) << "its file is gone";
}

}  // namespace
}  // namespace praxis
