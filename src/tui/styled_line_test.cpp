// What of a program's line reaches the terminal.
#include "tui/styled_line.hpp"

#include <gtest/gtest.h>

#include "base/columns.hpp"

namespace praxis::tui {
namespace {

std::string styled(std::string_view output, std::size_t columns = 80) {
  return styled_line(output, columns, KeepStyles::kYes);
}

TEST(StyledLine, KeepsColoursAndEndsThem) {
  EXPECT_EQ(styled("\x1b[1;32mmain\x1b[0m ok"), "\x1b[1;32mmain\x1b[0m ok\x1b[0m");
  EXPECT_EQ(styled("\x1b[38;5;208mx"), "\x1b[38;5;208mx\x1b[0m");
  EXPECT_EQ(styled("\x1b[48;2;1;2;3mx"), "\x1b[48;2;1;2;3mx\x1b[0m");
  EXPECT_EQ(styled("\x1b[mx"), "\x1b[mx\x1b[0m");
  EXPECT_EQ(styled_line("\x1b[1;32mmain\x1b[0m ok", 80, KeepStyles::kNo), "main ok");
}

TEST(StyledLine, RemovesOtherSequences) {
  for (const char* sequence : {"\x1b[2J",
                               "\x1b[10;1H",
                               "\x1b[?25l",
                               "\x1b[?1049h",
                               "\x1b[8m",
                               "\x1b[5m",
                               "\x1b[38;5m",
                               "\x1b[38;5;999m",
                               "\x1b[38;2;1;2m",
                               "\x1b[38;9;1m",
                               "\x1b[1;99999999999m",
                               "\x1b[4:3m",
                               "\x1b[>1m",
                               "\x1b]0;title\x07",
                               "\x1b]52;c;aGk=\x1b\\",
                               "\x1b]8;;http://x\x1b\\",
                               "\x1bP+q\x1b\\",
                               "\x1b(B",
                               "\x1b"
                               "c",
                               "\x1b"
                               "7",
                               "\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m"})
    EXPECT_EQ(styled(std::string("a") + sequence + 'b'), "ab") << sequence + 1;
  EXPECT_EQ(styled("a\x1b]0;never ended"), "a");
  EXPECT_EQ(styled("a\x1b"), "a");
  EXPECT_EQ(styled("a\x1b["), "a");
}

TEST(StyledLine, ShowsOtherControlCharacters) {
  EXPECT_EQ(styled("a\tb\x07"
                   "c"),
            "a b\xE2\x90\x87"
            "c");
  EXPECT_EQ(styled("a\rb"),
            "a\xE2\x90\x8D"
            "b");
  EXPECT_EQ(styled("\xE2\x80\xAEx"), "\\u202ex");
  EXPECT_EQ(styled("\xFFx"), "\xEF\xBF\xBDx");
}

TEST(StyledLine, IsTheFirstLine) {
  EXPECT_EQ(styled("one\r\ntwo\n"), "one");
  EXPECT_EQ(styled("\ntwo"), "");
  EXPECT_EQ(styled(""), "");
}

TEST(StyledLine, IsCutAtTheWidth) {
  EXPECT_EQ(styled("abcdef", 3), "abc");
  EXPECT_EQ(styled("\x1b[31mab\x1b[32mcdef", 3), "\x1b[31mab\x1b[32mc\x1b[0m");
  EXPECT_EQ(styled("\xE4\xBD\xA0\xE5\xA5\xBD", 3), "\xE4\xBD\xA0") << "half of a wide character is not drawn";
  EXPECT_EQ(styled("abc", 0), "");
}

}  // namespace
}  // namespace praxis::tui
