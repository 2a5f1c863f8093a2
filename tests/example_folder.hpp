// A folder of examples/ with its script, copied to where it may write.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "files.hpp"
#include "shown_output.hpp"

namespace praxis::testing {

class ExampleFolder : public ::testing::Test {
 protected:
  explicit ExampleFolder(const std::string& name) : name_(name), root_(own_folder()) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "examples");
    std::filesystem::copy(std::filesystem::path(PRAXIS_SOURCE_DIR) / "examples" / name,
                          root_ / "examples" / name, std::filesystem::copy_options::recursive);
  }
  ~ExampleFolder() override { std::filesystem::remove_all(root_); }

  /// Runs a command in a clean environment; `printed_` and `told_` are its standard output and error.
  int run(const std::string& command) {
    const std::string home =
        "HOME=" + (root_ / "home").string() + " XDG_CONFIG_HOME= PRAXIS_MODEL= PRAXIS_BIN=" + kPraxis + ' ';
    const int status = std::system(
        (home + command + " >" + (root_ / "out").string() + " 2>" + (root_ / "err").string()).c_str());
    printed_ = content_of(root_ / "out");
    told_ = content_of(root_ / "err");
    return WEXITSTATUS(status);
  }
  int play(const std::string& arguments = "") {
    return run((root_ / "examples" / name_ / "run").string() + ' ' + arguments);
  }
  /// Runs the console blocks of the README that `<!-- run -->` marks: their commands must print what it
  /// shows.
  void expect_readme_holds() {
    std::ifstream page(root_ / "examples" / name_ / "README.md");
    std::string shown, printed;
    bool runs = false;
    for (std::string line, before; std::getline(page, line); before = line) {
      if (line.starts_with("```")) {
        runs = before == "<!-- run -->";
        continue;
      }
      if (!runs) continue;
      shown += line + '\n';
      if (!line.starts_with("$ ")) continue;
      EXPECT_EQ(run("env -C " + root_.string() + " PATH=" PRAXIS_BINARY_DIR ":\"$PATH\" " + line.substr(2)),
                0)
          << line << '\n'
          << told_;
      printed += line + '\n' + printed_;
    }
    EXPECT_NE(shown, "") << "no block is marked";
    EXPECT_EQ(without_chance(printed), without_chance(shown));
  }
  /// The journal that the script of the example uses.
  std::filesystem::path journal() const { return root_ / "build" / name_ / "journal.db"; }

  static constexpr const char* kPraxis = PRAXIS_BINARY_DIR "/praxis";
  const std::string name_;
  const std::filesystem::path root_;
  std::string printed_, told_;
};

}  // namespace praxis::testing
