#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "praxis/tools/code_tools.hpp"
#include "tools/ignore_rules.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(IgnoreRules, FollowTheRulesOfGit) {
  IgnoreRules rules;
  rules.add("", "# comment\n*.o\nbuild/\n/top.txt\ndocs/*.html\n**/cache/**\n!keep.o\n\\#odd\nfoo[0-9]\n");
  rules.add("sub", "local.txt\n/only\n!*.o\n");
  for (const char* path : {"a.o", "x/y/a.o", "top.txt", "docs/a.html", "x/cache/y/z", "#odd", "x/foo7",
                           "sub/local.txt", "sub/deep/local.txt", "sub/only"})
    EXPECT_TRUE(rules.excludes(path, false)) << path;
  for (const char* path : {"keep.o", "x/keep.o", "x/top.txt", "docs/x/a.html", "build", "local.txt",
                           "sub/deep/only", "sub/a.o", "food", "a.oo"})
    EXPECT_FALSE(rules.excludes(path, false)) << path;
  EXPECT_TRUE(rules.excludes("x/build", true));
  rules.keep(8);
  EXPECT_TRUE(rules.excludes("sub/a.o", false)) << "without the rules of the folder below";
}

TEST(IgnoreRules, HostileLinesAreBounded) {
  IgnoreRules rules;
  rules.add("", std::string(100'000, '[') + "\n" + std::string(20'000, '*') + "\n[z-a]\n{{{{\n\xff\xfe\n");
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "name" + std::to_string(i) + "\n";
  rules.add("", many);
  EXPECT_EQ(rules.count(), IgnoreRules::kMostRules);
  EXPECT_FALSE(rules.excludes("other", false));
}

/// A project with ignored and secret files.
class FindTools : public ::testing::Test {
 protected:
  FindTools() {
    scratch_.write("root/.gitignore", "out/\n*.log\n");
    scratch_.write("root/src/a.cpp", "int one();\nint two();\n");
    scratch_.write("root/src/deep/b.cpp", "int TWO();\n");
    scratch_.write("root/src/c.hpp", "int two();\n");
    scratch_.write("root/out/d.cpp", "int two();\n");
    scratch_.write("root/x.log", "int two();\n");
    scratch_.write("root/.git/e.cpp", "int two();\n");
    scratch_.write("root/.env", "two\n");
    scratch_.write("outside.cpp", "int two();\n");
  }
  std::string glob(const JsonObject& request) const { return text_of(call_with(glob_, request)); }
  std::string grep(const JsonObject& request) const { return text_of(call_with(grep_, request)); }

  ScratchFolder scratch_;
  const Tool glob_ = glob_tool({scratch_.str("root")});
  const Tool grep_ = grep_tool({scratch_.str("root")});
};

TEST_F(FindTools, GlobFindsTheNewestFirstAndLeavesOutWhatIsIgnored) {
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(scratch_.str("root/src/a.cpp"), now - std::chrono::hours(1));
  std::filesystem::last_write_time(scratch_.str("root/src/deep/b.cpp"), now);
  std::filesystem::last_write_time(scratch_.str("root/src/c.hpp"), now + std::chrono::hours(1));
  EXPECT_EQ(glob({{"pattern", "**/*.cpp"}}), "src/deep/b.cpp\nsrc/a.cpp\n");
  EXPECT_EQ(glob({{"pattern", "*.cpp"}, {"path", "src"}}), "src/a.cpp\n");
  EXPECT_EQ(glob({{"pattern", "src/*.{hpp,h}"}}), "src/c.hpp\n");
  EXPECT_EQ(glob({{"pattern", "**"}, {"path", "src"}, {"limit", 1}}), "src/c.hpp\n[2 more files]\n");
  EXPECT_EQ(glob({{"pattern", "*.py"}}), "no file fits\n");
  EXPECT_THAT(glob({{"pattern", "*"}, {"path", ".."}}), HasSubstr("error:"));
  EXPECT_THAT(glob({{"pattern", ""}}), HasSubstr("error: /pattern"));
}

TEST_F(FindTools, GrepFindsLinesAndLeavesOutWhatIsIgnored) {
  EXPECT_EQ(grep({{"pattern", "two"}}), "src/a.cpp:2: int two();\nsrc/c.hpp:1: int two();\n");
  EXPECT_THAT(grep({{"pattern", "(?i)two"}, {"glob", "**/*.cpp"}}),
              AllOf(HasSubstr("src/deep/b.cpp:1: int TWO();"), Not(HasSubstr("c.hpp"))));
  EXPECT_THAT(grep({{"pattern", "int"}, {"path", "src/a.cpp"}, {"limit", 1}}),
              HasSubstr("src/a.cpp:1: int one();"));
  EXPECT_THAT(grep({{"pattern", "("}}), HasSubstr("error:"));
}

TEST_F(FindTools, RulesOfFoldersAboveTheStartHold) {
  scratch_.write("root/src/out/f.cpp", "int two();\n");
  EXPECT_EQ(glob({{"pattern", "**/*.cpp"}, {"path", "src"}}).find("out"), std::string::npos);
}

}  // namespace
}  // namespace praxis
