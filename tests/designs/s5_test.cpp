// The programs of docs/designs.md for S5, the agent tree with people in the loop.
#include "design.hpp"
#include "praxis/app/agent_update.hpp"

namespace designs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using AgentTree = Design;

TEST_F(AgentTree, ModelsQuestionGoesToTheHandler) {
  const std::string model =
      script(R"({"tool_calls": [{"name": "ask_user", "arguments": {"question": "How many guests?"}}]}
{"text": "A party for 12."})");
  Lines lines;
  std::string text;
  // begin s5-basic
  const auto runtime = praxis::Runtime::create();
  runtime->set_query_user_handler(
      [&](const praxis::SessionId&, const std::string& path, const std::string& prompt) {
        lines.add(path + ": " + prompt);
        return std::optional<std::string>("12");  // std::nullopt: the user declines
      });
  const auto agent = praxis::Agent{model}.id("party").use(praxis::ask_user_tool()).runtime(runtime);
  auto run = agent.stream("Plan my birthday party");
  for (const std::string_view piece : run.text()) text += piece;
  // end s5-basic
  EXPECT_EQ(text, "A party for 12.");
  EXPECT_THAT(lines.all(), ElementsAre("party: How many guests?"));
}

TEST_F(AgentTree, SixStepsAskTwiceForkAndConclude) {
  const std::string model =
      script(R"({"agent": "planner", "text": "{\"ambiguous\":true,\"question\":\"Whose party?\"}"}
{"agent": "planner", "text": "{\"ambiguous\":false,\"question\":\"\"}"}
{"agent": "planner", "text": "{\"questions\":[\"Where?\",\"What to eat?\"]}"}
{"asked": "Where?", "text": "At home."}
{"asked": "What to eat?", "text": "Cake."}
{"agent": "planner", "text": "Cake at home."}
{"agent": "planner", "text": "{\"answer\":\"Cake at home for Ben.\",\"uncertain\":false,\"question\":\"\"}"})");
  Lines lines;
  // begin s5-six
  const auto runtime = praxis::Runtime::create();
  runtime->set_query_user_handler([&](const auto&, const std::string&, const std::string& prompt) {
    lines.add(prompt);
    return std::optional<std::string>("Ben's");
  });
  const auto planner = praxis::Agent{model}
                           .id("planner")
                           .use(praxis::fork_tool())
                           .plan({{"kind", "six_steps"}})
                           .runtime(runtime);
  const auto reply = planner.run("Plan the party");
  // end s5-six
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "Cake at home for Ben.");
  EXPECT_THAT(lines.all(), ElementsAre("Whose party?"));
  EXPECT_EQ(std::ranges::count(reply->actions, "fork", &praxis::ActionResult::tool), 2);
}

TEST_F(AgentTree, TreeCanBeWatched) {
  const std::string model =
      script(R"({"agent": "lead", "tool_calls": [{"name": "helper", "arguments": {"prompt": "Count"}}]}
{"agent": "lead", "text": "Seven."}
{"agent": "helper", "text": "7"})");
  std::vector<std::string> seen;
  // begin s5-watch
  const auto runtime = praxis::Runtime::create();
  const auto helper = praxis::Agent{model}.id("helper");
  auto session =
      *runtime->create_session(praxis::Agent{model}.id("lead").use(helper.as_tool("helper", "Helps")));
  auto run = session.send_user_message("How many?");
  for (const praxis::Event& event : run) {
    if (!std::holds_alternative<praxis::events::ChildSettled>(event.body)) continue;
    for (const praxis::AgentNode& node : runtime->agent_tree())  // without conversations
      seen.push_back(node.path + ' ' + std::string(praxis::to_string(node.status)) + ' ' + node.content);
  }
  const auto whole = runtime->agent_state(session.session_id());  // one agent with its conversation
  // end s5-watch
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->history.messages().size(), 4U);
  EXPECT_THAT(seen, ElementsAre(HasSubstr("lead "), "lead/helper completed Count"));
}

TEST_F(AgentTree, SubAgentIsDeletedWhileItWorks) {
  const std::string model =
      script(R"({"agent": "lead", "tool_calls": [{"name": "helper", "arguments": {"prompt": "Wait"}}]}
{"agent": "lead", "text": "Without the helper, then."}
{"agent": "helper", "text": "Late", "delay_ms": 60000})");
  // begin s5-delete
  const auto runtime = praxis::Runtime::create();
  const auto helper = praxis::Agent{model}.id("helper");
  auto session =
      *runtime->create_session(praxis::Agent{model}.id("lead").use(helper.as_tool("helper", "Helps")));
  std::jthread user;
  const auto watching = runtime->on("model.requested", [&](const praxis::Event& event) {
    if (event.agent.depth == 0) return;
    // `modify` with a content gives a new task; any other text is a comment.
    user = std::jthread([&runtime, id = event.agent.id] {
      std::ignore = praxis::update_agent(*runtime, id, {.comment = "delete"});
    });
  });
  const auto reply = session.ask("Work");
  // end s5-delete
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "Without the helper, then.");
}

