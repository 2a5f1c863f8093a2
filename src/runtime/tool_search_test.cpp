// Agents with more tools than a request should have: `search_tools` finds them.
#include "runtime/tool_search.hpp"

#include <gmock/gmock.h>

#include "praxis/logs/logs.hpp"
#include "runtime/testing/offered_model.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Tool described(std::string name, std::string description) {
  Tool tool = echo_tool(std::move(name));
  tool.definition.description = std::move(description);
  return tool;
}

/// As many tools as large servers have; the description of each is long.
std::vector<Tool> many_tools(std::size_t count = 500) {
  const std::string padding(200, 'x');
  std::vector<Tool> tools;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    tools.push_back(
        described((i % 2 == 0 ? "even__do_" : "odd__do_") + number, "Does number" + number + ' ' + padding));
  }
  return tools;
}

std::string search_call(const std::string& id, const std::string& query) {
  return R"({"tool_calls": [{"id": ")" + id + R"(", "name": "search_tools", "arguments": {"query": ")" +
         query + R"(", "limit": 1}}]})" + "\n";
}

std::vector<std::string> names_of(const std::vector<const Tool*>& tools) {
  std::vector<std::string> names;
  for (const Tool* tool : tools) names.push_back(tool->definition.name);
  return names;
}

class ToolSearchTest : public Scripted {
 protected:
  Agent searching(const std::string& script, std::vector<Tool> tools = many_tools()) {
    Agent agent = scripted(script);
    model_ = std::make_shared<OfferedModel>(agent.description()->model);
    return agent.model(model_).use(echo_tool("own")).tools_from([tools = std::move(tools)] { return tools; });
  }
  std::shared_ptr<OfferedModel> model_;
};

TEST(FindTools, RanksByTheWordsOfNamesAndDescriptions) {
  const std::vector<Tool> tools{described("tracker__createIssue", "Opens a ticket in a project"),
                                described("tracker__list_issues", "Lists the tickets of a project"),
                                described("files__read", "Reads a file"),
                                described("files__notes", "Writes about issues that a file has")};
  EXPECT_THAT(names_of(find_tools(tools, "create an issue", 2)),
              ElementsAre("tracker__createIssue", "tracker__list_issues"));
  EXPECT_THAT(names_of(find_tools(tools, "reading files", 1)), ElementsAre("files__read"));
  EXPECT_THAT(names_of(find_tools(tools, "tracker__list_issues", 1)), ElementsAre("tracker__list_issues"));
  EXPECT_THAT(find_tools(tools, "weather", 5), IsEmpty());
}

TEST_F(ToolSearchTest, FirstRequestIsSmall_AndEachListExtendsTheLastOne) {
  std::string script;
  for (int i = 0; i < 10; ++i)
    script += search_call("s" + std::to_string(i), "number" + std::to_string(7 + 31 * i));
  script += R"({"tool_calls": [{"id": "use", "name": "odd__do_7", "arguments": {"text": "seven"}}]})"
            "\n"
            R"({"text": "done"})";
  Session session = session_of(searching(script));
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result_for(session.history(), "use").text, "seven");
  const auto lists = model_->definitions();
  ASSERT_EQ(lists.size(), 12U);
  EXPECT_EQ(model_->offers().front(), "own search_tools");
  EXPECT_LT(estimate_tokens(lists.front()), 3000);
  EXPECT_THAT(lists.front(), HasSubstr("There are tools of: even, odd."));
  for (std::size_t i = 1; i < lists.size(); ++i)
    EXPECT_THAT(lists[i], StartsWith(lists[i - 1].substr(0, lists[i - 1].size() - 1))) << i;
  EXPECT_THAT(model_->offers().back(), StartsWith("own search_tools odd__do_7 even__do_38"));
}

TEST_F(ToolSearchTest, ResumedSessionOffersWhatWasFound) {
  const std::string found = search_call("a", "number7") + R"({"text": "one"})" + "\n" + R"({"text": "two"})";
  SessionId id;
  {
    Session session = session_of(searching(found));
    ASSERT_TRUE(session.ask("go"));
    id = session.session_id();
  }
  start_new_process();
  Agent again = searching(found);
  auto session = runtime_->open_session(id, again);
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE(session->ask("more"));
  EXPECT_THAT(model_->offers(), ElementsAre("own search_tools odd__do_7"));
}

TEST_F(ToolSearchTest, FewToolsAreSent_AndALongerListLaterKeepsTheirPlaces) {
  auto tools = std::make_shared<std::vector<Tool>>(many_tools(3));
  Agent agent = scripted(std::string(R"({"tool_calls": [{"id": "g", "name": "grow", "arguments": {}}]})") +
                         "\n" + R"({"text": "done"})");
  model_ = std::make_shared<OfferedModel>(agent.description()->model);
  agent.model(model_).use(host_tool("grow", [tools](ToolContext&, const Json&) -> Result<ToolOutput> {
    *tools = many_tools();
    return says("grown");
  }));
  agent.tools_from([tools] { return *tools; });
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("go"));
  EXPECT_THAT(model_->offers(), ElementsAre("grow even__do_0 odd__do_1 even__do_2",
                                            "grow even__do_0 odd__do_1 even__do_2 search_tools"));
}

TEST_F(ToolSearchTest, DeniedToolsAreNotFound) {
  Agent agent = searching(search_call("a", "number7") + R"({"text": "done"})");
  agent.policy({.deny = {"odd__*"}});
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("go"));
  EXPECT_THAT(result_for(session.history(), "a").text, Not(HasSubstr("odd__do_7")));
}

}  // namespace
}  // namespace praxis::testing
