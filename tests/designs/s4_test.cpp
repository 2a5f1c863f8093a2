// The programs of docs/designs.md for S4, the agent of a terminal program.
#include "design.hpp"

namespace designs {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using TerminalAgent = Design;

std::string list_files() { return "a.cpp b.cpp"; }

TEST_F(TerminalAgent, EventsDriveTheScreen) {
  const std::string model = script(
      R"({"reasoning": "Look first.", "text": "Looking.", "tool_calls": [{"name": "list_files", "arguments": {}}]}
{"text": "Two files."})");
  Lines screen;
  // begin s4-usage
  auto session =
      *praxis::Agent{model, "You write code."}.use(praxis::tool<list_files>("Lists files")).session();
  const std::string id = session.session_id().str();
  if (const auto added = session.add_user_turn("The folder is /src."); !added) return print(added.error());
  for (auto run = session.send_user_message("What is there?"); const praxis::Event& event : run) {
    std::visit(
        praxis::match{
            [&](const praxis::events::TurnFailed& end) { screen.add("error: " + end.result.error->message); },
            [&](const praxis::events::TurnCancelled&) { screen.add("cancelled"); },
            [&](const praxis::events::TurnTimedOut&) { screen.add("cancelled: out of time"); },
            [&](const praxis::events::TurnCompleted&) { screen.add("done"); },
            [&](const praxis::events::AssistantText& part) { screen.add("message: " + part.text); },
            [&](const praxis::events::AssistantReasoning& part) { screen.add("reasoning: " + part.text); },
            [&](const praxis::events::ToolCalled& call) { screen.add("tool call: " + call.name); },
            [&](const praxis::events::ToolCompleted& tool) { screen.add("tool: " + tool.text); },
            [&](const praxis::events::ModelResponded& turn) {
              screen.add("tokens used: " + std::string(turn.usage.total() > 0 ? "some" : "none"));
            },
            [](const auto&) {},
        },
        event.body);
  }
  // end s4-usage
  EXPECT_EQ(id.size(), 26U);
  EXPECT_THAT(screen.all(), ElementsAre("reasoning: Look first.", "message: Looking.", "tokens used: some",
                                        "tool call: list_files", "tool: a.cpp b.cpp", "message: Two files.",
                                        "tokens used: some", "done"));
}

// begin s4-explore
praxis::Result<std::string> explore(praxis::ToolContext& context, const std::string& topic) {
  if (context.depth > 0) return praxis::fail(praxis::ErrorCode::kInput, "sub-agents are nested too deeply");
  const praxis::AgentCreator creator(context);
  auto sub_agent = creator.create_with_default_model("Explore the code.", context.tools());
  if (!sub_agent) return praxis::fail(sub_agent.error());
  std::string said;
  auto run = sub_agent->send_user_message("Explore " + topic);
  for (const praxis::Event& event : run) {  // the sub-agent's own events; the caller's readers see them too
    if (const auto* part = std::get_if<praxis::events::AssistantText>(&event.body)) said = part->text;
  }
  const auto result = run.result();
  if (!result) return praxis::fail(result.error());
  return said;
}
// end s4-explore

TEST_F(TerminalAgent, SubAgentsShareTheStreamOfTheirParent) {
  const std::string model =
      script(R"({"agent": "lead", "tool_calls": [{"name": "explore", "arguments": {"topic": "tests"}}]}
{"agent": "lead", "text": "There are tests."}
{"asked": "Explore tests", "tool_calls": [{"name": "explore", "arguments": {"topic": "more"}}]}
{"agent": "agent", "text": "unused: the line above answers the first call"}
{"agent": "agent", "text": "Forty files."})");
  Lines lines;
  praxis::Usage usage;
  // begin s4-mirrored
  auto session = *praxis::Agent{model}.id("lead").use(praxis::tool<explore>("Explores", {"topic"})).session();
  auto run = session.send_user_message("Are there tests?");
  for (const praxis::Event& event : run) {
    const std::string who = "depth " + std::to_string(event.agent.depth) + ": ";
    if (const auto* part = std::get_if<praxis::events::AssistantText>(&event.body))
      lines.add(who + part->text);
    if (const auto* failed = std::get_if<praxis::events::ToolFailed>(&event.body))
      lines.add(who + failed->error.message);
  }
  usage = session.token_usage();  // with that of the sub-agents, at every level
  // end s4-mirrored
  const auto result = run.result();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(lines.all(), ElementsAre("depth 1: sub-agents are nested too deeply", "depth 1: Forty files.",
                                       "depth 0: There are tests."));
  EXPECT_GT(result->usage_children.total(), 0);
  EXPECT_EQ(usage.total(), result->usage.total() + result->usage_children.total());
}

// begin s4-creator
/// Works as a root agent and as a sub-agent: the creator decides.
praxis::Result<std::string> research(const praxis::AgentCreator& creator, const std::string& model,
                                     const std::string& plan) {
  auto session = creator.create(model, "Research the plan.", {});
  if (!session) return praxis::fail(session.error());
  const auto result = session->ask(plan);
  if (!result) return praxis::fail(result.error());
  return std::to_string(session->history().messages().size()) + " messages: " + result->text;
}
// end s4-creator

TEST_F(TerminalAgent, OneFunctionMakesARootOrASubAgent) {
  const std::string model = script(R"({"asked": "the plan", "text": "It is sound."}
{"agent": "lead", "tool_calls": [{"name": "research", "arguments": {}}]}
{"agent": "lead", "text": "Agreed."})");
  // begin s4-both
  const auto as_root = research(praxis::AgentCreator{}, model, "the plan");
  const auto tool = praxis::make_tool("research", "Researches", [&](praxis::ToolContext& context) {
    return research(praxis::AgentCreator{context}, model, "the plan");
  });
  auto session = *praxis::Agent{model}.id("lead").use(tool).session();
  const auto reply = session.ask("Go");
  // end s4-both
  ASSERT_TRUE(as_root) << as_root.error().message;
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(*as_root, "2 messages: It is sound.");
  const auto result = std::get<praxis::ToolResultPart>(session.history().messages().at(2)->parts.at(0));
  EXPECT_EQ(result.text, *as_root);
  EXPECT_GT(reply->usage_children.total(), 0);
}

TEST_F(TerminalAgent, DefaultModelIsThatOfTheCallerOrTheEnvironment) {
  const std::string model = script(R"({"asked": "Who are you?", "text": "The model of the caller."}
{"agent": "lead", "tool_calls": [{"name": "introduce", "arguments": {}}]}
{"agent": "lead", "text": "Thanks."})");
  setenv("PRAXIS_MODEL", script(R"({"text": "The model of the environment."})").c_str(), 1);
  Lines lines;
  // begin s4-default
  const auto introduce = [&](const praxis::AgentCreator& creator) {
    auto session = creator.create_with_default_model("Introduce yourself.", {});
    const auto reply = session ? session->ask("Who are you?") : praxis::fail(session.error());
    lines.add(reply ? reply->text : reply.error().message);
  };
  introduce(praxis::AgentCreator{});  // a root has the model that PRAXIS_MODEL names
  const auto tool = praxis::make_tool("introduce", "Introduces", [&](praxis::ToolContext& context) {
    introduce(praxis::AgentCreator{context});  // a sub-agent has that of its caller
    return std::string("done");
  });
  const auto reply = praxis::Agent{model}.id("lead").use(tool).run("Go");
  // end s4-default
  unsetenv("PRAXIS_MODEL");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(lines.all(), ElementsAre("The model of the environment.", "The model of the caller."));
}

TEST_F(TerminalAgent, CreatorFailsOnceItsCallIsOver) {
  const std::string model = script(R"({"tool_calls": [{"name": "keep", "arguments": {}}]}
{"text": "Kept."})");
  // begin s4-over
  std::optional<praxis::AgentCreator> kept;
  const auto keep = praxis::make_tool("keep", "Keeps its creator", [&](praxis::ToolContext& context) {
    kept.emplace(context);
    return std::string("kept");
  });
  const auto reply = praxis::Agent{model}.use(keep).run("Go");
  const auto late = kept->create_with_default_model("Too late", {});  // an error, not a panic
  // end s4-over
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("is over"));
}

