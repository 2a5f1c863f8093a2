#include "base/columns.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

TEST(Columns, AreCountedByWhatATerminalShows) {
  EXPECT_EQ(columns_of("plain"), 5U);
  EXPECT_EQ(columns_of("\u65E5\u672C"), 4U) << "wide";
  EXPECT_EQ(columns_of("e\u0301"), 1U) << "a combining mark";
  EXPECT_EQ(columns_of("\u0E17\u0E35\u0E48"), 1U) << "a Thai letter with vowel and tone";
  EXPECT_EQ(columns_of("\uAC00\u1112\u1161\u11AB"), 4U) << "a Hangul syllable, whole and of parts";
  EXPECT_EQ(columns_of("\u2713 \u2014 \u2192"), 5U) << "symbols";
  EXPECT_EQ(columns_of("\U0001F600"), 2U) << "emoji";
  EXPECT_EQ(columns_of("\u26A0\uFE0F"), 2U) << "in emoji form";
  EXPECT_EQ(columns_of("\U0001F468\u200D\U0001F469"), 4U)
      << "joined, as terminals without such glyphs show it";
  EXPECT_EQ(columns_of("\xFF"), 1U);
  EXPECT_EQ(columns_of(""), 0U);
}

TEST(Columns, CutsKeepMarksWithTheirLetters) {
  EXPECT_EQ(first_columns("e\u0301e\u0301", 1), "e\u0301");
  EXPECT_EQ(first_columns("\u65E5\u672C", 3), "\u65E5");
  EXPECT_EQ(cut_to("\u65E5\u672C\u8A9E\u8A9E", 7), "\u65E5\u672C...");
  EXPECT_EQ(cut_to("fits", 4), "fits");
  EXPECT_EQ(cut_to("does not", 2), "..");
}

TEST(Columns, FillCountsThem) {
  EXPECT_EQ(padded("\u65E5", 4), "\u65E5  ");
  EXPECT_EQ(padded_left("e\u0301", 3), "  e\u0301");
  EXPECT_EQ(padded("longer", 3), "longer");
}

TEST(Columns, UpperBoundHoldsOnOldTerminals) {
  EXPECT_EQ(most_columns_of("e\u0301"), 2U) << "the mark may take a column of its own";
  EXPECT_EQ(most_columns_of("\u2713"), 2U);
  EXPECT_EQ(most_columns_of("a\u2014"), 2U);
}

}  // namespace
}  // namespace praxis
