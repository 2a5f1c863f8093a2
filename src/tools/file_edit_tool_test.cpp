#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "praxis/tools/code_tools.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

JsonObject piece(const std::string& old, const std::string& replacement, bool all = false) {
  JsonObject edit{{"old", old}, {"replacement", replacement}};
  if (all) edit["all"] = true;
  return edit;
}

class EditTool : public ::testing::Test {
 protected:
  EditTool() { scratch_.write("root/a.cpp", kText); }
  std::string edit(const JsonArray& edits, const std::string& path = "a.cpp") const {
    return text_of(call_with(tool_, {{"path", path}, {"edits", edits}}));
  }
  std::string content(const std::string& path = "root/a.cpp") const {
    std::ifstream in(scratch_.str(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static constexpr const char* kText = "int one() {\n  return 1;\n}\n\nint two() {\n  return 2;\n}\n";
  ScratchFolder scratch_;
  const Tool tool_ = edit_tool({scratch_.str("root")});
};

TEST_F(EditTool, ReplacesPiecesExactlyAndInOrder) {
  EXPECT_EQ(edit({piece("return 1;", "return 11;"), piece("return 11;\n}", "return 12;\n}")}),
            "replaced 2 pieces in \"a.cpp\"");
  EXPECT_EQ(content(), "int one() {\n  return 12;\n}\n\nint two() {\n  return 2;\n}\n");
  EXPECT_EQ(edit({piece("int ", "long ", true)}), "replaced 2 pieces in \"a.cpp\"");
  EXPECT_THAT(content(), HasSubstr("long two()"));
}

TEST_F(EditTool, ChangesNothingIfOneEditFails) {
  EXPECT_THAT(edit({piece("return 1;", "return 3;"), piece("return 9;", "")}),
              HasSubstr("error: /edits/1/old does not occur in the file"));
  EXPECT_EQ(content(), kText);
}

TEST_F(EditTool, NearMissNamesTheLines) {
  EXPECT_THAT(edit({piece("int two() {\n    return 2;\n}", "")}),
              HasSubstr("lines 5 to 7 come nearest:\nint two() {\n  return 2;\n}\n[nothing was changed]"));
  EXPECT_EQ(edit({piece("completely different text, which is nowhere", "")}),
            "error: /edits/0/old does not occur in the file\n[nothing was changed]");
}

TEST_F(EditTool, AmbiguousPieceNamesItsPlaces) {
  EXPECT_THAT(edit({piece("return", "yield")}), HasSubstr("occurs 2 times, at the lines 2, 6"));
  EXPECT_EQ(content(), kText);
}

TEST_F(EditTool, UselessAndUnfitEditsAreErrors) {
  EXPECT_THAT(edit({}), HasSubstr("/edits needs 1 to 100 entries"));
  EXPECT_THAT(edit({piece("", "x")}), HasSubstr("is empty"));
  EXPECT_THAT(edit({piece("int", "int", true)}), HasSubstr("same as its replacement"));
  EXPECT_THAT(edit({piece("a", "b")}, "missing.cpp"), HasSubstr("does not exist"));
  EXPECT_THAT(edit({piece("a", "b")}, "../outside"), HasSubstr("error:"));
  scratch_.write("root/data", std::string("a\0b", 3));
  EXPECT_THAT(edit({piece("a", "b")}, "data"), HasSubstr("is a binary file"));
}

TEST_F(EditTool, ModeStaysAndProtectedFilesDoToo) {
  chmod(scratch_.str("root/a.cpp").c_str(), 0750);
  edit({piece("return 1;", "return 3;")});
  struct stat info{};
  ASSERT_EQ(stat(scratch_.str("root/a.cpp").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0750U);
  scratch_.write("root/.git/hooks/post-commit", "safe");
  EXPECT_THAT(edit({piece("safe", "evil")}, ".git/hooks/post-commit"), HasSubstr("error:"));
  EXPECT_EQ(content("root/.git/hooks/post-commit"), "safe");
}

}  // namespace
}  // namespace praxis
