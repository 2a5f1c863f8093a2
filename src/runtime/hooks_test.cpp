// Hooks run where hooks.hpp says, the log records what they change, and their errors do not harm the session.
#include "praxis/runtime/hooks.hpp"

#include <gmock/gmock.h>

#include <set>

#include "praxis/models/router.hpp"
#include "praxis/models/stub_model.hpp"
#include "runtime/testing/hooked.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(HooksTest, OutgoingMessage_ChangesWhatIsStored) {
  Hooks hooks;
  hooks.outgoing_message.push_back([](const HookContext&, Message& message) {
    message = text_message(Role::kUser, message.text() + " please");
  });
  hooks.outgoing_message.push_back([](const HookContext&, Message& message) {
    message = text_message(Role::kUser, message.text() + "!");
  });
  Session session = session_of(scripted(R"({"text": "a"})").hooks(hooks));
  session.pause();
  session.enqueue("queued");
  ASSERT_TRUE(session.add_user_turn("added"));
  ASSERT_TRUE(session.resume().report());
  EXPECT_EQ(session.turns()[0].message->text(), "added please!");
  EXPECT_EQ(session.turns()[1].message->text(), "queued please!");
}

TEST_F(HooksTest, BeforeTurn_ChangesTheDescriptionFromThenOn) {
  Hooks hooks;
  hooks.before_turn.push_back([](const HookContext& context, AgentSpec& agent) {
    EXPECT_EQ(context.agent, "agent");
    agent.instructions = "Speak like a pirate.";
    agent.model = "other:model";
  });
  Session session = session_of(scripted(R"({"text": "arr"}
{"text": "arr again"})")
                                   .hooks(hooks));
  ASSERT_TRUE(session.ask("a"));
  ASSERT_TRUE(session.ask("b"));
  const auto changes = recorded<records::Intervened>(session);
  ASSERT_EQ(changes.size(), 1U) << "the second turn changed nothing";
  EXPECT_EQ(changes[0].verb, CommandVerb::kSetAgent);
  EXPECT_EQ(changes[0].agent->instructions, "Speak like a pirate.");
  EXPECT_EQ(changes[0].agent->model, "script:test") << "the model stays";
  expect_replays(session);
}

TEST_F(HooksTest, BeforeTurn_SeesQueuedTurnsToo) {
  std::atomic<int> asked = 0;
  Hooks hooks;
  hooks.before_turn.push_back(
      [&](const HookContext&, AgentSpec& agent) { agent.instructions = "turn " + std::to_string(++asked); });
  Session session = session_of(scripted(R"({"text": "a"}
{"text": "b"})")
                                   .hooks(hooks));
  Gate second;
  const auto watching = session.on("turn.completed", [&](const Event& event) {
    if (event.turn == TurnId{"t2"}) second.open();
  });
  const auto queueing = session.on("turn.started", [&](const Event& event) {
    if (event.turn == TurnId{"t1"}) session.enqueue("next");
  });
  ASSERT_TRUE(session.ask("go"));
  ASSERT_TRUE(second.wait_briefly());
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(recorded<records::Intervened>(session).back().agent->instructions, "turn 2");
  expect_replays(session);
}

TEST_F(HooksTest, BeforeModel_ChangesTheRequestAndReplaysWithoutIt) {
  Hooks hooks;
  hooks.before_model.push_back([](const HookContext& context, const History& history) {
    EXPECT_EQ(context.turn, TurnId{"t1"});
    EXPECT_EQ(history.messages().back()->text(), "go");
    ModelHookResult result;
    result.patch.instructions = "Be verbose.";
    return result;
  });
  hooks.before_model.push_back([](const HookContext&, const History&) {
    ModelHookResult result;
    result.patch.options = ModelOptions{};
    result.patch.options->temperature = 0.5;
    return result;
  });
  Session session = session_of(scripted(R"({"text": "x"})").hooks(hooks));
  ASSERT_TRUE(session.ask("go"));
  const auto intents = recorded<records::EffectIntended>(session);
  ASSERT_EQ(intents.size(), 1U);
  EXPECT_EQ(intents[0].patch.instructions, "Be verbose.");
  EXPECT_EQ(intents[0].patch.options->temperature, 0.5);
  expect_replays(session);
}

