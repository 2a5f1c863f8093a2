#include "tui/live_region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <terminal.hpp>  // of the tests

namespace praxis::tui {
namespace {

using praxis::testing::EmulatedScreen;
using ::testing::IsEmpty;

/// Writes as through a terminal device, which begins a line after a line feed.
void draw(EmulatedScreen& screen, const std::string& bytes) {
  for (const char c : bytes) screen.write(c == '\n' ? std::string("\r\n") : std::string(1, c));
}

TEST(LiveRegion, FramesLeaveOnlyWhatIsFinished) {
  EmulatedScreen screen({20, 6});
  LiveRegion region;
  draw(screen, region.frame("", {"> a", "a longer status"}, 6));
  EXPECT_EQ(screen.text(), "> a\na longer status\n");
  draw(screen, region.frame("said 1\nsaid 2\n", {"tail", "> ab", "status"}, 6));
  EXPECT_EQ(screen.text(), "said 1\nsaid 2\ntail\n> ab\nstatus\n");
  for (int i = 3; i < 20; ++i)
    screen.write(
        region.frame("said " + std::to_string(i) + "\n", {"> ab", "status " + std::to_string(i)}, 6));
  draw(screen, region.remove());
  std::string expected;
  for (int i = 1; i < 20; ++i) expected += "said " + std::to_string(i) + "\n";
  EXPECT_EQ(screen.text(), expected);
}

TEST(LiveRegion, GrowsShrinksAndIsCutToTheScreen) {
  EmulatedScreen screen({20, 5});
  LiveRegion region;
  draw(screen, region.frame("", {"1", "2", "3"}, 5));
  draw(screen, region.frame("", {"1", "x", "3", "4"}, 5));
  EXPECT_EQ(screen.text(), "1\nx\n3\n4\n");
  draw(screen, region.frame("", {"1"}, 5));
  EXPECT_EQ(screen.text(), "1\n");
  draw(screen, region.frame("", {"1", "2", "3", "4", "5", "6", "7"}, 5));
  EXPECT_EQ(screen.text(), "4\n5\n6\n7\n") << "the last lines: the composer and the status";
}

TEST(LiveRegion, TooLongLineDoesNotWrap) {
  EmulatedScreen screen({10, 5});
  LiveRegion region;
  draw(screen, region.frame("", {"0123456789abc", "status"}, 5));
  draw(screen, region.frame("", {"0123456789abX", "status"}, 5));
  draw(screen, region.remove());
  EXPECT_EQ(screen.text(), "");
}

TEST(LiveRegion, FrameCostsWhatChanged) {
  LiveRegion region;
  std::vector<std::string> lines;
  for (int i = 0; i < 20; ++i) lines.push_back(std::string(70, static_cast<char>('a' + i)));
  region.frame("", lines, 40);
  EXPECT_THAT(region.frame("", lines, 40), IsEmpty());
  lines[10] += "!";
  const std::string one = region.frame("", lines, 40);
  EXPECT_LE(one.size(), 80U);
  lines[10] = "日本語" + lines[10];
  EXPECT_LE(region.frame("", lines, 40).size(), 170U);
}

TEST(LiveRegion, SplitOfAStyledOrCombinedLineIsWhole) {
  EmulatedScreen screen({20, 5});
  LiveRegion region;
  draw(screen, region.frame("", {"abc\x1b[1mdef\x1b[0m", "cafe"}, 5));
  draw(screen, region.frame("", {"abc\x1b[1mdeg\x1b[0m", "cafe\u0301!"}, 5));
  EXPECT_EQ(screen.text(true), "abc{b}deg{}\ncafe\u0301!\n");
}

TEST(LiveRegion, ResizeOfTheTerminalLeavesNothingBehind) {
  for (const int columns : {60, 30, 12}) {
    EmulatedScreen screen({40, 10});
    LiveRegion region;
    draw(screen, region.frame("said\n", {"a line that is longer than 30 columns", "> text", "status"}, 10));
    screen.resize({columns, 10});
    region.forget();
    draw(screen, region.frame("again\n", {"short", "> text", "status"}, 10));
    EXPECT_EQ(screen.text(), "said\nagain\nshort\n> text\nstatus\n") << columns;
  }
}

}  // namespace
}  // namespace praxis::tui
