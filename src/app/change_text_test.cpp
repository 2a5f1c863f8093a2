#include "app/change_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <random>

#include "app/line_changes.hpp"

namespace praxis::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(UnifiedDiff, HasHunksWithThreeLinesAround) {
  EXPECT_THAT(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n").lines,
              ElementsAre("@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"));
  EXPECT_THAT(unified_diff("", "a\nb\n").lines, ElementsAre("@@ -0,0 +1,2 @@", "+a", "+b"));
  EXPECT_THAT(unified_diff("a\n", "").lines, ElementsAre("@@ -1 +0,0 @@", "-a"));
  EXPECT_THAT(unified_diff("a\n", "a\n").lines, IsEmpty());
}

TEST(UnifiedDiff, SaysWhenTheLastLineDoesNotEnd) {
  EXPECT_THAT(unified_diff("a\n", "a").lines,
              ElementsAre("@@ -1 +1 @@", "-a", "+a", "\\ no newline at the end"));
}

TEST(UnifiedDiff, MakesHostileBytesVisibleAndCutsLongLines) {
  EXPECT_THAT(unified_diff("", "a\x1b[2K\xff\xe2\x80\xae\n").lines,
              ElementsAre("@@ -0,0 +1 @@", "+a\\u001b[2K\\xff\\u202e"));
  const auto lines = unified_diff("", std::string(1 << 20, 'x')).lines;
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_LT(lines[1].size(), 2100U);
  EXPECT_TRUE(lines[1].ends_with("x\\..."));
}

TEST(UnifiedDiff, IsQuickForLongTextsWithASmallChange) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + '\n';
  std::string changed = text;
  changed.replace(changed.find("50000\n"), 5, "here");
  EXPECT_THAT(unified_diff(text, changed).lines, SizeIs(9));
}

std::vector<std::string> random_lines(std::mt19937& random) {
  std::vector<std::string> lines(random() % 40);
  for (std::string& line : lines) line = std::to_string(random() % 5);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::size_t number_in(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Applies a diff like patch(1), which takes its context and its line numbers seriously.
std::vector<std::string> applied(const std::vector<std::string>& before, const UnifiedDiff& diff) {
  std::vector<std::string> after;
  std::size_t at = 0;
  for (const std::string& line : diff.lines) {
    if (line.starts_with("@@")) {
      const std::size_t start = number_in(std::string_view(line).substr(4));
      const bool is_empty = line.find(",0 +") != std::string::npos;
      const std::size_t first = is_empty ? start : start - 1;
      while (at < first) after.push_back(before.at(at++));
      const std::size_t plus = line.find('+');
      const bool adds_nothing = line.find(",0 @@") != std::string::npos;
      EXPECT_EQ(number_in(std::string_view(line).substr(plus + 1)), after.size() + (adds_nothing ? 0 : 1));
      continue;
    }
    if (line[0] != '+') {
      EXPECT_EQ(before.at(at++), line.substr(1));
    }
    if (line[0] != '-') after.push_back(line.substr(1));
  }
  while (at < before.size()) after.push_back(before[at++]);
  return after;
}

TEST(UnifiedDiff, OfRandomTexts_GivesTheOtherText) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts in every run
  for (int i = 0; i < 500; ++i) {
    const auto before = random_lines(random), after = random_lines(random);
    EXPECT_EQ(applied(before, unified_diff(joined(before), joined(after))), after);
  }
}

TEST(ChangeView, BreaksLinesAndCutsBehindItsPrefix) {
  EXPECT_EQ(change_view({"would change \"a\"", "+" + std::string(30, 'x')}, 24, 0).text,
            "  # would change \"a\"\n  # +xxxxxxxxxxxxxxxxxxx\n  # \\ xxxxxxxxxxx\n");
  const CallView cut = change_view({"1", "2", "3", "4"}, 80, 3);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.text, "  # 1\n  # 2\n  # ... 2 more lines of the change\n");
  EXPECT_EQ(change_view({}, 80, 3).text, "");
  EXPECT_THAT(change_view({"1", "2", "3"}, 80, 3).text, HasSubstr("3"));
}

}  // namespace
}  // namespace praxis::app
