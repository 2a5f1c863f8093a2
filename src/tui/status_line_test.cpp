#include "tui/status_line.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/columns.hpp"

namespace praxis::tui {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

/// Everything that the line can show.
StatusFacts all_facts(std::size_t columns) {
  StatusFacts facts;
  facts.model = "openai:gpt-5-mini";
  facts.figures.usage.input = 48'211;
  facts.figures.usage.output = 1'904;
  facts.figures.usage.cost = MicroUsd{15'900};
  facts.figures.context_percent = 42;
  facts.figures.compacts_percent = 80;
  facts.turn = StatusTurn{"writes", 4s};
  facts.agents_at_work = 3;
  facts.queued = 2;
  facts.columns = columns;
  return facts;
}
const StatusPlace kPlace{"/home/anna/shop/web", "/home/anna/shop", "main"};

TEST(StatusLine, WideTerminalShowsAll) {
  EXPECT_EQ(status_line(all_facts(200), kPlace),
            "writes 4 s  openai:gpt-5-mini  context 42 % |80  50115 tokens, $0.0159  2 queued  "
            "3 agents at work  shop/web (main)");
}

TEST(StatusLine, WhatMattersLeastGoesFirstAndWhole) {
  EXPECT_EQ(status_line(all_facts(100), kPlace),
            "writes 4 s  openai:gpt-5-mini  context 42 % |80  50115 tokens, $0.0159  2 queued  "
            "3 agents at work");
  EXPECT_EQ(status_line(all_facts(90), kPlace),
            "writes 4 s  openai:gpt-5-mini  context 42 % |80  50115 tokens, $0.0159  2 queued");
  EXPECT_EQ(status_line(all_facts(60), kPlace), "writes 4 s  openai:gpt-5-mini  context 42 % |80  2 queued");
  EXPECT_EQ(status_line(all_facts(40), kPlace), "writes 4 s  context 42 % |80  2 queued");
  EXPECT_EQ(status_line(all_facts(20), kPlace), "writes 4 s  2 queued");
  EXPECT_EQ(status_line(all_facts(8), kPlace), "write...");
}

TEST(StatusLine, StepThatWaitsForTheUserIsTheLastToGo) {
  StatusFacts facts = all_facts(40);
  facts.decisions = 1;
  EXPECT_EQ(status_line(facts, kPlace), "waits for you 4 s  1 to decide  2 queued");
  facts.columns = 20;
  EXPECT_EQ(status_line(facts, kPlace), "1 to decide");
  facts.trouble = "no connection to the server";
  EXPECT_THAT(status_line(facts, kPlace), HasSubstr("no connection"));
}

TEST(StatusLine, NoLineIsWiderThanTheTerminalAndNoneIsEmpty) {
  StatusFacts facts = all_facts(0);
  facts.decisions = 1;
  facts.steering = 1;
  facts.model = "anbieter:modell-漢字-\u202e-\x1b[2J";
  for (std::size_t columns = 1; columns < 250; ++columns) {
    facts.columns = columns;
    const std::string line = status_line(facts, kPlace);
    EXPECT_LE(columns_of(line), columns);
    EXPECT_FALSE(line.empty());
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
}

TEST(StatusLine, UnknownPartsAreLeftOut) {
  StatusFacts facts;
  facts.model = "m";
  facts.columns = 80;
  EXPECT_EQ(status_line(facts, {}), "m  0 tokens, $0");
  EXPECT_THAT(status_line(facts, {"/srv/data", "/srv/data", ""}), EndsWith("$0  data"));
  EXPECT_THAT(status_line(facts, {"/", "/", ""}), EndsWith("$0  /"));
}

}  // namespace
}  // namespace praxis::tui
