#include "tui/tree_pane.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/columns.hpp"

namespace praxis::tui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using PaneOutcome = TreePane::Outcome;

const Key kKeyDown{KeyKind::kDown}, kEnter{KeyKind::kEnter}, kEscape{KeyKind::kEscape};

void show_agents(TreePane& pane, const std::vector<std::string>& ids, bool paused = false) {
  std::vector<AgentNode> nodes;
  std::vector<TreeLine> lines;
  for (const std::string& id : ids) {
    AgentNode& node = nodes.emplace_back();
    node.id = SessionId(id);
    node.agent = id;
    node.paused = paused;
    lines.push_back({"agent " + id, SessionStatus::kRunning, true, false, SessionId(id)});
    lines.push_back({"praxis approve " + id, SessionStatus::kRunning, false, true, SessionId(id)});
  }
  pane.update(std::move(nodes), std::move(lines));
}

std::string screen_of(TreePane& pane, std::size_t columns, std::size_t rows,
                      const FollowedAgent* followed = nullptr) {
  std::string text;
  for (const std::string& line : pane.lines(columns, rows, {}, true, followed)) {
    EXPECT_LE(columns_of(line), columns) << line;
    text += line + '\n';
  }
  return text;
}

void type_in(TreePane& pane, const std::string& text) {
  for (const char letter : text)
    EXPECT_EQ(pane.press({KeyKind::kText, std::string(1, letter)}), PaneOutcome::kOpen);
}

TEST(TreePane, MarkStaysAtItsAgent) {
  TreePane pane;
  EXPECT_EQ(pane.marked(), nullptr);
  EXPECT_EQ(pane.press(kEnter), PaneOutcome::kOpen);
  show_agents(pane, {"a", "b", "c"});
  pane.press(kKeyDown);
  EXPECT_EQ(pane.marked()->agent, "b");
  show_agents(pane, {"a", "new", "b", "c"});
  EXPECT_EQ(pane.marked()->agent, "b");
  show_agents(pane, {"a"});
  EXPECT_EQ(pane.marked()->agent, "a");
  pane.press(kKeyDown);
  EXPECT_EQ(pane.marked()->agent, "a") << "it is the last";
}

TEST(TreePane, ShowsKeysAndNoCommandsForCopyingAtFortyColumns) {
  TreePane pane;
  show_agents(pane, {"a", "b", "c", "d", "e", "f"});
  EXPECT_THAT(screen_of(pane, 40, 12),
              AllOf(HasSubstr("> agent a\n"), HasSubstr("  agent b\n"), HasSubstr("Enter follows"),
                    HasSubstr("p pauses"), HasSubstr("Esc leaves"), Not(HasSubstr("praxis approve"))));
  for (int i = 0; i < 5; ++i) pane.press(kKeyDown);
  EXPECT_THAT(screen_of(pane, 40, 5), AllOf(HasSubstr("> agent f\n"), Not(HasSubstr("agent a"))));
}

TEST(TreePane, TextGoesToTheAgentForWhichItWasAsked) {
  TreePane pane;
  show_agents(pane, {"a", "b"});
  pane.press(kKeyDown);
  type_in(pane, "sbe brief");
  EXPECT_THAT(screen_of(pane, 40, 12), HasSubstr("> be brief"));
  show_agents(pane, {"a"});
  EXPECT_EQ(pane.press(kEnter), PaneOutcome::kCommand);
  EXPECT_EQ(pane.command().agent, SessionId("b"));
  EXPECT_EQ(pane.command().verb, CommandVerb::kSteer);
  EXPECT_EQ(pane.command().text, "be brief");
}

TEST(TreePane, KeyForAnAgentThatIsGoneGoesToNoOther) {
  for (const Key& key : {Key{KeyKind::kText, "p"}, Key{KeyKind::kText, "x"}, kEnter}) {
    TreePane pane;
    show_agents(pane, {"a", "b", "c"});
    pane.press(kKeyDown);
    show_agents(pane, {"a", "c"});
    EXPECT_EQ(pane.press(key), PaneOutcome::kOpen);
    EXPECT_FALSE(pane.follows());
    EXPECT_THAT(screen_of(pane, 40, 12),
                AllOf(HasSubstr("> agent c"), HasSubstr("has ended"), Not(HasSubstr("stop it"))));
    EXPECT_EQ(pane.press({KeyKind::kText, "p"}), PaneOutcome::kCommand);
    EXPECT_EQ(pane.command().agent, SessionId("c"));
  }
}

