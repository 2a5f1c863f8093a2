#include "evals/recorded_agent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/server_tools.hpp"

namespace praxis::evals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Tool tool_of_server(std::string name, ToolHandler handler) {
  Tool tool;
  tool.definition.name = std::move(name);
  tool.definition.parameters = JsonObject{{"type", "object"}};
  tool.handler = std::move(handler);
  return tool;
}

/// The description of an agent with these tools.
AgentSpecPtr with_tools_named(const std::vector<std::string>& names) {
  auto spec = std::make_shared<AgentSpec>();
  for (const std::string& name : names)
    spec->tools.push_back({.definition = tool_of_server(name, nullptr).definition});
  return spec;
}

/// Agents with two servers that both have the tool `one__sum`. Notes what reaches the servers.
class RecordedAgent : public ::testing::Test {
 protected:
  /// The agent of a run whose requests offered these tools, in a replay in which `one__sum` is live.
  Agent recorded(const std::vector<std::vector<std::string>>& offers) {
    Agent agent("script:none");
    agent.tools_from(server("one", first_)).tools_from(server("two", [](ToolContext&, const Json&) {
      return Result<ToolOutput>(ToolOutput{"from two", nullptr, {}, {}});
    }));
    std::vector<LoggedRequest> requests;
    for (const auto& names : offers) requests.push_back({.agent = with_tools_named(names), .sent = {}});
    return recorded_agent(agent, requests, [](std::string_view tool) { return tool == "one__sum"; });
  }
  static std::vector<Tool> offered(const Agent& agent) { return agent.description()->tool_sources.at(0)(); }
  static Result<ToolOutput> call(const Tool& tool) {
    ToolContext context;
    return tool.handler(context, JsonObject());
  }

  ToolHandler first_ = [](ToolContext&, const Json&) {
    return Result<ToolOutput>(ToolOutput{"from one", nullptr, {}, {}});
  };
  std::vector<std::string> reached_;

 private:
  app::ServerTools server(const std::string& name, ToolHandler handler) {
    return {name + "__", [this, name, handler = std::move(handler)] {
              reached_.push_back(name);
              return std::vector{tool_of_server("one__sum", handler), tool_of_server("two__sum", handler)};
            }};
  }
};

TEST_F(RecordedAgent, LiveTool_RunsAtItsServerOnly) {
  const Agent agent = recorded({{"one__sum", "two__sum"}});
  const std::vector<Tool> tools = offered(agent);
  EXPECT_THAT(reached_, IsEmpty()) << "no server is asked for its list";
  EXPECT_EQ(call(tools.at(0))->text, "from one");
  EXPECT_THAT(reached_, ElementsAre("one"));
}

TEST_F(RecordedAgent, ToolThatIsNotLive_DoesNotRun) {
  const Agent agent = recorded({{"one__sum", "two__sum"}});
  const auto result = call(offered(agent).at(1));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("two__sum cannot run"));
  EXPECT_THAT(reached_, IsEmpty());
}

TEST_F(RecordedAgent, ExceptionOfALiveHandler_ReachesTheCallerAndNoOtherServer) {
  first_ = [](ToolContext&, const Json&) -> Result<ToolOutput> { throw std::runtime_error("broken pipe"); };
  const Agent agent = recorded({{"one__sum"}});
  const Tool sum = offered(agent).at(0);
  EXPECT_THROW(std::ignore = call(sum), std::runtime_error) << "the request may have been sent";
  EXPECT_THAT(reached_, ElementsAre("one"));
}

TEST_F(RecordedAgent, Offers_AreThoseOfTheRequestsInTheirOrder) {
  const Agent agent = recorded({{"one__sum"}, {"one__sum", "two__sum"}});
  EXPECT_EQ(offered(agent).size(), 1U);
  EXPECT_EQ(offered(agent).size(), 2U);
  EXPECT_EQ(offered(agent).size(), 2U) << "the last offer stays";
}

}  // namespace
}  // namespace praxis::evals
