// The session waits for its hooks in their order; they can narrow and never widen, and the log keeps what
// they changed.
#include "praxis/runtime/hooks.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "runtime/testing/hooked.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What hooks saw, in their order.
struct HookNames {
  void add(std::string what) {
    const std::lock_guard lock(mutex);
    all.push_back(std::move(what));
  }
  std::mutex mutex;
  std::vector<std::string> all;
};

TEST_F(HooksTest, AllHooksAreAwaitedInTheirOrder) {
  HookNames seen;
  Agent agent = scripted(kEchoThenText);
  agent.use(echo_tool())
      .on_outgoing_message([&](const HookContext&, Message&) { seen.add("outgoing"); })
      .on_before_turn([&](const HookContext&, AgentSpec&) { seen.add("before_turn"); })
      .on_before_model([&](const HookContext&, const History&) {
        seen.add("before_model");
        return ModelHookResult{};
      })
      .on_after_model([&](const HookContext& context, const ModelResponse& response) {
        std::this_thread::sleep_for(5ms);
        const auto* text = std::get_if<TextPart>(&response.parts[0]);
        seen.add("after_model " + std::to_string(context.step) + (text ? text->text : ""));
      })
      .on_before_tool([&](const HookContext&, const ToolCall&) {
        seen.add("before_tool");
        return ToolHookResult{};
      })
      .approve([&](const ToolCall&) {
        seen.add("approve");
        return allow();
      })
      .on_after_tool([&](const HookContext&, const ToolCall&, Result<ToolOutput>&) {
        std::this_thread::sleep_for(5ms);
        seen.add("after_tool");
      })
      .on_after_turn([&](const HookContext&, AgentResult&) {
        std::this_thread::sleep_for(5ms);
        seen.add("after_turn");
      });
  ASSERT_TRUE(agent.run("go"));
  EXPECT_THAT(seen.all,
              ElementsAre("outgoing", "before_turn", "before_model", "after_model 1", "before_tool",
                          "approve", "after_tool", "before_model", "after_model 2done", "after_turn"));
}

TEST_F(HooksTest, AfterModelSeesTheAnswerThatAHookGave) {
  HookNames seen;
  Agent agent = scripted("");
  agent.on_before_model([](const HookContext&, const History&) {
    ModelHookResult result;
    result.skip.emplace();
    result.skip->parts.emplace_back(TextPart{"from the cache", nullptr});
    return result;
  });
  agent.on_after_model([&](const HookContext&, const ModelResponse& response) {
    seen.add(std::get<TextPart>(response.parts[0]).text);
  });
  ASSERT_TRUE(agent.run("go"));
  EXPECT_THAT(seen.all, ElementsAre("from the cache"));
}

TEST_F(HooksTest, FurtherHooksDoNotDisarmTheApproval) {
  Hooks more;
  more.after_model.push_back([](const HookContext&, const ModelResponse&) {});
  Agent agent = scripted(kEchoThenText);
  agent.use(echo_tool()).approve([](const ToolCall&) { return deny("no"); }).hooks(more);
  const auto result = agent.run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->denials.size(), 1U);
}

TEST_F(HooksTest, BeforeTurnCannotWidenRulesOrLimits) {
  const auto run = [&](PolicyRules rules, PolicyRules wanted) {
    Agent agent = scripted(kEchoThenText);
    agent.use(echo_tool()).policy(rules).limits(limit(&Limits::max_tokens, std::int64_t{1'000'000}));
    agent.on_before_turn([wanted](const HookContext&, AgentSpec& spec) {
      spec.policy = to_json(wanted);
      spec.limits.max_tokens = 0;
    });
    Session session = session_of(agent);
    Gate reported;
    std::string kept;
    const auto watching = session.on("hook.failed", [&](const Event& event) {
      kept = std::get<events::HookFailed>(event.body).message;
      reported.open();
    });
    const AgentResult result = checked(session.ask("go"));
    EXPECT_TRUE(reported.wait_briefly());
    EXPECT_THAT(kept, HasSubstr("policy"));
    EXPECT_THAT(kept, HasSubstr("limits"));
    EXPECT_EQ((*runtime_->agent_state(session.session_id())).node.id, session.session_id());
    return result;
  };
  PolicyRules denied, asked, open;
  denied.deny = {"echo"};
  asked.ask = {"ec*"};
  open.allow = {"*"};
  EXPECT_EQ(run(denied, open).denials.size(), 1U) << "the denied call ran";
  EXPECT_EQ(run(asked, open).pending.size(), 1U) << "the call ran without an approval";
  PolicyRules denied_by_rule, asked_by_rule, allowing;
  denied_by_rule.rules = {{.id = "never", .kind = RuleKind::kDeny, .tools = {"echo"}}};
  asked_by_rule.rules = {{.id = "first", .kind = RuleKind::kAsk, .tools = {"*"}}};
  allowing.rules = {{.id = "yes", .kind = RuleKind::kAllow, .tools = {"echo"}}};
  EXPECT_EQ(run(denied_by_rule, open).denials.size(), 1U) << "the rule was taken away";
  EXPECT_EQ(run(asked_by_rule, open).pending.size(), 1U);
  EXPECT_EQ(run(asked, allowing).pending.size(), 1U) << "a rule that allows was added";
  PolicyRules counted;
  counted.rules = {{.id = "few", .kind = RuleKind::kAllow, .tools = {"echo"}, .calls = 0}};
  EXPECT_EQ(run(counted, open).denials.size(), 1U) << "the number of calls was taken away";
}

