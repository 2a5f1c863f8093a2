#include "tui/choice_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tui/completion.hpp"
#include "tui/fuzzy_match.hpp"
#include "tui/picker.hpp"

namespace praxis::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string best(std::string_view typed, std::vector<std::string> names) {
  ChoiceList list(file_choices(names));
  list.narrow(typed);
  return list.marked() == nullptr ? "" : list.marked()->value;
}

TEST(FuzzyMatch, LettersFitInTheirOrderOnly) {
  EXPECT_TRUE(fuzzy_score("chv", "src/tui/chat_view.cpp"));
  EXPECT_TRUE(fuzzy_score("CHV", "src/tui/chat_view.cpp"));
  EXPECT_TRUE(fuzzy_score("", ""));
  EXPECT_TRUE(fuzzy_score("view tui", "src/tui/chat_view.cpp")) << "each word on its own";
  EXPECT_FALSE(fuzzy_score("vch", "src/tui/chat_view.h"));
  EXPECT_FALSE(fuzzy_score("a", ""));
  EXPECT_TRUE(fuzzy_score("日本", "docs/日本.md"));
  EXPECT_TRUE(fuzzy_score(std::string(10'000, 'a'), std::string(10'000, 'a')));
}

TEST(FuzzyMatch, NamesAndBeginningsOfWordsComeFirst) {
  EXPECT_EQ(best("chat", {"chat/other_file.cpp", "src/a_long_way/down/chat.cpp"}),
            "src/a_long_way/down/chat.cpp");
  EXPECT_EQ(best("cv", {"src/archive.cpp", "src/tui/chat_view.cpp"}), "src/tui/chat_view.cpp");
  EXPECT_EQ(best("main", {"src/domain.cpp", "src/main.cpp"}), "src/main.cpp");
  EXPECT_EQ(best("main", {"src/very/deep/below/main.cpp", "main.cpp"}), "main.cpp");
  EXPECT_EQ(best("xyz", {"main.cpp"}), "");
}

TEST(ChoiceList, MarkMovesWithinTheMatches) {
  ChoiceList list(file_choices({"one", "two", "three"}));
  EXPECT_THAT(list.lines(20, 10, {}), ElementsAre("> one", "  two", "  three"));
  list.move(1);
  list.move(5);
  EXPECT_THAT(list.lines(20, 2, {}), ElementsAre("  two", "> three")) << "the mark is always shown";
  list.narrow("t");
  EXPECT_EQ(list.found(), 2U);
  EXPECT_EQ(list.marked()->value, "two");
  list.narrow("tx");
  EXPECT_EQ(list.marked(), nullptr);
  list.move(-1);
}

TEST(ChoiceList, HostileNamesAreShownSafely) {
  ChoiceList list({{"v", "a\x1b[2J\nb\u202e", "c\x1b]0;t\x07"}});
  const auto lines = list.lines(60, 5, {});
  ASSERT_EQ(lines.size(), 1U);
  for (const char* bad : {"\x1b", "\n", "\x07", "\u202e"}) EXPECT_THAT(lines[0], Not(HasSubstr(bad)));
}

std::optional<CompletedWord> word(std::string_view text) { return completed_word(text); }

TEST(Completion, WordsBeginAtASignAtTheStartOfAWord) {
  EXPECT_EQ(word("@"), (CompletedWord{CompletedKind::kFile, 0, ""}));
  EXPECT_EQ(word("see @src/ma"), (CompletedWord{CompletedKind::kFile, 4, "src/ma"}));
  EXPECT_EQ(word("one\n(@a"), (CompletedWord{CompletedKind::kFile, 5, "a"}));
  EXPECT_EQ(word("see @\"my fi"), (CompletedWord{CompletedKind::kFile, 4, "my fi"}));
  EXPECT_EQ(word("/re"), (CompletedWord{CompletedKind::kCommand, 0, "re"}));
  for (const char* none :
       {"", "me@example.org", "@a b", "see @\"my file\"", "@a\nb", "a /re", "/resume x", "x"})
    EXPECT_FALSE(word(none)) << none;
}

TEST(Completion, FilesWithBlanksAreQuoted) {
  EXPECT_EQ(file_word("src/main.cpp"), "@src/main.cpp ");
  EXPECT_EQ(file_word("my file.txt"), "@\"my file.txt\" ");
}

TEST(Picker, TypingSearchesAndEnterChooses) {
  Picker picker("Which?", {{"1", "first run", "completed"}, {"2", "second run", "error"}});
  EXPECT_THAT(picker.lines(60, 20, {})[0], StartsWith("Which?  (2)"));
  for (const char c : std::string("err")) picker.press({KeyKind::kText, std::string(1, c)});
  EXPECT_THAT(picker.lines(60, 20, {})[0], HasSubstr("(1 of 2)"));
  EXPECT_EQ(picker.press({KeyKind::kEnter}), Picker::Outcome::kChosen);
  EXPECT_EQ(picker.chosen()->value, "2") << "found by what stands after its title";
  picker.press({KeyKind::kText, "\u65e5"});
  EXPECT_EQ(picker.press({KeyKind::kEnter}), Picker::Outcome::kOpen) << "nothing fits";
  picker.press({KeyKind::kBackspace});
  EXPECT_EQ(picker.press({KeyKind::kEnter}), Picker::Outcome::kChosen);
  EXPECT_EQ(picker.press({KeyKind::kEscape}), Picker::Outcome::kLeft);
}

}  // namespace
}  // namespace praxis::tui
