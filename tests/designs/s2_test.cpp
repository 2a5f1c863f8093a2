// The programs of docs/designs.md for S2, the agentic loop.
#include "design.hpp"

namespace designs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using AgenticLoop = Design;

std::string get_weather(const std::string& location) { return location + ": 72 degrees"; }
std::string delete_all_data() { return "gone"; }

constexpr const char* kParis =
    R"({"tool_calls": [{"id": "call_abc", "name": "get_weather", "arguments": {"location": "Paris"}}]}
{"text": "72 degrees in Paris."})";

praxis::Tool weather() { return praxis::tool<get_weather>("The weather", {"location"}); }

TEST_F(AgenticLoop, AgentIsMadeFromANameAndRuns) {
  const std::string model = script(kParis);
  // begin s2-create
  const praxis::Agent agent = praxis::Agent{model, "Be brief."}.use(weather());
  auto session = agent.session();                              // pause, unpause, interrupt, steer, enqueue
  auto run = session->send_user_message("Weather in Paris?");  // the same, and the events
  const auto reply = run.result();
  // end s2-create
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "72 degrees in Paris.");
}

TEST_F(AgenticLoop, ResultsFollowTheAnswerAsOneMessage) {
  auto session = *praxis::Agent{script(kParis)}.use(weather()).session();
  ASSERT_TRUE(session.ask("Weather in Paris?"));
  // begin s2-context
  std::vector<std::string> lines;
  for (const auto& message : session.history().messages()) {
    const praxis::RoleView view = praxis::role_view(message->role, praxis::RoleVocabulary::kThreeRoles);
    std::string line = view.role + (view.carries_tool_results ? " with results:" : ":");
    for (const praxis::Part& part : message->parts) {
      std::visit(praxis::match{
                     [&](const praxis::TextPart& text) { line += " \"" + text.text + '"'; },
                     [&](const praxis::ToolCallPart& call) { line += ' ' + call.name + call.arguments; },
                     [&](const praxis::ToolResultPart& result) {
                       line += ' ' + result.id.str() + '=' + result.text;
                     },
                     [](const auto&) {},
                 },
                 part);
    }
    lines.push_back(line);
  }
  // end s2-context
  EXPECT_THAT(
      lines,
      ElementsAre("user: \"Weather in Paris?\"", R"(assistant: get_weather{"location":"Paris"})",
                  "user with results: call_abc=Paris: 72 degrees", "assistant: \"72 degrees in Paris.\""));
}

TEST_F(AgenticLoop, WindowNeverSplitsACallFromItsResult) {
  std::string lines;
  for (int i = 0; i < 12; ++i) {
    lines += R"({"tool_calls": [{"name": "get_weather", "arguments": {"location": "Paris"}}]})"
             "\n";
    lines += R"({"text": "Warm."})"
             "\n";
  }
  const std::string model = script(lines);
  // begin s2-window
  auto session = *praxis::Agent{model}.use(weather()).limits({.max_messages = 6}).session();
  for (int i = 0; i < 12; ++i) {
    const auto reply = session.ask("And now?");
    if (!reply) return print(reply.error());
    const praxis::History sent = session.history();
    for (std::size_t cut = 0; cut < sent.messages().size(); ++cut) {
      const std::size_t safe = praxis::find_safe_tool_boundary(sent, cut);
      EXPECT_TRUE(praxis::is_tool_boundary_safe(sent, safe));
    }
    EXPECT_TRUE(praxis::is_tool_boundary_safe(sent, 0));
  }
  // end s2-window
  EXPECT_LE(session.history().messages().size(), 10U);
}

TEST_F(AgenticLoop, InstructionsAreSentWithEveryModelCall) {
  std::vector<std::string> sent;
  // begin s2-instructions
  auto agent = praxis::Agent{script(kParis), "Answer in one sentence."}.use(weather());
  agent.on_before_model([&](const praxis::HookContext&, const praxis::History& history) {
    praxis::ModelHookResult result;  // may change what is sent with this request alone
    if (history.messages().size() > 2) result.patch.instructions = "Answer in one word.";
    sent.push_back(result.patch.instructions.value_or("unchanged"));
    return result;
  });
  const auto reply = agent.run("Weather in Paris?");
  // end s2-instructions
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(sent, ElementsAre("unchanged", "Answer in one word."));
}

