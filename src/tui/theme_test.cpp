// Which colours a chat has on which terminal.
#include "tui/theme.hpp"

#include <gtest/gtest.h>

#include <map>

namespace praxis::tui {
namespace {

ThemeChoice chosen(const std::string& setting, std::map<std::string, std::string> variables) {
  return choose_theme(setting, [&](const char* name) { return variables[name]; });
}

TEST(Theme, BackgroundOfTheTerminalChooses) {
  EXPECT_EQ(theme_for_background("rgb:ffff/ffff/ffff"), Theme::kLight);
  EXPECT_EQ(theme_for_background("rgb:fd/f6/e3"), Theme::kLight);
  EXPECT_EQ(theme_for_background("rgba:0000/2b2b/3636/ffff"), Theme::kDark);
  EXPECT_EQ(theme_for_background("rgb:0/0/0"), Theme::kDark);
  for (const char* other : {"", "rgb:", "rgb:1/2", "rgb:12345/0/0", "rgb:x/0/0", "?", "cmyk:0/0/0/0"})
    EXPECT_EQ(theme_for_background(other), std::nullopt) << other;
}

TEST(Theme, SettingIsObeyedAndAsksNothing) {
  for (const auto& [setting, theme] : std::map<std::string, Theme>{
           {"light", Theme::kLight}, {"dark", Theme::kDark}, {"ansi", Theme::kAnsi}}) {
    const ThemeChoice choice = chosen(setting, {{"TERM", "xterm-256color"}, {"COLORFGBG", "0;15"}});
    EXPECT_EQ(choice.theme, theme);
    EXPECT_FALSE(choice.asks);
  }
}

TEST(Theme, AutoReadsTheVariablesAndAsksTerminalsOf256Colours) {
  EXPECT_FALSE(chosen("auto", {{"TERM", "xterm"}}).asks);
  EXPECT_EQ(chosen("auto", {{"TERM", "linux"}, {"COLORFGBG", "0;15"}}).theme, Theme::kAnsi);
  const std::string able = "xterm-256color";
  EXPECT_TRUE(chosen("auto", {{"TERM", able}}).asks);
  EXPECT_TRUE(chosen("auto", {{"TERM", "foot"}, {"COLORTERM", "truecolor"}}).asks);
  EXPECT_EQ(chosen("auto", {{"TERM", able}}).theme, Theme::kAnsi);
  EXPECT_EQ(chosen("auto", {{"TERM", able}, {"COLORFGBG", "0;15"}}).theme, Theme::kLight);
  EXPECT_EQ(chosen("auto", {{"TERM", able}, {"COLORFGBG", "12;default;0"}}).theme, Theme::kDark);
  EXPECT_EQ(chosen("auto", {{"TERM", able}, {"COLORFGBG", "0;default"}}).theme, Theme::kAnsi);
}

TEST(Theme, StylesAreNoneWithoutATheme) {
  EXPECT_EQ(Styles{}.error("text"), "text");
  EXPECT_EQ(Styles{Theme::kAnsi}.error("text"), "\x1b[31mtext\x1b[0m");
  EXPECT_NE(Styles{Theme::kLight}.dim("text"), Styles{Theme::kDark}.dim("text"));
}

}  // namespace
}  // namespace praxis::tui
