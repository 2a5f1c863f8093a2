// Runs examples/research-team, with its scripts as the models.
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
using ::testing::HasSubstr;

TEST(ResearchTeam, Team_AsksItsSpecialistsAndTheTreeShowsThem) {
  const fs::path root = testing::own_folder();
  fs::remove_all(root);
  fs::create_directories(root / "examples");
  fs::copy(PRAXIS_SOURCE_DIR "/examples/research-team", root / "examples/research-team",
           fs::copy_options::recursive);
  const std::string home = "HOME=" + (root / "home").string() +
                           " XDG_CONFIG_HOME= PRAXIS_MODEL= PRAXIS_BIN=" PRAXIS_BINARY_DIR "/praxis ";
  const int status = std::system((home + (root / "examples/research-team/run").string() + " >" +
                                  (root / "out").string() + " 2>" + (root / "err").string())
                                     .c_str());
  const std::string printed = testing::content_of(root / "out");
  ASSERT_EQ(WEXITSTATUS(status), 0) << testing::content_of(root / "err");
  EXPECT_THAT(printed, HasSubstr("high water comes about every 12 hours and 25 minutes."));
  for (const char* agent : {"lead", "reading", "figures", "reviewer"}) {
    EXPECT_THAT(printed, HasSubstr(std::string(agent) + " 01")) << "not in the tree";
  }
  EXPECT_EQ(testing::unfinished_nodes(root / "build/research-team/journal.db"), "");
  fs::remove_all(root);
}

}  // namespace
}  // namespace praxis