TEST_F(TerminalAgent, SecondMessageWhileRunningIsAnError) {
  const std::string model = script(R"({"tool_calls": [{"name": "ask_back", "arguments": {}}]}
{"text": "Done."})");
  Lines lines;
  // begin s4-second
  std::optional<praxis::Session> session;
  const auto ask_back = praxis::make_tool("ask_back", "Talks to its own session", [&] {
    auto second = session->send_user_message("And this?");
    for (const praxis::Event& event : second) lines.add(std::string(praxis::event_name(event.body)));
    lines.add(session->add_user_turn("More").error().message);
    lines.add(std::string(praxis::to_string(session->status())));
    return std::string("asked");
  });
  session = *praxis::Agent{model}.use(ask_back).session();
  const auto reply = session->ask("Go");
  // end s4-second
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(lines.all(), ElementsAre("turn.failed", HasSubstr("is running"), "running"));
}

TEST_F(TerminalAgent, StopTokenEndsTheTurn) {
  const std::string model = script(R"({"text": "Slow.", "delay_ms": 60000})");
  // begin s4-stop
  std::stop_source stop;
  auto agent = praxis::Agent{model};
  agent.on("model.requested", [&](const praxis::Event&) { stop.request_stop(); });
  const auto reply = agent.run("Go", stop.get_token());
  // end s4-stop
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, praxis::ErrorCode::kCancelled);
}

TEST_F(TerminalAgent, StateCanBeAskedAtAnyTime) {
  const std::string model = script(R"({"text": "Hello.", "usage": {"input": 200, "output": 50}})");
  // begin s4-state
  auto session = *praxis::Agent{model}.limits({.max_context = 1000}).session();
  std::ignore = session.ask("Hello");
  const praxis::SessionStatus status = session.status();
  const std::vector<praxis::TurnView> turns = session.turns();
  const praxis::Usage usage = session.token_usage();
  const int percent = session.context_usage_percent();
  const auto [used, total] = session.context_usage();
  // end s4-state
  EXPECT_EQ(status, praxis::SessionStatus::kCompleted);
  EXPECT_EQ(turns.size(), 2U);
  EXPECT_EQ(usage.total(), 250);
  EXPECT_EQ(total, 1000);
  EXPECT_EQ(percent, used * 100 / total);
}

}  // namespace
}  // namespace designs