TEST(TreePane, QuestionNamesItsAgent) {
  TreePane pane;
  show_agents(pane, {"a", "helper-0001"});
  pane.press(kKeyDown);
  pane.press({KeyKind::kText, "x"});
  show_agents(pane, {"a"});
  EXPECT_THAT(screen_of(pane, 40, 12), HasSubstr(" 0001: stop it and all below?\n"));
}

TEST(TreePane, TextThatIsNotTakenIsSaid) {
  TreePane pane;
  show_agents(pane, {"a"});
  type_in(pane, "s  ");
  EXPECT_EQ(pane.press(kEnter), PaneOutcome::kOpen) << "blanks are no text";
  EXPECT_THAT(screen_of(pane, 40, 12), HasSubstr("there is no text yet"));
  EXPECT_EQ(pane.press({KeyKind::kPaste, std::string(20'000, 'x')}), PaneOutcome::kOpen);
  EXPECT_THAT(screen_of(pane, 40, 12), HasSubstr("at most 16 KiB"));
  type_in(pane, "be brief ");
  EXPECT_THAT(screen_of(pane, 40, 12), Not(HasSubstr("at most 16 KiB")));
  EXPECT_EQ(pane.press(kEnter), PaneOutcome::kCommand);
  EXPECT_EQ(pane.command().text, "be brief");
}

TEST(TreePane, EscapeLeavesTheQuestionThenTheConversationThenThePane) {
  TreePane pane;
  show_agents(pane, {"a"});
  EXPECT_EQ(pane.press(kEnter), PaneOutcome::kFollow);
  type_in(pane, "nx");
  EXPECT_EQ(pane.press(kEscape), PaneOutcome::kOpen);
  EXPECT_TRUE(pane.follows());
  EXPECT_EQ(pane.press(kEscape), PaneOutcome::kOpen);
  EXPECT_FALSE(pane.follows());
  EXPECT_EQ(pane.press(kEscape), PaneOutcome::kClosed);
}

TEST(TreePane, OnlyAYesStops) {
  TreePane pane;
  show_agents(pane, {"a"});
  type_in(pane, "xn");
  type_in(pane, "x");
  EXPECT_EQ(pane.press(kEnter), PaneOutcome::kOpen);
  type_in(pane, "x");
  EXPECT_EQ(pane.press({KeyKind::kText, "y"}), PaneOutcome::kCommand);
  EXPECT_EQ(pane.command().verb, CommandVerb::kInterrupt);
}

TEST(TreePane, PausedAgentIsUnpaused) {
  TreePane pane;
  show_agents(pane, {"a"});
  EXPECT_EQ(pane.press({KeyKind::kText, "p"}), PaneOutcome::kCommand);
  EXPECT_EQ(pane.command().verb, CommandVerb::kPause);
  show_agents(pane, {"a"}, true);
  EXPECT_THAT(screen_of(pane, 80, 12), HasSubstr("p continues"));
  pane.press({KeyKind::kText, "p"});
  EXPECT_EQ(pane.command().verb, CommandVerb::kUnpause);
}

// ---- the conversation of one agent

Event event_of(const std::string& agent, std::uint64_t seq, EventBody body) {
  Event event;
  event.agent.id = SessionId(agent);
  event.seq = seq;
  event.body = std::move(body);
  return event;
}

std::string shown_at(const FollowedAgent& agent, std::size_t rows, FollowedAgent::Place& place) {
  std::string text;
  for (const std::string& line : agent.lines(20, rows, place)) {
    EXPECT_LE(columns_of(line), 20U);
    text += line + '\n';
  }
  return text;
}

std::string all_of(const FollowedAgent& agent, std::size_t rows = 100, std::size_t above = 0) {
  FollowedAgent::Place place{.above = above};
  return shown_at(agent, rows, place);
}

TEST(FollowedAgent, ShowsEachEventOnceAndTheAnswerWhileItIsWritten) {
  FollowedAgent agent(SessionId("b"));
  agent.show_past(event_of("b", 3, events::AssistantText{"First."}));
  agent.show(event_of("b", 3, events::AssistantText{"First."}));
  agent.show(event_of("other", 4, events::AssistantText{"Not this."}));
  agent.show(event_of("b", 5, events::TextDelta{"Second \x1b[2J"}));
  EXPECT_EQ(all_of(agent), "First.\nSecond \u241B[2J\n");
  agent.show(event_of("b", 6, events::AssistantText{"Second \x1b[2Jwhole."}));
  EXPECT_EQ(all_of(agent), "First.\nSecond \u241B[2Jwhole.\n");
}

TEST(FollowedAgent, AnswerThatTheLogHadStandsOnceWhenItsPiecesCome) {
  FollowedAgent agent(SessionId("b"));
  agent.show_past(event_of("b", 3, events::AssistantText{"The first answer."}));
  agent.show(event_of("b", 2, events::TextDelta{"first answer."}));
  agent.show(event_of("b", 3, events::AssistantText{"The first answer."}));
  EXPECT_EQ(all_of(agent), "The first answer.\n");
  agent.show_past(event_of("b", 5, events::TurnCancelled{}));
  agent.show(event_of("b", 4, events::TextDelta{"stopped"}));
  agent.show(event_of("b", 5, events::TurnCancelled{}));
  EXPECT_THAT(all_of(agent), Not(HasSubstr("stopped")));
}

TEST(FollowedAgent, WhatCameOfAnAnswerStandsBeforeItsEnd) {
  FollowedAgent agent(SessionId("b"));
  agent.show(event_of("b", 1, events::TextDelta{"begun"}));
  agent.show(event_of("b", 1, events::ModelFailed{}));
  EXPECT_EQ(all_of(agent), "begun\nmodel failed: \n");
  agent.show(event_of("b", 2, events::TextDelta{"again"}));
  agent.show(event_of("b", 2, events::TurnCancelled{}));
  EXPECT_TRUE(all_of(agent).starts_with("begun\nmodel failed: \nagain\n- 0 steps")) << all_of(agent);
  agent.show(event_of("b", 3, events::ModelRequested{}));
  EXPECT_THAT(all_of(agent), HasSubstr("again\n"));
}

TEST(FollowedAgent, WhatIsReadStaysWhenMoreComes) {
  FollowedAgent agent(SessionId("b"));
  for (int i = 0; i < 20; ++i)
    agent.show(event_of("b", 1, events::AssistantText{"line " + std::to_string(i)}));
  FollowedAgent::Place place;
  EXPECT_EQ(shown_at(agent, 2, place), "line 18\nline 19\n");
  place.above = 5;
  const std::string read = "line 13\nline 14\n";
  EXPECT_EQ(shown_at(agent, 2, place), read);
  agent.show(event_of("b", 2, events::TextDelta{"An answer that is longer than a row\n\n"}));
  EXPECT_EQ(shown_at(agent, 2, place), read);
  agent.show(event_of("b", 3, events::TextDelta{"and so on"}));
  EXPECT_EQ(shown_at(agent, 2, place), read);
  agent.show(event_of("b", 4, events::AssistantText{"An answer that is longer than a row\n\nand so on"}));
  agent.show(event_of("b", 5, events::SessionPaused{}));
  EXPECT_EQ(shown_at(agent, 2, place), read);
  for (int i = 0; i < 50; ++i) agent.show(event_of("b", 6, events::AssistantText{std::string(1000, 'y')}));
  EXPECT_EQ(shown_at(agent, 2, place), read) << "the older lines are not dropped yet";
  place.above = 1'000'000;
  EXPECT_EQ(shown_at(agent, 2, place), "line 0\nline 1\n");
  --place.above;
  EXPECT_EQ(shown_at(agent, 2, place), "line 1\nline 2\n") << "above is no more than there is";
  agent.show(event_of("b", 7, events::TextDelta{"rows\nthat\ngo"}));
  shown_at(agent, 2, place);
  agent.show(event_of("b", 8, events::ModelRequested{}));
  EXPECT_EQ(shown_at(agent, 2, place), "line 1\nline 2\n");
}

TEST(FollowedAgent, KeepsABoundedEndThatIsScrolled) {
  FollowedAgent agent(SessionId("b"));
  for (int i = 0; i < 20'000; ++i)
    agent.show(event_of("b", 1, events::AssistantText{"line " + std::to_string(i)}));
  EXPECT_EQ(all_of(agent, 2), "line 19998\nline 19999\n");
  EXPECT_EQ(all_of(agent, 2, 10), "line 19988\nline 19989\n");
  const std::string first = all_of(agent, 2, 1'000'000);
  EXPECT_TRUE(first.starts_with("line ")) << "whole lines only";
  agent.show(event_of("b", 2, events::AssistantText{std::string(200'000, 'x')}));
  EXPECT_TRUE(all_of(agent, 1).starts_with("xxxx")) << "of one line that is too long, its end";
}

}  // namespace
}  // namespace praxis::tui