TEST_F(HooksTest, BeforeModel_MayReplaceTheMessagesOfOneRequest) {
  std::vector<std::string> sent;
  Agent agent;
  agent.runtime(runtime_);
  agent.model(stub_model([&sent](const ModelRequest& request) {
    sent.push_back(request.history.messages().back()->text());
    return stub_text("ok");
  }));
  agent.on_before_model([](const HookContext&, const History& history) {
    ModelHookResult result;
    if (history.messages().size() == 1) result.messages = std::vector{text_message(Role::kUser, "card ****")};
    return result;
  });
  agent.on_before_model([](const HookContext&, const History& history) {
    ModelHookResult result;
    if (history.messages().size() == 1) {
      EXPECT_EQ(history.messages().front()->text(), "card ****") << "sees the change of the hook before";
      result.messages = std::vector{text_message(Role::kAssistant, "not a question")};
    }
    return result;
  });
  Session session = session_of(agent);
  std::vector<std::string> failed;
  const auto watching = session.on("hook.failed", [&](const Event& event) {
    failed.push_back(std::get<events::HookFailed>(event.body).message);
  });
  ASSERT_TRUE(session.ask("card 4111"));
  ASSERT_TRUE(session.ask("again"));
  EXPECT_THAT(sent, ElementsAre("card ****", "again"));
  EXPECT_THAT(failed, ElementsAre(HasSubstr("not a conversation")));
  EXPECT_EQ(session.history().messages().front()->text(), "card 4111") << "the session keeps the original";
  const auto intents = recorded<records::EffectIntended>(session);
  ASSERT_EQ(intents.size(), 2U);
  ASSERT_TRUE(intents[0].patch.history);
  EXPECT_EQ(intents[0].patch.history->messages().front()->text(), "card ****");
  EXPECT_EQ(intents[1].patch, RequestPatch{});
  expect_replays(session);
}

TEST_F(HooksTest, BeforeModel_MayOfferFewerToolsAndNoOthers) {
  std::vector<std::size_t> offered;
  std::atomic<int> ran = 0;
  Agent agent;
  agent.runtime(runtime_);
  agent.model(stub_model([&offered](const ModelRequest& request) {
    offered.push_back(request.tools ? request.tools->size() : 0);
    if (offered.size() > 1) return stub_text("done");
    ModelResponse response = stub_call("c1", "pay", JsonObject{});
    response.parts.push_back(stub_call("c2", "look", JsonObject{}).parts.front());
    return response;
  }));
  for (const char* name : {"look", "pay"}) {
    agent.use(host_tool(name, [&ran](ToolContext&, const Json&) -> Result<ToolOutput> {
      ++ran;
      return ToolOutput{};
    }));
  }
  agent.on_before_model([](const HookContext&, const History& history) {
    ModelHookResult result;
    if (history.messages().size() == 1) result.patch.tools = std::vector<std::string>{"look", "steal"};
    return result;
  });
  Session session = session_of(agent);
  std::vector<std::string> failed;
  const auto watching = session.on("hook.failed", [&](const Event& event) {
    failed.push_back(std::get<events::HookFailed>(event.body).message);
  });
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(offered, ElementsAre(1U, 2U)) << "for that request only";
  EXPECT_EQ(ran, 1) << "a call of a tool that was not offered does not run";
  EXPECT_THAT(result->denials, ElementsAre(HasSubstr("pay")));
  EXPECT_THAT(failed, ElementsAre(HasSubstr("cannot offer the tool \"steal\"")));
  expect_replays(session);
}

TEST_F(HooksTest, BeforeModel_MayChooseAModelOfTheRoute) {
  const auto named = [](const std::string& name) {
    return stub_model([name](const ModelRequest&) { return stub_text("I am " + name); }, name);
  };
  Agent agent;
  agent.runtime(runtime_);
  agent.model(make_router({named("cheap"), named("dear")}));
  agent.on_before_model([](const HookContext&, const History& history) {
    ModelHookResult result;
    result.patch.model = history.messages().back()->text();
    return result;
  });
  Session session = session_of(agent);
  EXPECT_EQ(session.ask("dear")->text, "I am dear");
  EXPECT_EQ(session.ask("cheap")->text, "I am cheap");
  EXPECT_EQ(session.ask("unheard-of")->text, "I am cheap") << "another model is refused";
  EXPECT_EQ(recorded<records::EffectIntended>(session)[0].patch.model, "dear");
  expect_replays(session);
}

TEST_F(HooksTest, BeforeModel_MayAnswerInTheModelsPlace) {
  Hooks hooks;
  hooks.before_model.push_back([](const HookContext&, const History&) {
    ModelHookResult result;
    result.skip.emplace();
    result.skip->parts.emplace_back(TextPart{"from the cache", nullptr});
    return result;
  });
  Session session = session_of(scripted("").hooks(hooks));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "from the cache") << "an empty script would have failed";
  expect_replays(session);
}

