// The file tools with an editor that has unsaved text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <vector>

#include "praxis/base/reach.hpp"
#include "praxis/tools/code_tools.hpp"
#include "praxis/tools/file_tool.hpp"
#include "tools/editor_files.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// An editor that has the texts of some files.
class FakeEditor final : public EditorFiles {
 public:
  Result<std::optional<std::string>> read(const ToolContext& /*context*/, const std::string& path) override {
    asked.push_back(path);
    if (before_answer) before_answer();
    const auto found = texts.find(path);
    return found == texts.end() ? std::nullopt : std::optional(found->second);
  }
  Result<bool> write(const ToolContext& /*context*/, const std::string& path,
                     const std::string& text) override {
    if (!answers) return fail(with_reach(make_error(ErrorCode::kCancelled, "gone"), Reach::kSent));
    texts[path] = text;
    return true;
  }

  std::map<std::string, std::string> texts;
  std::vector<std::string> asked;
  std::function<void()> before_answer;
  bool answers = true;
};

class EditorFilesTest : public ::testing::Test {
 protected:
  EditorFilesTest() {
    scratch_.write("root/a.txt", "saved\n");
    editor_->texts[path()] = "unsaved\n";
  }
  std::string path() const { return std::filesystem::canonical(scratch_.str("root")) / "a.txt"; }
  FileBounds bounds() const {
    FileBounds bounds;
    bounds.editor = editor_;
    return bounds;
  }
  Result<ToolOutput> read(const JsonObject& more) const {
    JsonObject arguments{{"op", "read"}, {"path", "a.txt"}};
    for (const auto& [key, value] : more) arguments[key] = value;
    return call_with(file_read_tool({scratch_.str("root")}, bounds()), arguments);
  }
  Result<ToolOutput> edit() const {
    const JsonArray edits{JsonObject{{"old", "unsaved"}, {"replacement", "edited"}}};
    return call_with(edit_tool({scratch_.str("root")}, bounds()), {{"path", "a.txt"}, {"edits", edits}});
  }

  ScratchFolder scratch_;
  const std::shared_ptr<FakeEditor> editor_ = std::make_shared<FakeEditor>();
};

TEST_F(EditorFilesTest, ReadGivesTheUnsavedTextInParts) {
  EXPECT_EQ(text_of(read({})), "unsaved\n");
  EXPECT_THAT(text_of(read({{"limit", 3}})), HasSubstr("uns\n[5 bytes follow; continue with \"offset\": 3]"));
  EXPECT_EQ(text_of(read({{"offset", 2}})), "saved\n");
  EXPECT_EQ(text_of(read({{"offset", 99}})), "[the file ends before this offset]");
  editor_->texts.clear();
  EXPECT_EQ(text_of(read({})), "saved\n") << "what the editor does not give is on disk";
}

TEST_F(EditorFilesTest, EditChangesTheUnsavedTextInTheEditor) {
  EXPECT_EQ(text_of(edit()), "replaced 1 piece in \"a.txt\"");
  EXPECT_EQ(editor_->texts[path()], "edited\n");
  EXPECT_EQ(scratch_.read("root/a.txt"), "saved\n");
}

TEST_F(EditorFilesTest, WriteWithoutAnAnswerIsUnknown) {
  editor_->answers = false;
  const auto edited = edit();
  ASSERT_FALSE(edited);
  EXPECT_EQ(reach_of(edited.error()), Reach::kSent);
  EXPECT_EQ(scratch_.read("root/a.txt"), "saved\n");
}

TEST_F(EditorFilesTest, LongTextIsRefused) {
  editor_->texts[path()] = std::string(9 * 1024 * 1024, 'x');
  EXPECT_THAT(text_of(read({})), HasSubstr("longer than 8 MiB"));
}

TEST_F(EditorFilesTest, BoundsHoldBeforeTheEditorIsAsked) {
  scratch_.write("root/.env", "KEY=1\n");
  scratch_.write("outside.txt", "no\n");
  std::filesystem::create_symlink(scratch_.str("outside.txt"), scratch_.str("root/link.txt"));
  for (const char* path : {".env", "../outside.txt", "link.txt"})
    EXPECT_THAT(text_of(read({{"path", path}})), HasSubstr("error: ")) << path;
  const Tool write = file_write_tool({scratch_.str("root")}, bounds());
  scratch_.write("root/.git/config", "[core]\n");
  for (const char* path : {".git/config", "../outside.txt", "link.txt"}) {
    EXPECT_THAT(text_of(call_with(write, {{"path", path}, {"content", "x"}})), HasSubstr("error: ")) << path;
  }
  EXPECT_THAT(editor_->asked, IsEmpty());
}

TEST_F(EditorFilesTest, LinkThatReplacesTheFileMeanwhileGivesNothing) {
  scratch_.write("outside.txt", "no\n");
  editor_->before_answer = [this] {
    std::filesystem::remove(scratch_.path() / "root/a.txt");
    std::filesystem::create_symlink(scratch_.str("outside.txt"), scratch_.str("root/a.txt"));
  };
  EXPECT_THAT(text_of(read({})), HasSubstr("symbolic link"));
}

TEST_F(EditorFilesTest, ImagesAndCompressedFilesAreReadFromDisk) {
  scratch_.write("root/a.txt", std::string("\0\1", 2));
  EXPECT_THAT(text_of(read({})), HasSubstr("binary file"));
  EXPECT_THAT(editor_->asked, IsEmpty());
}

}  // namespace
}  // namespace praxis
