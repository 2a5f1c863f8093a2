// `praxis tree` lists sub-agents in the order in which their parent called them, however they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;

class CliTreeOrder : public CommandLine {
 protected:
  /// A lead that calls `c`, `a` and `b` at once; `c` answers after the time given, the others at once.
  void make_agents(const std::string& delay_ms) const {
    std::string lead = "id = 'lead'\nmodel = 'script:lead.jsonl'\n", calls;
    for (const std::string name : {"c", "a", "b"}) {
      lead += "[agents." + name + "]\nfile = '" + name + ".toml'\ndescription = 'Helps'\n";
      file(name + ".toml", "id = '" + name + "'\nmodel = 'script:" + name + ".jsonl'\n");
      file(name + ".jsonl", R"({"text": "Done.", "delay_ms": )" + (name == "c" ? delay_ms : "0") + "}\n");
      calls += (calls.empty() ? "" : ",") + (R"({"name": ")" + name + R"(", "arguments": {"prompt": "Go"}})");
    }
    file("lead.toml", lead);
    file("lead.jsonl", "{\"tool_calls\": [" + calls + "]}\n{\"text\": \"All done.\"}\n");
  }
  std::vector<std::string> agents_as_json() const {
    std::vector<std::string> agents;
    for (const Json& node : praxis({"tree", "last", "--json"}).items())
      agents.push_back(json_string(node, "agent"));
    return agents;
  }
  /// The first word of each node's line, after the lines of the drawing.
  std::vector<std::string> agents_as_text() const {
    std::vector<std::string> agents;
    std::istringstream tree(praxis({"tree", "last"}).out);
    for (std::string line; std::getline(tree, line);) {
      const auto begin = line.find_first_of("abcdefghijklmnopqrstuvwxyz");
      const std::string word =
          begin == std::string::npos ? "" : line.substr(begin, line.find(' ', begin) - begin);
      if (!word.empty() && !word.ends_with(':')) agents.push_back(word);  // not what a node waits for
    }
    return agents;
  }
};

TEST_F(CliTreeOrder, SubAgents_AreInTheOrderOfTheirCalls_LiveAndAfterwards) {
  make_agents("60000");
  Process run(command({"run", "lead.toml", "Go", "--json"}), options_);
  ASSERT_TRUE(run.prints(R"("event":"tool.completed")")) << run.output << run.errors;
  for (int i = 0; i < 300 && agents_as_json().size() < 4; ++i) {  // until all are in the journal
  }
  EXPECT_THAT(agents_as_json(), ElementsAre("lead", "c", "a", "b"));
  EXPECT_THAT(agents_as_text(), ElementsAre("lead", "c", "a", "b"));
  ASSERT_EQ(praxis({"tree", "stop", last_run()}).status, 0);
  run.finish();
  EXPECT_THAT(agents_as_json(), ElementsAre("lead", "c", "a", "b"));
}

TEST_F(CliTreeOrder, SubAgentsThatEndInReverse_KeepTheOrderOfTheirCalls) {
  make_agents("200");
  ASSERT_EQ(praxis({"run", "lead.toml", "Go"}).status, 0);
  EXPECT_THAT(agents_as_text(), ElementsAre("lead", "c", "a", "b"));
  const Json root = praxis({"tree", "last", "--json"}).items().front();
  EXPECT_EQ(root.at("children").as_array().size(), 3U);
  EXPECT_THAT(agents_as_json(), ElementsAre("lead", "c", "a", "b"));
}

}  // namespace
}  // namespace praxis::testing
