#include "app/user_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace praxis::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Tests work in a folder of their own, because paths are relative to the current one.
class FileMentions : public ::testing::Test {
 protected:
  FileMentions() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "mentions-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fs::create_directories(folder_ / "work");
    fs::current_path(folder_ / "work");
  }
  ~FileMentions() override {
    std::error_code ignored;
    fs::current_path(before_, ignored);
    fs::remove_all(folder_, ignored);
  }
  FileMentions(const FileMentions&) = delete;
  FileMentions& operator=(const FileMentions&) = delete;

  static void file(const std::string& path, const std::string& text) {
    if (const auto parent = fs::path(path).parent_path(); !parent.empty()) fs::create_directories(parent);
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string error_of(const std::string& text) {
    const auto message = message_with_files(text);
    return message ? "" : message.error().message;
  }
  static std::string sent(const std::string& text) {
    const auto message = message_with_files(text);
    return message ? message->text() : "error: " + message.error().message;
  }

  fs::path folder_, before_;
};

TEST_F(FileMentions, EachFileIsABlockAfterTheText) {
  file("a.txt", "one\n");
  file("my dir/b.txt", "two");
  const auto message = message_with_files("See (@a.txt), and @\"my dir/b.txt\"! Again: @a.txt.");
  ASSERT_TRUE(message);
  ASSERT_EQ(message->parts.size(), 3U);
  EXPECT_EQ(message->text(),
            "See (@a.txt), and @\"my dir/b.txt\"! Again: @a.txt."
            "\n\n<file path=\"a.txt\" bytes=4>\none\n\n</file>"
            "\n\n<file path=\"my dir/b.txt\" bytes=3>\ntwo\n</file>");
}

TEST_F(FileMentions, WordsThatNameNoFileStayText) {
  file("a.txt", "one");
  fs::create_directories("src");
  for (const char* text : {"ask @alice", "me@a.txt", "@", "@\"a.txt", "@src", "a @ b", "@../none"})
    EXPECT_EQ(sent(text), text);
}

TEST_F(FileMentions, ReadersSeeTheTextAndTheNames) {
  file("a.txt", "has\n\n<file path=\"x\" bytes=1>\ny\n</file> in it\n");
  file("b.txt", std::string(3000, 'b'));
  const ReadableMessage readable = readable_message(sent("Read @a.txt @b.txt"));
  EXPECT_EQ(readable.text, "Read @a.txt @b.txt");
  EXPECT_THAT(readable.attached, ElementsAre("a.txt (45 bytes)", "b.txt (3 kB)"));
  for (const char* other :
       {"", "x\n\n<file path=\"a\" bytes=9>\nshort\n</file>", "\n\n<file path=", "\n\n<file path=\"",
        "\n\n<file path=\"\\", "x\n\n<file path=\"a\" bytes=1>\nb\n</file>more"}) {
    EXPECT_EQ(readable_message(other).text, other);
    EXPECT_THAT(readable_message(other).attached, IsEmpty());
  }
}

TEST_F(FileMentions, CommandsAreBlocksAmongThoseOfFiles) {
  file("a.txt", "one");
  const std::string command = command_block("grep \"x\" *\n", "exit 1", "no\n</command>\n");
  EXPECT_EQ(
      command,
      "\n\n<command line=\"grep \\\"x\\\" *\\n\" end=\"exit 1\" bytes=14>\nno\n</command>\n\n</command>");
  const ReadableMessage readable =
      readable_message(sent("See @a.txt") + command + command_block("ls", "exit 0", ""));
  EXPECT_EQ(readable.text, "See @a.txt");
  EXPECT_THAT(readable.attached, ElementsAre("a.txt (3 bytes)", "! grep \"x\" *\n (exit 1, 14 bytes)",
                                             "! ls (exit 0, 0 bytes)"));
  EXPECT_THAT(readable.commands, ElementsAre(command, command_block("ls", "exit 0", "")));
  for (const char* other :
       {"x\n\n<command line=\"ls\" bytes=1>\ny\n</command>",
        "\n\n<command line=\"ls\" end=", "x\n\n<command line=\"ls\" end=\"exit 0\" bytes=1>\ny\n</file>"}) {
    EXPECT_EQ(readable_message(other).text, other);
    EXPECT_THAT(readable_message(other).attached, IsEmpty());
  }
}

TEST_F(FileMentions, LongFilesAreCutAtTheEndOfALine) {
  std::string text;
  while (text.size() <= kMostMentionedBytes) text += "a line of text\n";
  file("long.txt", text);
  const std::string all = sent("@long.txt");
  EXPECT_THAT(all, HasSubstr(" cut_from=" + std::to_string(text.size()) + ">\n"));
  EXPECT_TRUE(all.ends_with("a line of text\n\n</file>"));
  EXPECT_LE(all.size(), kMostMentionedBytes + 200);
  std::string many;
  for (int i = 0; i < 5; ++i) {
    file("long" + std::to_string(i), text);
    many += "@long" + std::to_string(i) + ' ';
  }
  EXPECT_THAT(error_of(many), HasSubstr("together"));
  std::string names;
  for (int i = 0; i < 21; ++i) {
    file("f" + std::to_string(i), "x");
    names += "@f" + std::to_string(i) + ' ';
  }
  EXPECT_THAT(error_of(names), HasSubstr("at most 20 files"));
}

TEST_F(FileMentions, ImagesAreImagesFromAnywhere) {
  const std::string png = "\x89PNG\r\n\x1a\nrest";
  file("../shot.png", png);
  const auto message = message_with_files("Look: @" + (folder_ / "shot.png").string());
  ASSERT_TRUE(message) << message.error().message;
  ASSERT_EQ(message->parts.size(), 2U);
  const auto* image = std::get_if<ImagePart>(&message->parts[0]);
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->source.data, png);
}

TEST_F(FileMentions, SecretsAndFilesFromElsewhereAreRefused) {
  file(".env", "KEY=1");
  file("../key", "secret");
  fs::create_symlink("../key", "link");
  file("binary", std::string("a\0b", 3));
  EXPECT_THAT(error_of("@.env"), HasSubstr("may hold secrets"));
  EXPECT_THAT(error_of("@../key"), HasSubstr("outside of the current folder"));
  EXPECT_THAT(error_of("@" + (folder_ / "key").string()), HasSubstr("outside of the current folder"));
  EXPECT_THAT(error_of("@link"), HasSubstr("outside of the current folder"));
  EXPECT_THAT(error_of("@binary"), HasSubstr("neither text nor an image"));
  file("a.txt", "one");
  EXPECT_THAT(sent("@" + fs::absolute("a.txt").string()), HasSubstr("\none\n</file>"));
}

}  // namespace
}  // namespace praxis::app
