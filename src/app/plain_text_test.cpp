#include "app/plain_text.hpp"

#include <gtest/gtest.h>

namespace praxis::app {
namespace {

TEST(Harmless, ControlCharactersBecomeSymbols) {
  EXPECT_EQ(harmless("a\x1b[2Jb"), "a\u241B[2Jb");
  EXPECT_EQ(harmless("bell\a, back\b, return\r, delete\x7f"),
            "bell\u2407, back\u2408, return\u240D, delete\u2421");
  EXPECT_EQ(harmless(std::string("nul\0", 4)), "nul\u2400");
  EXPECT_EQ(harmless("line\n\ttab"), "line\n\ttab");
}

TEST(Harmless, EightBitControlsAndDirectionMarksBecomeReplacements) {
  EXPECT_EQ(harmless("\u009B31m"), "\uFFFD31m") << "CSI as a character";
  EXPECT_EQ(harmless("\x9B"
                     "31m"),
            "\uFFFD31m")
      << "CSI as a byte";
  EXPECT_EQ(harmless("a\u202Eb\u2066c\u200F"), "a\uFFFDb\uFFFDc\uFFFD");
  EXPECT_EQ(harmless("\u00A0\u00E9\u2014\u65E5\U0001F600"), "\u00A0\u00E9\u2014\u65E5\U0001F600")
      << "ordinary text stays";
}

TEST(Harmless, CharactersCutBetweenPiecesArePutTogether) {
  TextFilter filter;
  EXPECT_EQ(filter.feed("caf\xC3"), "caf");
  EXPECT_EQ(filter.feed("\xA9 \xF0\x9F"), "\u00E9 ");
  EXPECT_EQ(filter.feed("\x98\x80!"), "\U0001F600!");
  EXPECT_EQ(filter.finish(), "");
  EXPECT_EQ(filter.feed("\xE2\x80"), "");
  EXPECT_EQ(filter.finish(), "\uFFFD");
}

TEST(Harmless, EscapeCutBetweenPiecesIsStillCaught) {
  TextFilter filter;
  EXPECT_EQ(filter.feed("\xC2") + filter.feed("\x9B"), "\uFFFD");
}

TEST(OneLine, FoldsWhiteSpaceAndCuts) {
  EXPECT_EQ(one_line("  a \n\t b  ", 10), "a b");
  EXPECT_EQ(one_line("exactly ten", 11), "exactly ten");
  EXPECT_EQ(one_line("exactly ten", 10), "exactly...");
  EXPECT_EQ(one_line("\u65E5\u65E5\u65E5\u65E5\u65E5", 4), "\u65E5...");
  EXPECT_EQ(one_line("anything", 2), "..");
  EXPECT_EQ(one_line("anything", 0), "");
  EXPECT_EQ(one_line("", 5), "");
}

TEST(Exact, ShowsInvisibleCharactersByNumber) {
  EXPECT_EQ(exact("Gr\u00fc\u00dfe, \u4f60\u597d!"), "Gr\u00fc\u00dfe, \u4f60\u597d!");
  EXPECT_EQ(exact("a\u202eb\u2066c\u200bd"), R"(a\u202eb\u2066c\u200bd)");
  EXPECT_EQ(exact("\x1b[2J\n\t\x7f"), R"(\u001b[2J\u000a\u0009\u007f)");
  EXPECT_EQ(exact("\u0085\u00a0\ufeff"), R"(\u0085\u00a0\ufeff)");
  EXPECT_EQ(exact("\U000E0041"), R"(\udb40\udc41)") << "a tag, as JSON writes it";
  EXPECT_EQ(exact("a\xff"
                  "b\xe2\x80"),
            R"(a\xffb\xe2\x80)");
}

}  // namespace
}  // namespace praxis::app
