// Runs examples/release-notes as `make run` does, on release notes made for the test and on those of this
// machine.
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

constexpr const char* kNotes = R"(# Changelog

## [2.1.0] - 2024-05-01

### Added

- `Parser::reset()` starts over
  without a new parser.

### Fixed

- A crash on empty input.

## [2.0.0] - 2024-01-01

### Removed

- Removed the deprecated function `parse_all()`.
)";

/// A copy of the example in a temporary folder, where it may write.
class ReleaseNotesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::own_folder();
    home_ = root_.string() + "-home";  // next to the folder that the example reads
    fs::remove_all(root_);
    fs::create_directories(root_ / "examples");
    fs::copy(PRAXIS_SOURCE_DIR "/examples/release-notes", root_ / "examples/release-notes");
    std::ofstream(root_ / "notes.md") << kNotes;
  }
  void TearDown() override {
    fs::remove_all(root_);
    fs::remove_all(home_);
  }

  /// Runs the script; `output_` is its output.
  int play(const std::string& arguments, const std::string& binary = PRAXIS_BINARY_DIR "/praxis") {
    const std::string home =
        "HOME=" + home_.string() + " XDG_CONFIG_HOME= PRAXIS_MODEL= PRAXIS_BIN=" + binary;
    const std::string command = home + ' ' + (root_ / "examples/release-notes/run").string() + ' ' +
                                arguments + " >" + (root_ / "output").string() + " 2>&1";
    const int status = std::system(command.c_str());
    output_ = testing::content_of(root_ / "output");
    return WEXITSTATUS(status);
  }
  std::string summary() const { return testing::content_of(root_ / "build/release-notes/summary.md"); }

  fs::path root_, home_;
  std::string output_;
};

TEST_F(ReleaseNotesTest, Summary_HasTheApiChangesOfEachRelease) {
  ASSERT_EQ(play((root_ / "notes.md").string()), 0) << output_;
  const std::string text = summary();
  EXPECT_NE(text.find("- Newest release: **[2.1.0] - 2024-05-01**"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "### [2.1.0] - 2024-05-01\n\n#### Added\n\n- `Parser::reset()` starts over without a new parser."),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "### [2.0.0] - 2024-01-01\n\n#### Removed\n\n- Removed the deprecated function `parse_all()`."),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("#### Fixed"), std::string::npos) << "a fix is not a change of the API:\n" << text;
  EXPECT_NE(output_.find("build/release-notes/summary.md"), std::string::npos) << output_;
  EXPECT_EQ(testing::unfinished_nodes(root_ / "build/release-notes/journal.db"), "");
}

TEST_F(ReleaseNotesTest, ReleaseNotesOfThisMachine_AreSummarised) {
  if (!fs::exists("/usr/share/doc/libtomlplusplus-dev/changelog.gz"))
    GTEST_SKIP() << "no documentation is installed";
  ASSERT_EQ(play(""), 0) << output_;
  EXPECT_NE(summary().find("added `toml::path` utility type"), std::string::npos) << summary();
}

TEST_F(ReleaseNotesTest, NamedModel_IsUsed) {
  std::ofstream(root_ / "script.jsonl")
      << R"({"tool_calls":[{"name":"file_write","arguments":{"path":"summary.md","content":"By a model."}}]})"
      << '\n'
      << R"({"text":"Done."})" << '\n';
  ASSERT_EQ(play((root_ / "notes.md").string() + " --model script:" + (root_ / "script.jsonl").string()), 0)
      << output_;
  EXPECT_EQ(summary(), "By a model.");
}

TEST_F(ReleaseNotesTest, NotesWithoutReleases_AreRefusedWithTheReason) {
  std::ofstream(root_ / "notes.md") << "Nothing to see here.\n";
  EXPECT_EQ(play((root_ / "notes.md").string()), 1);
  EXPECT_NE(output_.find("has no heading that names a release"), std::string::npos) << output_;
  EXPECT_EQ(summary(), "");
}

TEST_F(ReleaseNotesTest, MissingFileOrProgram_SaysWhatToDo) {
  EXPECT_EQ(play("/nowhere/notes.md"), 2);
  EXPECT_NE(output_.find("there is no file /nowhere/notes.md"), std::string::npos) << output_;
  EXPECT_EQ(play("", "/nowhere/praxis"), 2);
  EXPECT_NE(output_.find("'make run' builds it, or set PRAXIS_BIN"), std::string::npos) << output_;
}

}  // namespace
}  // namespace praxis
