// What is drawn again in place, at a pseudo-terminal with an emulator as the judge: neither wide characters
// nor a tree that is taller than the window leave anything behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

class CliWatch : public CommandLine {
 protected:
  /// 26 wide characters, which take 52 columns.
  static constexpr const char* kWide =
      "\u65E5\u672C\u8A9E\u306E\u9577\u3044\u30D7\u30ED\u30F3\u30D7\u30C8\u304C\u3053\u3053\u306B\u3042\u308A"
      "\u307E"
      "\u3059\u3068\u3066\u3082\u9577\u3044\u306E\u3067\u3059";

  CliWatch() { file("slow.jsonl", R"({"text": "x", "delay_ms": 60000})"); }

  std::string id_of(const std::string& agent) const {
    for (const Json& node : praxis({"tree", "last", "--json"}).items())
      if (json_string(node, "agent") == agent) return json_string(node, "id");
    return "";
  }
  /// Waits until a process runs the agent.
  void await_agent(const std::string& agent) const {
    while (id_of(agent).empty()) {
    }
  }
};

TEST_F(CliWatch, WideTitles_AreDrawnAgainInPlace) {
  Process run(command({"run", "--model", "script:slow.jsonl", kWide}), options_);
  await_agent("agent");
  TerminalSession watch(command({"tree", "last", "--watch"}), options_, {72, 24});
  ASSERT_TRUE(watch.wait_until([&] { return times_in(watch.output(), "\x1b[J") >= 5; })) << watch.screen();
  EXPECT_EQ(times_in(watch.screen(), "running"), 1U) << watch.screen();
  EXPECT_EQ(praxis({"tree", "stop", "last"}).status, 0);
  EXPECT_EQ(watch.finish(), 0);
  EXPECT_EQ(times_in(watch.screen(), "agent "), 1U) << watch.screen();
  run.finish();
}

TEST_F(CliWatch, WideStatusLine_IsDrawnAgainInPlace) {
  const std::string script = std::string(kWide) + ".jsonl";
  file(script, R"({"text": "x", "delay_ms": 60000})");
  TerminalSession run(command({"run", "--model", "script:" + script, "Hi"}), options_, {60, 24});
  ASSERT_TRUE(run.wait_until([&] { return times_in(run.output(), "\r\x1b[K") >= 5; })) << run.screen();
  EXPECT_EQ(times_in(run.screen(), "step 1:"), 1U) << run.screen();
  EXPECT_THAT(run.screen(), HasSubstr("\u65E5\u672C"));
  run.type("\x03");
  EXPECT_EQ(run.finish(), 130);
  EXPECT_EQ(times_in(run.screen(), "step 1:"), 0U) << run.screen();
}

TEST_F(CliWatch, TreeTallerThanTheWindow_EndsWhole) {
  std::string calls = R"({"name": "slow", "arguments": {"prompt": "Wait"}})";
  for (int i = 1; i <= 12; ++i)
    calls += R"(, {"name": "quick", "arguments": {"prompt": "Task )" + std::to_string(i) + "\"}}";
  file("lead.jsonl", "{\"tool_calls\": [" + calls + "]}\n{\"text\": \"Done.\"}\n");
  file("quick.jsonl", "{\"text\": \"Quick.\"}\n");
  std::string lead = "id = 'lead'\nmodel = 'script:lead.jsonl'\n";
  for (const std::string agent : {"slow", "quick"}) {
    file(agent + ".toml", "id = '" + agent + "'\nmodel = 'script:" + agent + ".jsonl'\n");
    lead += "[agents." + agent + "]\nfile = '" + agent + ".toml'\ndescription = 'Works'\n";
  }
  file("lead.toml", lead);
  Process run(command({"run", "lead.toml", "Go"}), options_);
  await_agent("quick");
  TerminalSession watch(command({"tree", "last", "--watch"}), options_, {100, 8});
  ASSERT_TRUE(watch.shows("more lines"));
  EXPECT_EQ(praxis({"tree", "stop", id_of("slow")}).status, 0);
  EXPECT_EQ(watch.finish(), 0);
  const std::string screen = watch.screen();
  EXPECT_THAT(screen, Not(HasSubstr("more lines")));
  EXPECT_EQ(times_in(screen, "lead "), 1U) << screen;
  for (int i = 1; i <= 12; ++i)
    EXPECT_EQ(times_in(screen, "\"Task " + std::to_string(i) + '"'), 1U) << i << '\n' << screen;
  run.finish();
}

}  // namespace
}  // namespace praxis::testing
