#include "base/visible_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace praxis {
namespace {

TEST(VisibleText, ControlCharactersBecomeSymbols) {
  EXPECT_EQ(visible_text("a\x1b[2Jb"), "a\u241B[2Jb");
  EXPECT_EQ(visible_text("bell\a, back\b, return\r, delete\x7f"),
            "bell\u2407, back\u2408, return\u240D, delete\u2421");
  EXPECT_EQ(visible_text(std::string("nul\0", 4)), "nul\u2400");
  EXPECT_EQ(visible_text("line\n\ttab"), "line\n\ttab");
}

TEST(VisibleText, InvisibleCharactersBecomeEscapes) {
  EXPECT_EQ(visible_text("\u009B31m"), "\\u009b31m") << "CSI as a character";
  EXPECT_EQ(visible_text("\x9B"
                         "31m"),
            "\uFFFD31m")
      << "CSI as a byte";
  EXPECT_EQ(visible_text("a\u202Eb\u2066c\u200F"), R"(a\u202eb\u2066c\u200f)");
  EXPECT_EQ(visible_text("\u00A0\u00E9\u2014\u65E5\U0001F600"), "\u00A0\u00E9\u2014\u65E5\U0001F600")
      << "ordinary text stays";
}

TEST(VisibleText, CharactersCutBetweenPiecesArePutTogether) {
  TextFilter filter;
  EXPECT_EQ(filter.feed("caf\xC3"), "caf");
  EXPECT_EQ(filter.feed("\xA9 \xF0\x9F"), "\u00E9 ");
  EXPECT_EQ(filter.feed("\x98\x80!"), "\U0001F600!");
  EXPECT_EQ(filter.finish(), "");
  EXPECT_EQ(filter.feed("\xE2\x80"), "");
  EXPECT_EQ(filter.finish(), "\uFFFD");
}

TEST(VisibleText, EachInvisibleCharacterIsSeen) {
  for (const char32_t c : std::u32string_view(
           U"\U0000061C\U000000AD\U0000034F\U0000115F\U0000180E\U0000200B\U0000200C\U0000200D\U00002028"
           U"\U00002060\U00002062\U00002800\U00003164\U0000FE0F\U0000FEFF\U0000FFF9\U000E0041\U000E0101")) {
    EXPECT_TRUE(is_invisible(c)) << static_cast<std::uint32_t>(c);
  }
  EXPECT_EQ(visible_text("a\u200Bb\uFE0Fc\u2800\U000E0041"), R"(a\u200bb\ufe0fc\u2800\udb40\udc41)");
}

TEST(VisibleText, JoinersStayWhereLettersAndEmojiNeedThem) {
  for (const char* text : {"\u2764\uFE0F", "\U0001F469\u200D\U0001F4BB", "\u0645\u06CC\u200C\u062E"})
    EXPECT_EQ(visible_text(text), text);
  EXPECT_EQ(visible_text("\u2764\uFE0F\uFE0F"), "\u2764\uFE0F\\ufe0f");
}

TEST(VisibleText, CarriageReturnBeforeLineFeedIsDropped) {
  EXPECT_EQ(visible_text("a\r\nb\rc\r"), "a\nb\u240Dc\u240D");
  TextFilter filter;
  EXPECT_EQ(filter.feed("a\r"), "a");
  EXPECT_EQ(filter.feed("\nb"), "\nb");
}

TEST(VisibleText, EscapeCutBetweenPiecesIsStillCaught) {
  TextFilter filter;
  EXPECT_EQ(filter.feed("\xC2"), "");
  EXPECT_EQ(filter.feed("\x9B"), "\\u009b");
}

TEST(VisibleText, OutputOfProgramsIsMadeVisible) {
  struct Case {
    std::string_view bytes, text;
  };
  const Case cases[]{
      {"plain\ttext\n", "plain\ttext\n"},
      {"\x1b[31mred\x07", "␛[31mred␇"},
      {std::string_view("a\0b", 3), "a␀b"},
      {"over\rwritten\r\n", "over␍written\n"},
      {"\x7f\xc2\x9b"
       "2J",
       "␡\\u009b2J"},
      {"\u202Egnp.exe\u2066", R"(\u202egnp.exe\u2066)"},
      {"\xff\xc3", "\uFFFD\uFFFD"},
      {"größe €", "größe €"},
  };
  for (const Case& one : cases) EXPECT_EQ(visible_text(one.bytes), one.text);
}

}  // namespace
}  // namespace praxis
