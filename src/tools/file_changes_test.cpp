#include "tools/file_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/tools/code_tools.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

class FileChanges : public ::testing::Test {
 protected:
  FileChanges() {
    scratch_.write("root/a.txt", "one\ntwo\n");
    scratch_.write("outside.txt", "private\n");
    std::filesystem::create_directory(scratch_.path() / "more");
  }
  /// The change that a call would make; its error as text.
  static std::string shown(const Tool& tool, const Json& arguments) {
    const auto change = file_change(tool.definition, arguments);
    if (!change) return "no change";
    if (!*change) return "error: " + change->error().message;
    return (**change).file + ": " + (**change).before.value_or("nothing") + " -> " + (**change).after;
  }
  /// Checks that the call makes of the file what was shown.
  void expect_true_for(const Tool& tool, const Json& arguments, const std::string& file) const {
    const auto change = file_change(tool.definition, arguments);
    ASSERT_TRUE(change && *change) << shown(tool, arguments);
    EXPECT_EQ((**change).file, std::filesystem::canonical(scratch_.path()).string() + '/' + file);
    ASSERT_TRUE(call_with(tool, arguments));
    EXPECT_EQ(scratch_.read(file), (**change).after);
  }

  ScratchFolder scratch_;
  const Tool write_ = file_write_tool({scratch_.str("root"), scratch_.str("more")});
  const Tool edit_ = edit_tool({scratch_.str("root")});
};

TEST_F(FileChanges, WhatIsShownIsWhatTheCallMakes) {
  expect_true_for(write_, {{"path", "a.txt"}, {"content", "three\n"}}, "root/a.txt");
  expect_true_for(write_, {{"path", "new/b.txt"}, {"content", "b"}}, "root/new/b.txt");
  const JsonArray edits{JsonObject{{"old", "ree"}, {"replacement", "irty"}},
                        JsonObject{{"old", "th"}, {"replacement", "T"}}};
  expect_true_for(edit_, {{"path", "a.txt"}, {"edits", edits}}, "root/a.txt");
}

TEST_F(FileChanges, LookingChangesNothing) {
  EXPECT_THAT(shown(write_, {{"path", "new/b.txt"}, {"content", "b"}}), HasSubstr("b.txt: nothing -> b"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "root/new"));
  EXPECT_THAT(shown(write_, {{"path", "a.txt"}, {"content", "b"}}), HasSubstr("a.txt: one\ntwo\n -> b"));
  EXPECT_EQ(scratch_.read("root/a.txt"), "one\ntwo\n");
}

TEST_F(FileChanges, CallsThatWouldFailSaySo) {
  scratch_.write("root/binary", std::string("\0\1", 2));
  scratch_.write("root/large", std::string(std::size_t{9} << 20, 'x'));
  std::filesystem::create_symlink(scratch_.path() / "outside.txt", scratch_.path() / "root/link");
  const auto writes = [&](const std::string& path) {
    return shown(write_, {{"path", path}, {"content", "x"}});
  };
  EXPECT_THAT(writes("../outside.txt"), HasSubstr("error: \"../outside.txt\" lies outside"));
  EXPECT_THAT(writes("link"), HasSubstr("error: \"link\" goes through a symbolic link"));
  EXPECT_THAT(writes("binary"), HasSubstr("error: \"binary\" is a binary file"));
  EXPECT_THAT(writes("large"), HasSubstr("error: \"large\" is longer than 8 MiB"));
  EXPECT_THAT(writes("a.txt/"), HasSubstr("error: /path names a folder"));
  EXPECT_THAT(shown(write_, {{"path", 7}}), HasSubstr("error: "));
  EXPECT_THAT(
      shown(edit_, {{"path", "none"}, {"edits", JsonArray{JsonObject{{"old", "a"}, {"replacement", "b"}}}}}),
      HasSubstr("error: \"none\" does not exist"));
  EXPECT_THAT(
      shown(edit_, {{"path", "a.txt"}, {"edits", JsonArray{JsonObject{{"old", "a"}, {"replacement", "b"}}}}}),
      HasSubstr("error: /edits/0/old does not occur in the file"));
}

TEST_F(FileChanges, ToolsOfOthersAreLeftOut) {
  Tool same = write_;
  same.definition.description = "Writes into a database: /tmp";
  EXPECT_EQ(shown(same, {{"path", "a.txt"}, {"content", "x"}}), "no change");
  EXPECT_EQ(shown(file_read_tool({scratch_.str("root")}), {{"op", "read"}, {"path", "a.txt"}}), "no change");
}

}  // namespace
}  // namespace praxis
