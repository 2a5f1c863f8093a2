#include "app/plain_text.hpp"

#include <gtest/gtest.h>

namespace praxis::app {
namespace {

TEST(OneLine, FoldsWhiteSpaceAndCuts) {
  EXPECT_EQ(one_line("  a \n\t b  ", 10), "a b");
  EXPECT_EQ(one_line("exactly ten", 11), "exactly ten");
  EXPECT_EQ(one_line("exactly ten", 10), "exactly...");
  EXPECT_EQ(one_line("\u65E5\u65E5\u65E5\u65E5\u65E5", 9), "\u65E5\u65E5\u65E5...");
  EXPECT_EQ(one_line("\u65E5\u65E5", 3), "...") << "each takes two columns";
  EXPECT_EQ(one_line("anything", 2), "..");
  EXPECT_EQ(one_line("anything", 0), "");
  EXPECT_EQ(one_line("", 5), "");
}

TEST(Exact, ShowsLookAlikesOfAsciiInNames) {
  EXPECT_EQ(exact("p\u0430ypal.com"), R"(p\u0430ypal.com)") << "one Cyrillic letter";
  EXPECT_EQ(exact("/etc/\u0440\u0430\u0441"), R"(/etc/\u0440\u0430\u0441)") << "a word of look-alikes";
  EXPECT_EQ(exact("a\u2215b \uFF52\uFF4D/x \U0001D42Cudo"), R"(a\u2215b \uff52\uff4d/x \ud835\udc2cudo)");
  EXPECT_EQ(exact("\u0441 \u0444\u0430\u0439\u043B\u043E\u043C"),
            "\u0441 \u0444\u0430\u0439\u043B\u043E\u043C")
      << "ordinary text stays";
  EXPECT_EQ(exact("e\u0301"), R"(e\u0301)") << "a combining mark";
  EXPECT_EQ(exact("a\u3000b\u2009"), R"(a\u3000b\u2009)");
  EXPECT_EQ(exact("rm\u05D0/"), R"(rm\u05d0/)") << "Hebrew would reorder the slash";
  EXPECT_EQ(exact("\u05D0\u05D1"), "\u05D0\u05D1");
}

TEST(Exact, ShowsMarksThatHideOthers) {
  EXPECT_EQ(exact("rm\u0947 -rf"), "rm\\u0947 -rf") << "a vowel sign of Devanagari on an ASCII letter";
  EXPECT_EQ(exact("\u0E49x"), "\\u0e49x") << "a mark without a letter";
  EXPECT_EQ(exact("\u0E14\u0E49\u0E47\u0E49\u0E47\u0E49\u0E47\u0E49"),
            "\u0E14\u0E49\u0E47\u0E49\u0E47\u0E49\\u0e47\\u0e49")
      << "a pile that would reach other rows";
  const std::string words = "\u0928\u092E\u0938\u094D\u0924\u0947 \u0E17\u0E35\u0E48";
  EXPECT_EQ(exact(words), words) << "words of such scripts";
}

TEST(Exact, ShowsFormatAndNoCharactersByNumber) {
  for (const char* hidden : {"\u0600", "\u06DD", "\u070F", "\u08E2", "\uFFFE", "\U0001FFFF", "\U00013430",
                             "\U0001BCA0", "\U000110BD"})
    EXPECT_TRUE(exact(hidden).starts_with("\\u")) << exact(hidden);
}

TEST(Exact, ShowsUnassignedCodePointsByNumber) {
  EXPECT_EQ(exact("a\u0378b \u05FF \U0001FAFF \U000E0FFF"), R"(a\u0378b \u05ff \ud83e\udeff \udb43\udfff)");
  EXPECT_EQ(exact("\u0377\U0001FAF6"), "\u0377\U0001FAF6") << "the last ones before them";
}

TEST(Exact, CountsRunsOfSpaces) {
  EXPECT_EQ(exact("a  b   c"), R"(a  b\s{3}c)");
  EXPECT_EQ(exact("    if x:"), "    if x:");
  EXPECT_EQ(exact(std::string(17, ' ') + "x "), R"(\s{17}x\s{1})");
  EXPECT_EQ(exact("  "), R"(\s{2})");
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