TEST_F(HooksTest, BeforeTool_EditsArgumentsAndTheApproverSeesThem) {
  Hooks hooks;
  hooks.before_tool.push_back([](const HookContext&, const ToolCall&) {
    return ToolHookResult{R"({"text": "edited"})", std::nullopt};
  });
  hooks.approve.push_back([](const ToolCall& call) {
    EXPECT_EQ(call.arguments, R"({"text": "edited"})");
    return allow();
  });
  Agent agent = scripted(kEchoThenText);
  Session session = session_of(agent.use(echo_tool()).hooks(hooks));
  ASSERT_TRUE(session.ask("go"));
  EXPECT_EQ(result_for(session.history(), "c1").text, "edited");
  expect_replays(session);
}

TEST_F(HooksTest, EditedCall_IsParkedAsItWouldRun) {
  Hooks hooks;
  hooks.before_tool.push_back([](const HookContext&, const ToolCall&) {
    return ToolHookResult{R"({"text": "edited"})", std::nullopt};
  });
  hooks.approve.push_back([](const ToolCall&) { return needs_approval("sure?"); });
  Agent agent = scripted(kEchoThenText);
  agent.use(echo_tool()).hooks(hooks);
  Session session = session_of(agent);
  auto parked = session.ask("go");
  ASSERT_TRUE(parked) << parked.error().message;
  ASSERT_EQ(parked->pending.size(), 1U);
  EXPECT_EQ(parked->pending[0].prompt, "sure?");
  EXPECT_EQ(parked->pending[0].arguments, R"({"text": "edited"})");
  ASSERT_TRUE(agent.resume(session.session_id(), {{parked->pending[0].id, approve()}}));
  EXPECT_EQ(result_for(session.history(), "c1").text, "edited");
  expect_replays(session);
}

TEST_F(HooksTest, BeforeTool_MayGiveTheResultInTheToolsPlace) {
  Tool never = host_tool("echo", [](ToolContext&, const Json&) -> Result<ToolOutput> {
    ADD_FAILURE() << "the tool ran";
    return says("");
  });
  Hooks hooks;
  hooks.before_tool.push_back(
      [](const HookContext&, const ToolCall&) { return ToolHookResult{std::nullopt, says("mocked \xFF")}; });
  Agent agent = scripted(kEchoThenText);
  Session session = session_of(agent.use(std::move(never)).hooks(hooks));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result_for(session.history(), "c1").text, "mocked \xEF\xBF\xBD")
      << "repaired as a tool's would be";
  EXPECT_EQ(recorded<records::EffectSettled>(session)[1].by, "hook");
  expect_replays(session);
}

TEST_F(HooksTest, Approve_DeniesWithAReasonForTheModel) {
  Agent agent = scripted(kEchoThenText);
  agent.use(echo_tool()).approve([](const ToolCall&) { return deny("not on Fridays"); });
  Session session = session_of(agent);
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done") << "the turn continues";
  EXPECT_THAT(result->denials, ElementsAre(HasSubstr("not on Fridays")));
  EXPECT_THAT(result_for(session.history(), "c1").text, HasSubstr("not on Fridays"));
}

TEST_F(HooksTest, CallIdUsedAgain_IsJudgedAgain) {
  std::atomic<int> judged = 0;
  Agent agent =
      scripted(R"({"tool_calls": [{"id": "same", "name": "echo", "arguments": {"text": "harmless"}}]}
{"tool_calls": [{"id": "same", "name": "echo", "arguments": {"text": "harmful"}}]}
{"text": "done"})");
  agent.use(echo_tool()).approve([&](const ToolCall& call) {
    ++judged;
    return call.arguments.contains("harmful") ? deny("no") : allow();
  });
  auto result = agent.run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(judged, 2);
  EXPECT_EQ(result->denials.size(), 1U);
}

TEST_F(HooksTest, Rules_ComeBeforeHooks) {
  Agent agent = scripted(kEchoThenText);
  PolicyRules rules;
  rules.deny = {"echo"};
  agent.use(echo_tool()).policy(rules).approve([](const ToolCall&) {
    ADD_FAILURE() << "a denied call reached the hook";
    return allow();
  });
  auto result = agent.run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->denials.size(), 1U);
}

TEST_F(HooksTest, AfterTool_ChangesWhatTheModelReads) {
  Hooks hooks;
  hooks.after_tool.push_back([](const HookContext&, const ToolCall& call, Result<ToolOutput>& output) {
    output->text = call.name + " said " + output->text;
  });
  Agent agent = scripted(kEchoThenText);
  Session session = session_of(agent.use(echo_tool()).hooks(hooks));
  ASSERT_TRUE(session.ask("go"));
  EXPECT_EQ(result_for(session.history(), "c1").text, "echo said abc");
}