TEST_F(HooksTest, BeforeTurnMayNarrowTheRules) {
  PolicyRules wanted;
  wanted.deny = {"echo"};
  Agent agent = scripted(kEchoThenText);
  agent.use(echo_tool()).on_before_turn([&](const HookContext&, AgentSpec& spec) {
    spec.policy = to_json(wanted);
  });
  const auto result = agent.run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->denials.size(), 1U);
}

TEST_F(HooksTest, AfterTurnSeesQueuedTurnsBeforeTheNextStarts) {
  HookNames seen;
  Agent agent = scripted(R"({"text": "a"}
{"text": "b"})");
  agent.on_after_turn([&](const HookContext& context, AgentResult& result) {
    std::this_thread::sleep_for(5ms);
    seen.add(context.turn.str() + " ended: " + result.text);
  });
  Session session = session_of(agent);
  Gate second;
  const auto watching = session.on("turn.*", [&](const Event& event) {
    if (std::holds_alternative<events::TurnStarted>(event.body)) {
      seen.add(event.turn.str() + " started");
      if (event.turn == TurnId{"t1"}) session.enqueue("next");
    } else {
      seen.add(event.turn.str() + " published");
      if (event.turn == TurnId{"t2"}) second.open();
    }
  });
  ASSERT_TRUE(session.ask("go"));
  ASSERT_TRUE(second.wait_briefly());
  EXPECT_THAT(seen.all, ElementsAre("t1 started", "t1 ended: a", "t1 published", "t2 started", "t2 ended: b",
                                    "t2 published"));
}

TEST_F(HooksTest, AfterTurnRedactsTheEventToo) {
  Agent agent = scripted(R"({"text": "secret"})");
  agent.on_after_turn([](const HookContext&, AgentResult& result) { result.text = "[redacted]"; });
  auto run = agent.stream("go");
  std::string published;
  for (const Event& event : run) {
    if (const auto* completed = std::get_if<events::TurnCompleted>(&event.body))
      published = completed->result.text;
  }
  EXPECT_EQ(published, "[redacted]");
  EXPECT_EQ(checked(run.result()).text, "[redacted]");
}

TEST_F(HooksTest, MessageThatIsSentWhileAHookSeesTheTurnStartsTheNext) {
  Gate entered, release;
  Agent agent = scripted(R"({"text": "a"}
{"text": "b"})");
  agent.on_after_turn([&](const HookContext& context, AgentResult&) {
    if (context.turn != TurnId{"t1"}) return;
    entered.open();
    release.wait();
  });
  Session session = session_of(agent);
  auto first = session.send_user_message("one");
  entered.wait();
  auto second = session.send_user_message("two");
  release.open();
  EXPECT_EQ(checked(first.result()).text, "a");
  EXPECT_EQ(checked(second.result()).text, "b");
}

TEST_F(HooksTest, AfterToolSeesErrorsAndResultsThatAHookGave) {
  const Tool broken = host_tool("broken", [](ToolContext&, const Json&) -> Result<ToolOutput> {
    return fail(ErrorCode::kTool, "the password 4711 is wrong");
  });
  Agent agent = scripted(
      R"({"tool_calls": [{"id": "c1", "name": "broken"}, {"id": "c2", "name": "echo", "arguments": {"text": "x"}}]}
{"text": "done"})");
  agent.use(broken).use(echo_tool());
  agent.on_before_tool([](const HookContext&, const ToolCall& call) {
    ToolHookResult result;
    if (call.name == "echo") result.result = says("mocked 4711");
    return result;
  });
  agent.on_after_tool([](const HookContext&, const ToolCall&, Result<ToolOutput>& output) {
    if (output) output->text = "redacted";
    if (!output) output.error().message = "redacted";
  });
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("go"));
  EXPECT_EQ(result_for(session.history(), "c1").text.find("4711"), std::string::npos);
  EXPECT_EQ(result_for(session.history(), "c2").text, "redacted");
  int originals = 0;
  for (const auto& settled : recorded<records::EffectSettled>(session)) {
    if (!settled.original) continue;
    ++originals;
    EXPECT_EQ(settled.by, "hook");
    const std::string before =
        settled.original->result ? settled.original->result->result.text : settled.original->error->message;
    EXPECT_THAT(before, HasSubstr("4711"));
  }
  EXPECT_EQ(originals, 2);
  expect_replays(session);
}

TEST_F(HooksTest, ChangedMessageIsRecordedWithTheOriginal) {
  Agent agent = scripted(R"({"text": "a"})");
  agent.on_outgoing_message(
      [](const HookContext&, Message& message) { message = text_message(Role::kUser, "changed"); });
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("sent"));
  session.pause();
  session.enqueue("queued");
  ASSERT_TRUE(session.add_user_turn("added"));  // waits until all are recorded
  std::vector<std::string> originals;
  for (const auto& said : recorded<records::MessageAppended>(session))
    if (said.source == MessageSource::kUser && said.original) originals.push_back(said.original->text());
  for (const auto& command : recorded<records::Intervened>(session))
    if (!command.original.empty()) originals.push_back(command.original);
  EXPECT_THAT(originals, ElementsAre("sent", "added", "queued"));
}

}  // namespace
}  // namespace praxis::testing