TEST_F(AgenticLoop, UnknownToolAndSlowToolAreErrorsForTheModel) {
  const std::string model = script(
      R"({"tool_calls": [{"name": "get_wether", "arguments": {"location": "Paris"}}, {"name": "slow", "arguments": {}}]}
{"text": "Neither worked."})");
  // begin s2-timeout
  praxis::Tool slow = praxis::make_tool("slow", "Takes long", [](praxis::ToolContext& context) {
    std::promise<void> stopped;
    const std::stop_callback wake(context.stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();  // the handler is asked to stop when its time is over
    return std::string("too late");
  });
  slow.definition.timeout = std::chrono::milliseconds{20};  // 30 s by default
  auto session = *praxis::Agent{model}.use(weather()).use(slow).session();
  const auto reply = session.ask("Try both");
  // end s2-timeout
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(praxis::ToolDefinition{}.timeout, std::chrono::seconds{30});
  const auto results = session.history().messages().at(2)->parts;
  EXPECT_THAT(std::get<praxis::ToolResultPart>(results.at(0)).text, HasSubstr("get_weather"));
  EXPECT_THAT(std::get<praxis::ToolResultPart>(results.at(1)).text, HasSubstr("20 ms"));
}

TEST_F(AgenticLoop, HooksAndEventsComeInTheOrderOfTheDesign) {
  Lines lines;
  auto agent = praxis::Agent{script(kParis)}.use(weather());
  // begin s2-order
  agent.on_before_turn([&](const auto&, praxis::AgentSpec&) { lines.add("before_turn"); });
  agent.on_pause_check([&](const auto&) { return lines.add("pause_check"), std::nullopt; });
  agent.on_before_model([&](const auto&, const praxis::History&) {
    return lines.add("before_model"), praxis::ModelHookResult{};
  });
  agent.on_after_model([&](const auto&, const praxis::ModelResponse&) { lines.add("after_model"); });
  agent.on_before_tool([&](const auto&, const praxis::ToolCall&) {
    return lines.add("before_tool"), praxis::ToolHookResult{};
  });
  agent.approve([&](const praxis::ToolCall&) { return lines.add("approve"), praxis::allow(); });
  agent.on_after_tool(
      [&](const auto&, const auto&, praxis::Result<praxis::ToolOutput>&) { lines.add("after_tool"); });
  agent.on_after_turn([&](const auto&, praxis::AgentResult&) { lines.add("after_turn"); });
  agent.on("*", [&](const praxis::Event& event) { lines.add(std::string(praxis::event_name(event.body))); });
  // end s2-order
  ASSERT_TRUE(agent.run("Weather in Paris?"));
  const std::vector<std::string> seen = lines.all();
  const auto only = [&](std::initializer_list<std::string_view> wanted) {
    std::vector<std::string> found;
    std::ranges::copy_if(seen, std::back_inserter(found), [&](const std::string& line) {
      return std::ranges::find(wanted, line) != wanted.end();
    });
    return found;
  };
  EXPECT_THAT(
      only({"before_turn", "pause_check", "before_model", "after_model", "before_tool", "approve",
            "after_tool", "after_turn"}),
      ElementsAre("before_turn", "pause_check", "before_model", "after_model", "pause_check", "before_tool",
                  "approve", "after_tool", "pause_check", "before_model", "after_model", "after_turn"));
  EXPECT_THAT(only({"turn.started", "step.started", "model.requested", "model.responded", "tool.called",
                    "tool.started", "tool.completed", "step.completed", "turn.completed"}),
              ElementsAre("turn.started", "step.started", "model.requested", "model.responded", "tool.called",
                          "tool.started", "tool.completed", "step.completed", "step.started",
                          "model.requested", "model.responded", "step.completed", "turn.completed"));
  EXPECT_THAT(only({"before_model", "model.requested"}),
              ElementsAre("before_model", "model.requested", "before_model", "model.requested"));
  EXPECT_THAT(
      only({"approve", "tool.started", "after_tool", "tool.completed", "after_turn", "turn.completed"}),
      ElementsAre("approve", "tool.started", "after_tool", "tool.completed", "after_turn", "turn.completed"));
}

TEST_F(AgenticLoop, StepLimitIsAnError) {
  const std::string model = script(kParis);
  // begin s2-limit
  const auto reply = praxis::Agent{model}.use(weather()).limits({.max_steps = 1}).run("Weather in Paris?");
  const std::string why = reply ? "" : reply.error().message;
  // end s2-limit
  EXPECT_THAT(why, HasSubstr("limit of 1 steps"));
}

TEST_F(AgenticLoop, EventsArePickedByName) {
  Lines lines;
  // begin s2-events
  auto agent = praxis::Agent{script(kParis)}.use(weather());
  agent.on("tool.called", [&](const praxis::Event& event) {
    const auto& call = std::get<praxis::events::ToolCalled>(event.body);
    lines.add("running " + call.name + ' ' + call.arguments);
  });
  agent.on("tool.completed", [&](const praxis::Event& event) {
    const auto& done = std::get<praxis::events::ToolCompleted>(event.body);
    lines.add(done.name + " gave " + done.text);
  });
  // end s2-events
  ASSERT_TRUE(agent.run("Weather in Paris?"));
  EXPECT_THAT(lines.all(), ElementsAre(R"(running get_weather {"location":"Paris"})",
                                       "get_weather gave Paris: 72 degrees"));
}

TEST_F(AgenticLoop, HookBlocksADangerousTool) {
  const std::string model = script(R"({"tool_calls": [{"name": "delete_all_data", "arguments": {}}]}
{"text": "I may not."})");
  Lines lines;
  // begin s2-hooks
  auto agent = praxis::Agent{model}.use(praxis::tool<delete_all_data>("Deletes everything"));
  agent.on_before_tool([&](const praxis::HookContext&, const praxis::ToolCall& call) {
    lines.add("about to run " + call.name);
    return praxis::ToolHookResult{};  // or other arguments, or a result in the tool's place
  });
  agent.approve([](const praxis::ToolCall& call) {
    return call.name == "delete_all_data" ? praxis::deny("This tool is blocked.") : praxis::allow();
  });
  const auto reply = agent.run("Delete it all");
  // end s2-hooks
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(lines.all(), ElementsAre("about to run delete_all_data"));
  EXPECT_THAT(reply->denials, ElementsAre(HasSubstr("This tool is blocked.")));
}

TEST_F(AgenticLoop, PausedSessionWaits) {
  Lines lines;
  // begin s2-pause
  auto agent = praxis::Agent{script(kParis)}.use(weather());
  auto session = *agent.session();
  const auto paused = session.on("session.paused", [&](const praxis::Event& event) {
    lines.add("paused: " + std::get<praxis::events::SessionPaused>(event.body).reason);
    session.unpause();  // from here, or any other thread
  });
  session.pause("lunch");
  const auto reply = session.ask("Weather in Paris?");
  // end s2-pause
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(lines.all(), ElementsAre("paused: lunch"));
}

TEST_F(AgenticLoop, StreamPrintsTextToolsAndUsage) {
  const std::string model = script(kParis);
  Lines lines;
  std::string text;
  // begin s2-stream
  for (auto run = praxis::Agent{model}.use(weather()).stream("Weather in Paris?"); const auto& event : run) {
    std::visit(praxis::match{
                   [&](const praxis::events::TextDelta& delta) { text += delta.text; },
                   [&](const praxis::events::ToolStarted& tool) { lines.add("executing " + tool.name); },
                   [&](const praxis::events::TurnCompleted& end) {
                     lines.add("used " + std::to_string(end.result.usage.total()) + " tokens");
                   },
                   [](const auto&) {},
               },
               event.body);
  }
  // end s2-stream
  EXPECT_EQ(text, "72 degrees in Paris.");
  EXPECT_THAT(lines.all(),
              ElementsAre("executing get_weather", testing::MatchesRegex("used [1-9][0-9]* tokens")));
}

TEST_F(AgenticLoop, FailedToolEndsTheTurnOrNot) {
  const std::string model = script(R"({"tool_calls": [{"name": "fetch", "arguments": {}}]}
{"text": "It failed."})");
  // begin s2-failure
  const auto fetch = praxis::make_tool("fetch", "Fetches", []() -> praxis::Result<std::string> {
    return praxis::fail(praxis::ErrorCode::kTool, "no route");
  });
  const auto continues = praxis::Agent{model}.use(fetch).run("Fetch");
  const auto fails =
      praxis::Agent{model}.use(fetch).tool_failure(praxis::ToolFailureMode::kFail).run("Fetch");
  // end s2-failure
  ASSERT_TRUE(continues) << continues.error().message;
  EXPECT_EQ(continues->text, "It failed.");
  ASSERT_FALSE(fails);
  EXPECT_THAT(fails.error().message, HasSubstr("no route"));
}

TEST_F(AgenticLoop, ConversationLastsOverTurnsAndProcesses) {
  const std::string model = script("{\"text\": \"Hello Ann\"}\n{\"text\": \"You are Ann\"}\n");
  const std::string file = (folder() / "journal.db").string();
  praxis::SessionId id;
  // begin s2-history
  {
    const auto agent = praxis::Agent{model}.journal(*praxis::sqlite_journal(file));
    auto session = *agent.session();
    std::ignore = session.ask("I am Ann");
    id = session.session_id();
  }  // the process ends; another one opens the same journal
  const auto runtime = praxis::Runtime::create({.journal = *praxis::sqlite_journal(file)});
  auto session = *runtime->open_session(id, praxis::Agent{model});
  const auto reply = session.ask("Who am I?");
  // end s2-history
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "You are Ann");
  EXPECT_EQ(session.turns().size(), 4U);
}

}  // namespace
}  // namespace designs
