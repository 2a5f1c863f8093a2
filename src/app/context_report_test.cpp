// What fills a model's window is reported by part, and the parts add up to what the core counts.
#include "app/context_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/columns.hpp"
#include "core/testing/talk.hpp"

namespace praxis::app {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ResultOf;

/// A talk with every kind of part but a summary, whose vendor has counted 900 tokens.
Talk full_talk() {
  AgentSpec agent = agent_with_window(2'000);
  const std::string folder_text =
      "# Heading\n\n## AGENTS.md\n\nUse tabs here.\n\n## ../AGENTS.md\n\nBe kind.\n";
  agent.instructions += "\n\n" + folder_text;
  agent.metadata =
      JsonObject{{"folder", "/repo/src"},
                 {"folder_instructions",
                  JsonObject{{"files", JsonObject{{"/repo/AGENTS.md", "1"}, {"/repo/src/AGENTS.md", "2"}}},
                             {"bytes", folder_text.size()}}}};
  agent.tools.push_back(test_tool("skill"));
  Talk talk(agent);
  talk.apply(records::TurnStarted{TurnId{"t1"}});
  Message message = text_message(Role::kUser, "Which tea?");
  message.parts.emplace_back(
      TextPart{"\n\n<recalled>\nFrom memory: data.\n[k, 2026] green tea\n</recalled>", nullptr});
  talk.apply(records::MessageAppended{std::make_shared<const Message>(std::move(message))});
  talk.run();
  talk.round(1, 50);
  ModelResponse answer = says("Green tea, as noted.");
  answer.usage.input = 880;
  answer.usage.output = 20;
  talk.answer(answer);
  return talk;
}

std::map<std::string, std::int64_t> by_name(const ContextReport& report) {
  std::map<std::string, std::int64_t> tokens;
  for (const ContextPart& part : report.parts)
    tokens[part.name.empty() ? std::string(to_string(part.kind)) : part.name] += part.tokens;
  return tokens;
}

TEST(ContextReport, PartsAddUpToWhatTheProviderCounted) {
  const Talk talk = full_talk();
  const ContextReport report = context_report(talk.state());
  EXPECT_TRUE(report.is_counted);
  EXPECT_EQ(report.used, 900);
  EXPECT_EQ(report.window, 2'000);
  EXPECT_EQ(report.compacts_above, 1'600);
  const auto tokens = by_name(report);
  std::vector<std::string> names;
  std::int64_t sum = 0;
  for (const auto& [name, count] : tokens) {
    names.push_back(name);
    sum += count;
    EXPECT_GT(count, 0) << name;
  }
  EXPECT_EQ(sum, 900);
  EXPECT_THAT(names, ElementsAre("../AGENTS.md", "AGENTS.md", "assistant", "instructions", "notes", "skills",
                                 "tool_results", "tools", "user"));
  EXPECT_GT(tokens.at("tool_results"), tokens.at("user") + tokens.at("notes")) << "fifty words";
}

TEST(ContextReport, WithoutACountIsTheEstimateOfTheNextRequest) {
  Talk talk;
  talk.begin("Hello there");
  const ContextReport report = context_report(talk.state());
  EXPECT_FALSE(report.is_counted);
  EXPECT_EQ(report.used, talk.state().request_tokens());
  std::int64_t sum = 0;
  for (const ContextPart& part : report.parts) sum += part.tokens;
  EXPECT_EQ(sum, report.used);
}

TEST(ContextReport, SummaryIsAPartOfItsOwn) {
  Talk talk;
  talk.begin("The goal");
  talk.fill();
  talk.answer(says("What was done."));
  EXPECT_GT(by_name(context_report(talk.state())).at("summary"), 0);
}

TEST(ContextReport, LinesFitTheScreenAndShowTheMark) {
  const ContextReport report = context_report(full_talk().state());
  for (const std::size_t columns : {20U, 40U, 80U}) {
    const auto lines = context_lines(report, columns);
    EXPECT_THAT(lines, Each(ResultOf([](const std::string& line) { return columns_of(line); },
                                     ::testing::Le(columns))));
  }
  const auto lines = context_lines(report, 80);
  EXPECT_EQ(lines.at(0), "900 of 2,000 tokens, 45.0 %");
  EXPECT_EQ(lines.at(1),
            '[' + std::string(27, '#') + std::string(21, '.') + '|' + std::string(11, '.') + ']');
  EXPECT_THAT(lines.at(lines.size() - 2), HasSubstr("  1,100   55.0 %"));
  EXPECT_EQ(lines.back(), "older messages are summarised above 1,600 tokens (|): 700 from here");
}

}  // namespace
}  // namespace praxis::app
