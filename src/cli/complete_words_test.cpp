#include "cli/complete_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/app.hpp"

namespace praxis::cli {
namespace {

using enum WordKind;

ProgramText program() {
  const std::vector<std::string> words{"__complete"};
  const auto made = parse_arguments(words);
  return std::get<CompleteOptions>(made.value()).program;
}

WantedWord wanted(const std::vector<std::string>& words) {
  static const ProgramText kProgram = program();
  return wanted_word(kProgram, words);
}

TEST(CompleteWords, EveryPlaceExistsOnTheCommandLine) {
  const ProgramText all = program();
  for (const WordPlace& place : word_places()) {
    const auto command = std::ranges::find(all.commands, place.command, &CommandText::name);
    ASSERT_NE(command, all.commands.end()) << place.command;
    EXPECT_TRUE(std::ranges::any_of(command->options,
                                    [&](const OptionText& option) {
                                      return option.flags.empty()
                                                 ? option.value == place.name
                                                 : std::ranges::count(option.flags, place.name) > 0;
                                    }))
        << place.command << ' ' << place.name;
  }
}

TEST(CompleteWords, EveryModelAndIdOfTheCommandLineIsOffered) {
  for (const CommandText& command : program().commands) {
    for (const OptionText& option : command.options) {
      const bool is_model = option.value == "MODEL";
      const bool is_run = option.flags.empty() && option.value.starts_with("ID") && command.name != "prompts";
      if (!is_model && !is_run) continue;
      const std::string name = option.flags.empty() ? option.value : option.flags.front();
      EXPECT_TRUE(std::ranges::any_of(
          word_places(),
          [&](const WordPlace& each) { return each.command == command.name && each.name == name; }))
          << command.name << ' ' << name;
    }
  }
}

TEST(CompleteWords, KindFollowsFromTheWordsBefore) {
  EXPECT_EQ(wanted({}).kind, kCommand);
  EXPECT_EQ(wanted({"ru"}).kind, kCommand);
  EXPECT_EQ(wanted({"help", "ru"}).kind, kCommand);
  EXPECT_EQ(wanted({"nosuch", ""}).kind, kUnknown);
  EXPECT_EQ(wanted({"run", ""}).kind, kAgent);
  EXPECT_EQ(wanted({"run", "reviewer", ""}).kind, kUnknown) << "a prompt";
  EXPECT_EQ(wanted({"run", "--mod"}).kind, kFlag);
  EXPECT_EQ(wanted({"run", "--model", "op"}).kind, kModel);
  EXPECT_EQ(wanted({"run", "--model", "a:b", ""}).kind, kAgent);
  EXPECT_EQ(wanted({"run", "--model=a:b", ""}).kind, kAgent);
  EXPECT_EQ(wanted({"run", "--quiet", ""}).kind, kAgent) << "a flag takes no word";
  EXPECT_EQ(wanted({"run", "--attach", ""}).kind, kUnknown) << "a file";
  EXPECT_EQ(wanted({"run", "--", "--mod"}).kind, kAgent);
  EXPECT_EQ(wanted({"run", "--nosuch", ""}).kind, kAgent);
  EXPECT_EQ(wanted({"show", ""}).kind, kRun);
  EXPECT_EQ(wanted({"approve", "--allow", ""}).kind, kStep);
  EXPECT_EQ(wanted({"config", "explain", "lim"}).kind, kSetting);
  EXPECT_EQ(wanted({"config", "set", "limits.max_usd", ""}).kind, kUnknown);
  EXPECT_EQ(wanted({"tree", "steer", ""}).kind, kRun);
  EXPECT_EQ(wanted({"tree", "01K9X", ""}).kind, kUnknown);
  EXPECT_EQ(wanted({"runs", "some", "words"}).kind, kUnknown);
  EXPECT_EQ(wanted({"runs", "rm", "01K9X", ""}).kind, kRun);
}

TEST(CompleteWords, VerbsAreOfferedFirstOnly) {
  EXPECT_THAT(std::string(wanted({"tree", ""}).fixed), ::testing::HasSubstr("steer"));
  EXPECT_EQ(wanted({"tree", "steer", ""}).fixed, "");
  EXPECT_THAT(std::string(wanted({"runs", ""}).fixed), ::testing::HasSubstr("prune"));
  EXPECT_EQ(wanted({"config", ""}).fixed, "show explain set edit");
}

TEST(CompleteWords, ValueAfterAnEqualsSign_KeepsTheFlag) {
  const WantedWord word = wanted({"run", "--model=open"});
  EXPECT_EQ(word.kind, kModel);
  EXPECT_EQ(word.before, "--model=");
  EXPECT_EQ(word.typed, "open");
}

TEST(CompleteWords, PlaceIsThatOfTheLine) {
  const WantedWord word = wanted({"show", "-C", "/tmp", "--journal=j.db", "--profile", "work", ""});
  EXPECT_EQ(word.kind, kRun);
  EXPECT_EQ(word.place.folder, "/tmp");
  EXPECT_EQ(word.place.journal, "j.db");
  EXPECT_EQ(word.place.profile, "work");
}

}  // namespace
}  // namespace praxis::cli