TEST_F(HooksTest, AfterTurn_ChangesWhatCallersGetAndNotTheRecord) {
  Hooks hooks;
  hooks.after_turn.push_back([](const HookContext& context, AgentResult& result) {
    EXPECT_EQ(context.turn, TurnId{"t1"});
    result.text = "[redacted]";
  });
  Session session = session_of(scripted(R"({"text": "secret"})").hooks(hooks));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "[redacted]");
  EXPECT_EQ(session.last_result().text, "secret");
}

TEST_F(HooksTest, PauseCheck_HoldsTheSessionUntilItIsResumed) {
  std::atomic<int> asked = 0;
  Hooks hooks;
  hooks.pause_check.push_back([&](const HookContext&) {
    return ++asked == 1 ? std::optional<std::string>("budget review") : std::nullopt;
  });
  Session session = session_of(scripted(R"({"text": "x"})").hooks(hooks));
  Gate paused;
  std::string reason;
  const auto subscription = session.on("session.paused", [&](const Event& event) {
    reason = std::get<events::SessionPaused>(event.body).reason;
    paused.open();
  });
  auto run = session.send_user_message("go");
  ASSERT_TRUE(paused.wait_briefly());
  EXPECT_EQ(reason, "budget review");
  EXPECT_EQ(session.turns().size(), 1U) << "no model was called";
  run.unpause();
  auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "x");
}

TEST_F(HooksTest, AnswerOfAHookThatComesTooLate_IsForgotten) {
  Gate entered, release;
  std::atomic<int> asked = 0;
  Hooks hooks;
  hooks.before_model.push_back([&](const HookContext&, const History&) {
    ModelHookResult result;
    if (++asked == 1) {
      entered.open();
      release.wait();
      result.skip.emplace();
      result.skip->parts.emplace_back(TextPart{"stale", nullptr});
    }
    return result;
  });
  Session session = session_of(scripted(R"({"text": "fresh"})").hooks(hooks));
  auto first = session.send_user_message("a");
  entered.wait();
  first.interrupt();
  auto cancelled = first.report();
  ASSERT_TRUE(cancelled) << cancelled.error().message;
  EXPECT_TRUE(cancelled->aborted());
  auto second = session.send_user_message("b");
  release.open();
  auto result = second.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "fresh");
}

TEST_F(HooksTest, HooksThatThrow_AreReportedAndOtherwiseIgnored) {
  const auto oops = [](auto&&...) { throw std::runtime_error("oops"); };
  Hooks hooks;
  hooks.outgoing_message.push_back([](const HookContext&, Message& message) {
    message = text_message(Role::kUser, "half done");
    throw std::runtime_error("oops");
  });
  hooks.before_turn.push_back(oops);
  hooks.after_turn.push_back(oops);
  hooks.before_model.push_back([](auto&&...) -> ModelHookResult { throw std::runtime_error("oops"); });
  hooks.before_model.push_back([](auto&&...) {
    ModelHookResult result;
    result.patch.instructions = "from the second";
    return result;
  });
  hooks.after_model.push_back(oops);
  hooks.before_tool.push_back([](auto&&...) -> ToolHookResult { throw 7; });
  hooks.after_tool.push_back(oops);
  hooks.pause_check.push_back(
      [](auto&&...) -> std::optional<std::string> { throw std::runtime_error("oops"); });
  Agent agent = scripted(kEchoThenText);
  Session session = session_of(agent.use(echo_tool()).hooks(hooks));
  std::mutex mutex;
  std::set<std::string> failed;
  Gate all;
  const auto subscription = session.on("hook.failed", [&](const Event& event) {
    const std::lock_guard lock(mutex);
    failed.insert(std::get<events::HookFailed>(event.body).hook);
    if (failed.size() == 8) all.open();
  });
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(session.turns()[0].message->text(), "go");
  EXPECT_EQ(recorded<records::EffectIntended>(session)[0].patch.instructions, "from the second");
  EXPECT_TRUE(all.wait_briefly());
}

TEST_F(HooksTest, ApproverThatThrows_Denies) {
  Agent agent = scripted(kEchoThenText);
  agent.use(echo_tool()).approve([](const ToolCall&) -> Permission { throw std::runtime_error("oops"); });
  auto result = agent.run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->denials, ElementsAre(HasSubstr("approval hook failed")));
}

}  // namespace
}  // namespace praxis::testing
