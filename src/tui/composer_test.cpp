#include "tui/composer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/columns.hpp"

namespace praxis::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

void type(Composer& composer, std::string_view bytes) {
  KeyReader reader;
  for (const Key& key : reader.feed(bytes)) composer.press(key);
  for (const Key& key : reader.flush()) composer.press(key);
}

std::vector<std::string> rows(const Composer& composer, std::size_t columns, std::size_t most = 100) {
  return composer.rows(columns, most, "[", "]");
}

TEST(Composer, EditsWholeCharacters) {
  Composer composer;
  type(composer, "cafe\u0301 日本👍🏽");
  type(composer, "\x7f\x7f\x7f\x7f\x7f\x7f");
  EXPECT_EQ(composer.text(), "caf") << "the accent goes with its letter";
  type(composer, "\x1b[D\x1b[DX\x1b[3~");
  EXPECT_EQ(composer.text(), "cXf");
}

TEST(Composer, MovesByWordsAndLines) {
  Composer composer;
  type(composer, "one two\nthree");
  type(composer, "\x1b[A!");
  EXPECT_EQ(composer.text(), "one t!wo\nthree");
  type(composer, "\x05\x17");
  EXPECT_EQ(composer.text(), "one \nthree");
  type(composer, "\x01\x0b\x0b");
  EXPECT_EQ(composer.text(), "three") << "at the end of a line Ctrl-K joins the next";
  type(composer, "\x1f\x1f");
  EXPECT_EQ(composer.text(), "one \nthree");
}

TEST(Composer, LineForTheShellHasATypedMark) {
  Composer composer;
  const auto is_line = [&](std::string_view bytes) {
    composer.clear();
    type(composer, bytes);
    return composer.is_shell_command();
  };
  EXPECT_TRUE(is_line("!ls"));
  EXPECT_TRUE(is_line("ls\x01!")) << "typed at the start later";
  EXPECT_TRUE(is_line("!\x1b[200~ls -l\x1b[201~")) << "what is pasted after it is on the screen";
  EXPECT_FALSE(is_line("ls!"));
  EXPECT_FALSE(is_line(" !ls"));
  EXPECT_FALSE(is_line("\x1b[200~!ls\x1b[201~"));
  EXPECT_FALSE(is_line("!\x01\x1b[200~!ls\x1b[201~")) << "the pasted mark stands first";
  EXPECT_FALSE(is_line("\x1b[200~!ls\x1b[201~\x01!\x7f")) << "the typed mark is gone";
  EXPECT_FALSE(is_line("!\x1b[200~1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\x1b[201~"))
      << "folded: not on the screen";
  composer.set("!ls");
  EXPECT_FALSE(composer.is_shell_command()) << "a draft, or a message that came back";
  type(composer, "\x01\x1b[3~!\x1f\x1f");
  EXPECT_FALSE(composer.is_shell_command()) << "undone";
}

TEST(Composer, HistoryKeepsWhichEntriesWereLinesForTheShell) {
  Composer composer;
  composer.remember("!message");
  composer.remember("!line", HistoryKind::kShellCommand);
  type(composer, "!x\x1b[A");
  EXPECT_EQ(composer.text(), "!line");
  EXPECT_TRUE(composer.is_shell_command());
  type(composer, "\x1b[A");
  EXPECT_EQ(composer.text(), "!message");
  EXPECT_FALSE(composer.is_shell_command());
  type(composer, "\x1b[B\x1b[B");
  EXPECT_EQ(composer.text(), "!x");
  EXPECT_TRUE(composer.is_shell_command());
}

TEST(Composer, RowsFitAndMarkTheCursor) {
  Composer composer;
  type(composer, "abcdefgh\n日本語");
  EXPECT_THAT(rows(composer, 8), ElementsAre("> abcdef", "  gh", "  日本語", "  [ ]"));
  type(composer, "\x1b[D");
  EXPECT_THAT(rows(composer, 8), ElementsAre("> abcdef", "  gh", "  日本[語]"));
  type(composer, "\x1b[A\x1b[A\x01");
  EXPECT_THAT(rows(composer, 8), ElementsAre("> [a]bcdef", "  gh", "  日本語"));
  EXPECT_THAT(rows(composer, 8, 1), ElementsAre("> [a]bcdef"));
}

TEST(Composer, ManyWidths_KeepEveryRowWithin) {
  Composer composer;
  type(composer, "日本 cafe\u0301 👩‍💻 \x1b[200~\u202e\ttab\x1b[201~ end");
  for (std::size_t columns = 8; columns < 60; ++columns) {
    for (const std::string& row : composer.rows(columns, 50, "", ""))
      EXPECT_LE(columns_of(row), columns) << row;
  }
}

TEST(Composer, LongPasteIsFoldedAndSentWhole) {
  Composer composer;
  std::string pasted = "first";
  for (int i = 0; i < 20; ++i) pasted += "\r\nline";
  composer.paste(pasted);
  EXPECT_THAT(rows(composer, 40), ElementsAre("> [paste 1: 21 lines][ ]"));
  EXPECT_TRUE(composer.text().starts_with("first\nline\nline"));
  EXPECT_EQ(composer.text().size(), 5U + 20U * 5U);
}

TEST(Composer, PasteHoldsNoControlCharacters) {
  Composer composer;
  composer.paste("a\x1b[31mb\x07\tc\r\nd\re\xFF");
  EXPECT_EQ(composer.text(), "a[31mb\tc\nd\ne\uFFFD");
}

TEST(Composer, HistoryKeepsWhatIsBeingWritten) {
  Composer composer;
  composer.remember("one");
  composer.remember("two");
  type(composer, "draft\x1b[A\x1b[A");
  EXPECT_EQ(composer.text(), "one");
  type(composer, "\x1b[B\x1b[B");
  EXPECT_EQ(composer.text(), "draft");
  for (int i = 0; i < 3000; ++i) composer.remember(std::to_string(i));
  type(composer,
       "\x15"
       "17\x12");
  EXPECT_EQ(composer.text(), "2917");
  type(composer, "\x12");
  EXPECT_EQ(composer.text(), "2817") << "again: the one before";
}

TEST(HardRows, CountColumns) {
  EXPECT_THAT(hard_rows("日本語\nab", 4), ElementsAre("日本", "語", "ab"));
  EXPECT_THAT(hard_rows("", 4), SizeIs(1));
}

}  // namespace
}  // namespace praxis::tui
