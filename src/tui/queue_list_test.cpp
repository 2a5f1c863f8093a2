#include "tui/queue_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/columns.hpp"

namespace praxis::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Outcome = QueueList::Outcome;

std::vector<WaitingMessage> three_messages() {
  return {{7, CommandVerb::kSteer, "be brief"},
          {9, CommandVerb::kEnqueue, "then this"},
          {12, CommandVerb::kEnqueue, "and that"}};
}

TEST(QueueList, MarkStaysAtItsMessage) {
  QueueList list;
  EXPECT_EQ(list.marked(), nullptr);
  list.follow(three_messages());
  EXPECT_EQ(list.marked()->id, 7U);
  EXPECT_EQ(list.press({KeyKind::kDown}), Outcome::kOpen);
  EXPECT_EQ(list.marked()->id, 9U);
  list.follow({{12, CommandVerb::kEnqueue, "and that"}, {9, CommandVerb::kEnqueue, "then this"}});
  EXPECT_EQ(list.marked()->id, 9U) << "it was moved";
  list.follow({{12, CommandVerb::kEnqueue, "and that"}});
  EXPECT_EQ(list.marked()->id, 12U) << "it has gone";
  list.follow({});
  EXPECT_EQ(list.marked(), nullptr);
}

TEST(QueueList, KeysSayWhatHappensToTheMarkedMessage) {
  QueueList list;
  list.follow(three_messages());
  const std::vector<std::pair<Key, Outcome>> keys{
      {{KeyKind::kEnter}, Outcome::kEdit},         {{KeyKind::kText, "e"}, Outcome::kEdit},
      {{KeyKind::kText, "u"}, Outcome::kUp},       {{KeyKind::kAltUp}, Outcome::kUp},
      {{KeyKind::kText, "d"}, Outcome::kDown},     {{KeyKind::kAltDown}, Outcome::kDown},
      {{KeyKind::kText, "x"}, Outcome::kWithdraw}, {{KeyKind::kDelete}, Outcome::kWithdraw},
      {{KeyKind::kText, "q"}, Outcome::kOpen},     {{KeyKind::kEscape}, Outcome::kLeft},
      {{KeyKind::kControl, "c"}, Outcome::kLeft}};
  for (const auto& [key, outcome] : keys) EXPECT_EQ(list.press(key), outcome) << key.text;
  EXPECT_EQ(list.marked()->id, 7U);
}

TEST(QueueList, LinesFitAndAreSafe) {
  QueueList list;
  auto messages = three_messages();
  messages[1].text = "two\nlines \x1b[2J and " + std::string(200, 'x');
  list.follow(messages);
  list.press({KeyKind::kDown});
  for (const std::size_t columns : {20U, 39U, 200U}) {
    for (const std::string& line : list.lines(columns, 10, {})) {
      EXPECT_LE(columns_of(line), columns) << line;
      EXPECT_THAT(line, Not(HasSubstr("\x1b")));
    }
  }
  EXPECT_THAT(list.lines(39, 10, {}), ElementsAre("Messages that wait  (3)", "  #7 next step: be brief",
                                                  HasSubstr("> #9 queued: two"), "  #12 queued: and that",
                                                  "Enter edits, u/d move, x withdraws, Esc"));
  EXPECT_EQ(list.lines(39, 3, {}).size(), 3U);
  EXPECT_THAT(list.lines(39, 3, {})[1], HasSubstr("#9"));
}

}  // namespace
}  // namespace praxis::tui