TEST_F(AgentTree, CommentTaskAndStatusInOneRequest) {
  const std::string model = script(R"({"text": "Done."})");
  // begin s5-intervene
  const auto runtime = praxis::Runtime::create();
  auto session = *runtime->create_session(praxis::Agent{model});
  session.pause();
  auto run = session.send_user_message("Plan a party");
  const auto update = praxis::agent_update_from_json(
      {{"userComment", "modify"}, {"userContent", "Plan a wedding"}, {"status", "running"}});
  const auto done = praxis::update_agent(*runtime, session.session_id(), *update);
  const auto reply = run.result();
  // end s5-intervene
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(session.turns().at(1).message->text(), HasSubstr("Plan a wedding"));
}

TEST_F(AgentTree, HandleModifiesAnnotatesAndDeletes) {
  const std::string model =
      script(R"({"tool_calls": [{"name": "ask_user", "arguments": {"question": "Who?"}}]}
{"text": "Done."})");
  Lines lines;
  // begin s5-handle
  auto session = *praxis::Agent{model}.use(praxis::ask_user_tool()).session();
  const auto waiting = session.on("step.parked", [&](const praxis::Event& event) {
    lines.add("waits: " + std::get<praxis::events::StepParked>(event.body).step.prompt);
  });
  const auto asked = session.ask("Plan a party");  // the agent is awaiting_user now
  session.annotate("for Ben");
  const auto modified = session.modify("Plan a wedding");
  const auto reply = session.resume({{asked->pending.at(0).id, praxis::answer("Ann")}}).result();
  const auto removed = session.remove();  // no further turn can start
  const auto late = session.ask("And the cake?");
  // end s5-handle
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(modified && removed);
  EXPECT_FALSE(late);
  EXPECT_EQ(session.comment(), "for Ben");
  EXPECT_EQ(session.status(), praxis::SessionStatus::kDeleted);
  EXPECT_THAT(lines.all(), ElementsAre("waits: Who?"));
  EXPECT_TRUE(std::ranges::any_of(session.turns(), [](const praxis::TurnView& turn) {
    return turn.message->text().find("Plan a wedding") != std::string::npos;
  }));
}

TEST_F(AgentTree, HandlerForksAndWaits) {
  const std::string model = script(R"({"agent": "lead", "tool_calls": [{"name": "compare", "arguments": {}}]}
{"agent": "lead", "text": "B it is."}
{"asked": "Option A", "text": "A costs 5."}
{"asked": "Option B", "text": "B costs 3."})");
  // begin s5-fork
  const auto compare = praxis::make_tool(
      "compare", "Compares", [](praxis::ToolContext& context) -> praxis::Result<std::string> {
        auto a = context.fork("Option A"), b = context.fork("Option B");  // both run from here on
        const auto first = a.wait(), second = b.wait();
        if (!first) return praxis::fail(first.error());
        if (!second) return praxis::fail(second.error());
        return first->text + ' ' + second->text;
      });
  auto session = *praxis::Agent{model}.id("lead").use(compare).session();
  const auto reply = session.ask("Which one?");
  // end s5-fork
  ASSERT_TRUE(reply) << reply.error().message;
  const auto result = std::get<praxis::ToolResultPart>(session.history().messages().at(2)->parts.at(0));
  EXPECT_EQ(result.text, "A costs 5. B costs 3.");
}

TEST_F(AgentTree, RunStartsFromMessagesWithIdsOfTheCaller) {
  const std::string model = script(R"({"text": "A party for Ben."})");
  // begin s5-start
  const praxis::Conversation start{"party-1",
                                   {praxis::text_message(praxis::Role::kUser, "It is for Ben"),
                                    praxis::text_message(praxis::Role::kAssistant, "Noted")},
                                   nullptr};
  auto session = *praxis::Agent{model}.session(start);
  const auto reply = session.ask("Plan it");
  const auto once = praxis::Agent{model}.run({praxis::text_message(praxis::Role::kUser, "It is for Ben"),
                                              praxis::text_message(praxis::Role::kUser, "Plan it")});
  // end s5-start
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(reply->session.str(), "party-1");
  EXPECT_EQ(once->text, "A party for Ben.");
}

}  // namespace
}  // namespace designs
