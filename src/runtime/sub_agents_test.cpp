// Sub-agents: what they inherit, which sessions get their events, what they cost, and how they end.
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "praxis/core/state.hpp"
#include "praxis/models/stub_model.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

Result<ToolOutput> last_words(const Result<AgentResult>& result) {
  if (!result) return fail(result.error());
  if (!result->success) return fail(result->error.value_or(Error{}));
  return says(result->text);
}

class SubAgentsTest : public Scripted {
 protected:
  /// An agent that calls the tool `work` once and then repeats the result that it got.
  Agent boss(std::function<Result<ToolOutput>(ToolContext&)> work) {
    Agent agent = scripted(R"({"tool_calls":[{"name":"work","id":"w","arguments":{}}]}
{"text":"done"})");
    return agent.id("boss").use(unlimited("work", std::move(work)));
  }
  static Tool unlimited(std::string name, std::function<Result<ToolOutput>(ToolContext&)> handler) {
    Tool tool = host_tool(std::move(name), [handler = std::move(handler)](ToolContext& context, const Json&) {
      return handler(context);
    });
    tool.definition.timeout = Millis{0};
    tool.definition.idempotent = true;
    return tool;
  }
  Agent says_only(const std::string& text, const std::string& id = "child") {
    Agent agent = scripted(R"({"text":")" + text + R"(","usage":{"input":10,"output":5}})");
    return agent.id(id);
  }
  /// Calls the blocked tool `slow`.
  Agent stuck(const BlockedTool& slow, bool honest = true) {
    Agent agent = scripted(R"({"tool_calls":[{"name":"slow","arguments":{}}]}
{"text":"late"})");
    return agent.id("stuck").use(slow.tool("slow", honest));
  }
  std::vector<SessionRow> rows() { return *journal_->sessions(0); }
  bool eventually_settled(const SessionId& id) {
    for (int i = 0; i < 1'000; ++i) {
      if (fold(*read_records(*journal_, id))->last) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  SessionId child_of(const SessionId& parent) {
    for (const SessionRow& row : rows()) {
      if (row.parent == parent) return row.id;
    }
    return {};
  }
};

TEST_F(SubAgentsTest, AnAgentAsATool_GivesItsAnswerBack) {
  Agent lead = scripted(R"({"tool_calls":[{"name":"research","arguments":{"prompt":"capital of France"}}]}
{"text":"It is Paris."})");
  lead.id("lead").use(says_only("Paris").as_tool("research", "Looks something up"));
  Session session = session_of(lead);
  const auto result = session.ask("Where?");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "It is Paris.");
  EXPECT_EQ(session.history().messages()[2]->parts.size(), 1U);
  EXPECT_EQ(std::get<ToolResultPart>(session.history().messages()[2]->parts[0]).text, "Paris");
  EXPECT_EQ(rows().size(), 2U);
}

TEST_F(SubAgentsTest, AnAgentThatFails_IsAFailedCall) {
  Agent lead = scripted(R"({"tool_calls":[{"name":"research","id":"r","arguments":{"prompt":"x"}}]}
{"text":"never mind"})");
  Agent failing = scripted(R"({"error":{"code":"model","status":400,"message":"no such model"}})");
  lead.use(failing.id("helper").as_tool("research", "Looks something up"));
  Session session = session_of(lead);
  ASSERT_TRUE(session.ask("Where?"));
  const ToolResultPart result = result_for(session.history(), "r");
  EXPECT_EQ(result.status, ToolStatus::kError);
  EXPECT_NE(result.text.find("agent \"helper\" did not finish (model_failed)"), std::string::npos);
}

TEST_F(SubAgentsTest, Events_ReachTheParentInOrderAndAttributed) {
  Agent child = says_only("mine");
  Session session = session_of(boss([child](ToolContext& context) -> Result<ToolOutput> {
    auto made = AgentCreator(context).create(child);
    if (!made) return fail(made.error());
    return last_words(made->ask("go"));
  }));
  std::vector<std::string> seen;
  for (const Event& event : session.send_user_message("start")) {
    seen.push_back(std::to_string(event.agent.depth) + " " + std::string(event_name(event.body)));
  }
  const auto at = [&](std::string_view name) { return std::ranges::find(seen, name) - seen.begin(); };
  EXPECT_LT(at("0 child.spawned"), at("1 turn.started"));
  EXPECT_LT(at("1 turn.started"), at("1 text.delta"));
  EXPECT_LT(at("1 turn.completed"), at("0 child.settled"));
  EXPECT_LT(at("0 child.settled"), at("0 tool.completed"));
  EXPECT_EQ(seen.back(), "0 turn.completed");
}

TEST_F(SubAgentsTest, DepthPathAndParent_AreRecorded) {
  Agent leaf = scripted(R"({"tool_calls":[{"name":"look","arguments":{}}]}
{"text":"leaf"})");
  std::atomic<std::uint32_t> depth = 0;
  leaf.id("leaf").use(unlimited("look", [&](ToolContext& context) -> Result<ToolOutput> {
    depth = context.depth;
    return says("seen");
  }));
  Agent middle = scripted(R"({"tool_calls":[{"name":"leaf","arguments":{"prompt":"x"}}]}
{"text":"middle"})");
  middle.id("middle").use(leaf.as_tool("leaf", "The leaf"));
  Agent root = scripted(R"({"tool_calls":[{"name":"middle","arguments":{"prompt":"x"}}]}
{"text":"root"})");
  root.id("root").use(middle.as_tool("middle", "The middle"));
  Session session = session_of(root);
  ASSERT_TRUE(session.ask("go"));
  EXPECT_EQ(depth, 2U);
  const SessionId second = child_of(session.session_id()), third = child_of(second);
  const auto state = fold(*read_records(*journal_, third));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->path, "root/middle/leaf");
  EXPECT_EQ(state->depth, 2U);
  EXPECT_EQ(state->parent, second);
}

TEST_F(SubAgentsTest, Usage_CountsOnceAtTheChildAndOnceUpEachAncestor) {
  Agent child = says_only("mine");
  Session session = session_of(boss([child](ToolContext& context) -> Result<ToolOutput> {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&context, &child] {
        auto made = AgentCreator(context).create(child);
        if (made) (void)made->ask("go");
      });
    }
    threads.clear();
    return says("all three");
  }));
  const auto result = session.ask("start");
  ASSERT_TRUE(result);
  std::int64_t own = 0, children = 0;
  for (const SessionRow& row : rows()) {
    const auto state = fold(*read_records(*journal_, row.id));
    (row.parent.empty() ? own : children) += state->usage.total();
  }
  EXPECT_EQ(rows().size(), 4U);
  EXPECT_EQ(result->usage.total(), own);
  EXPECT_EQ(result->usage_children.total(), children);
  EXPECT_EQ(
      json_at(json_at(json_at(to_json(*result), "usage"), "subtree"), "total").to_number<std::int64_t>(),
      own + children);
}

TEST_F(SubAgentsTest, TheModelBelow_GetsItsOwnInstructionsAndTools) {
  std::map<std::string, std::vector<std::string>> offered;  // names of tools, by instructions
  const auto model = stub_model([&](const ModelRequest& request) -> Result<ModelResponse> {
    std::vector<std::string>& names = offered[request.instructions];
    for (const ToolDefinition& tool : *request.tools) names.push_back(tool.name);
    return request.history.messages().size() > 1 || request.instructions == "You are a child."
               ? stub_text("done")
               : stub_call("c1", "work", JsonObject{});
  });
  const Tool work = host_tool("work", [](ToolContext& context, const Json&) -> Result<ToolOutput> {
    auto child = AgentCreator(context).create_with_default_model("You are a child.", {echo_tool()});
    if (!child) return fail(child.error());
    const auto answer = child->ask("go");
    return answer ? says(answer->text) : Result<ToolOutput>(fail(answer.error()));
  });
  Session session = session_of(Agent("", "You lead.").model(model).use(work));
  EXPECT_TRUE(checked(session.ask("start")).success);
  EXPECT_EQ(offered["You are a child."], std::vector<std::string>{"echo"});
  EXPECT_EQ(offered["You lead."], (std::vector<std::string>{"work", "work"}));
}

TEST_F(SubAgentsTest, TheCreator_FailsOnceTheCallIsOver) {
  std::optional<AgentCreator> kept;
  std::optional<Session> child;
  Session session = session_of(boss([&](ToolContext& context) -> Result<ToolOutput> {
    kept.emplace(context);
    auto made = kept->create_with_default_model("You are a child.", {});
    if (!made) return fail(made.error());
    child = *made;
    return says("left it behind");
  }));
  ASSERT_TRUE(session.ask("start"));
  const auto late = kept->create_with_default_model("Too late.", {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kInput);
  EXPECT_NE(late.error().message.find("call w is over"), std::string::npos) << late.error().message;
  const auto turn = child->ask("anything");
  ASSERT_FALSE(turn);
  EXPECT_NE(turn.error().message.find("ended with the call that created it"), std::string::npos);
}

TEST_F(SubAgentsTest, TheCreator_MakesRootsOutsideACall) {
  const auto session = AgentCreator(runtime_).create("script:none", "You are a root.", {});
  ASSERT_FALSE(session);  // no such script, but the way there is the same
  EXPECT_EQ(session.error().code, ErrorCode::kInput);
  EXPECT_TRUE(AgentCreator(runtime_).create(says_only("x")));
}

TEST_F(SubAgentsTest, WhatTheCallLeavesRunning_IsCancelledWhenItReturns) {
  BlockedTool slow;
  Agent child = stuck(slow);
  Session session = session_of(boss([&](ToolContext& context) -> Result<ToolOutput> {
    auto made = AgentCreator(context).create(child);
    if (!made) return fail(made.error());
    auto run = made->send_user_message("go");
    slow.entered->wait();
    return says("off");
  }));
  const auto result = session.ask("start");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->success);
  const auto state = fold(*read_records(*journal_, child_of(session.session_id())));
  EXPECT_EQ(state->last->reason, StopReason::kCancelled);
  EXPECT_EQ(unanswered(state->conversation.history()), 0U);
}

TEST_F(SubAgentsTest, Cancellation_ReachesTheDeepestAgentAndNothingAbove) {
  use_patient_runtime();
  BlockedTool slow;
  Agent middle = scripted(R"({"tool_calls":[{"name":"leaf","arguments":{"prompt":"x"}}]}
{"text":"middle"})");
  middle.id("middle").use(stuck(slow).as_tool("leaf", "The leaf"));
  Agent root = scripted(R"({"tool_calls":[{"name":"middle","id":"m","arguments":{"prompt":"x"}}]}
{"text":"went on without it"})");
  root.id("root").use(middle.as_tool("middle", "The middle"));
  Session session = session_of(root);
  auto run = session.send_user_message("go");
  slow.entered->wait();
  const SessionId second = child_of(session.session_id());
  auto handle = runtime_->open_session(second, middle);  // already active: the same session
  ASSERT_TRUE(handle);
  handle->interrupt();
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->success);
  EXPECT_EQ(result->text, "went on without it");
  EXPECT_NE(result_for(session.history(), "m").text.find("cancelled"), std::string::npos);
  for (const SessionId& id : {second, child_of(second)}) {
    EXPECT_EQ(fold(*read_records(*journal_, id))->last->reason, StopReason::kCancelled);
  }
}

TEST_F(SubAgentsTest, AnInterruptedRoot_SaysHowEverythingBelowEnded) {
  BlockedTool deaf;
  Agent root = scripted(R"({"tool_calls":[{"name":"leaf","id":"l","arguments":{"prompt":"x"}}]})");
  root.id("root").use(stuck(deaf, false).as_tool("leaf", "The leaf"));
  Session session = session_of(root);
  auto run = session.send_user_message("go");
  deaf.entered->wait();
  session.interrupt();
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::kCancelled);
  // The child gets time to report that its tool did not stop; on a busy machine it may need more than that.
  ASSERT_EQ(result->actions.size(), 1U);
  EXPECT_NE(result->actions[0].outcome, Outcome::kOk);
  ASSERT_TRUE(eventually_settled(child_of(session.session_id())));
  const auto child = fold(*read_records(*journal_, child_of(session.session_id())));
  EXPECT_EQ(child->last->actions.at(0).outcome, Outcome::kUnknown);
}

TEST_F(SubAgentsTest, Permissions_OnlyNarrow) {
  Tool danger = echo_tool("danger");
  danger.definition.safe_by_default = false;
  const auto told = [&](const PolicyRules& above, const PolicyRules& own) {
    Agent child = scripted(R"({"tool_calls":[{"name":"danger","id":"d","arguments":{"text":"boo"}}]}
{"text":"ok"})");
    child.use(danger).policy(own);
    Agent lead = boss([child](ToolContext& context) -> Result<ToolOutput> {
      auto made = AgentCreator(context).create(child);
      if (!made) return fail(made.error());
      return last_words(made->ask("go"));
    });
    lead.policy(above);
    Session session = session_of(lead);
    EXPECT_TRUE(session.ask("start"));
    const auto state = fold(*read_records(*journal_, child_of(session.session_id())));
    return result_for(state->conversation.history(), "d").text;
  };
  const PolicyRules nothing, allows{{"danger"}, {}, {}}, denies{{}, {"danger"}, {}};
  EXPECT_EQ(told(allows, allows), "boo");
  EXPECT_NE(told(nothing, allows).find("not safe by default"), std::string::npos);
  EXPECT_NE(told(denies, allows).find("an agent above"), std::string::npos);
  EXPECT_NE(told(allows, nothing).find("not safe by default"), std::string::npos);
}

TEST_F(SubAgentsTest, ApprovalHooksAbove_JudgeCallsBelow) {
  Agent child = scripted(R"({"tool_calls":[{"name":"echo","id":"d","arguments":{"text":"boo"}}]}
{"text":"ok"})");
  child.use(echo_tool());
  Agent lead = boss([child](ToolContext& context) -> Result<ToolOutput> {
    auto made = AgentCreator(context).create(child);
    if (!made) return fail(made.error());
    return last_words(made->ask("go"));
  });
  lead.approve([](const ToolCall& call) { return call.name == "echo" ? deny("not here") : allow(); });
  Session session = session_of(lead);
  ASSERT_TRUE(session.ask("start"));
  const auto state = fold(*read_records(*journal_, child_of(session.session_id())));
  EXPECT_NE(result_for(state->conversation.history(), "d").text.find("not here"), std::string::npos);
}

TEST_F(SubAgentsTest, ABudgetAbove_IsNotOvershotByMoreThanOneAnswer) {
  // Each answer takes about 15 tokens, with an estimate of at most 100; eight sub-agents ask at once.
  Agent child = says_only("mine");
  ModelOptions options;
  options.max_output_tokens = 100;
  child.options(options);
  Agent lead = boss([child](ToolContext& context) -> Result<ToolOutput> {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&context, &child] {
        auto made = AgentCreator(context).create(child);
        if (made) (void)made->ask("go");
      });
    }
    threads.clear();
    return says("all");
  });
  lead.limits(limit(&Limits::max_tokens, std::int64_t{60}));
  Session session = session_of(lead);
  const auto result = session.send_user_message("start").report();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::kTokenLimit);
  const std::int64_t used = result->usage.total() + result->usage_children.total();
  std::int64_t answer = 0;
  int stopped = 0;
  for (const SessionRow& row : rows()) {
    const auto state = fold(*read_records(*journal_, row.id));
    answer = std::max(answer, state->usage.total());
    if (!row.parent.empty()) stopped += state->last->reason == StopReason::kTokenLimit ? 1 : 0;
  }
  EXPECT_LT(used, 60 + answer);
  EXPECT_GT(stopped, 0);
}

TEST_F(SubAgentsTest, AClone_KnowsWhatWasSaidBefore) {
  Agent lead = scripted(R"({"tool_calls":[{"name":"work","id":"w","arguments":{}}]}
{"text":"done"})");
  History seen;
  lead.use(unlimited("work", [&](ToolContext& context) -> Result<ToolOutput> {
    SubAgent twin = context.clone();
    EXPECT_FALSE(twin.session_id().empty());
    const auto state = fold(*read_records(*journal_, twin.session_id()));
    seen = state->conversation.history();
    EXPECT_EQ(context.tools().size(), 1U);
    return says("made");
  }));
  Session session = session_of(lead);
  ASSERT_TRUE(session.ask("remember me"));
  ASSERT_EQ(seen.messages().size(), 1U);
  EXPECT_EQ(seen.messages()[0]->text(), "remember me");
}

TEST_F(SubAgentsTest, ADetachedAgent_OutlivesTheCall) {
  Agent lead = boss([](ToolContext& context) -> Result<ToolOutput> {
    AgentSpec spec;
    spec.id = "errand";
    spec.plan = JsonArray{JsonObject{{"finish", "went"}}};
    auto made = context.scope->detach(spec, {}, "go");
    if (!made) return fail(made.error());
    return says(made->str());
  });
  Session session = session_of(lead);
  ASSERT_TRUE(session.ask("start"));
  const SessionId errand{result_for(session.history(), "w").text};
  runtime_->stop();
  const auto state = fold(*read_records(*journal_, errand));
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_TRUE(state->parent.empty());
  ASSERT_TRUE(state->last);
  EXPECT_EQ(state->last->text, "went");
  EXPECT_EQ(json_text(state->agent->metadata, "started_by"), session.session_id().str());
}

TEST_F(SubAgentsTest, AHandlerThatRunsAgain_FindsTheSubAgentsItMade) {
  BlockedTool slow;
  SessionId root;
  {
    Agent child = stuck(slow).runtime(nullptr);
    Agent lead = scripted(R"({"tool_calls":[{"name":"helper","id":"h","arguments":{"prompt":"go"}}]}
{"text":"done"})");
    lead.id("lead").runtime(nullptr).use(child.as_tool("helper", "Helps"));
    auto session = runtime_->create_session(lead);
    ASSERT_TRUE(session);
    root = session->session_id();
    auto run = session->send_user_message("start");
    slow.entered->wait();
    runtime_.reset();  // simulates the death of the process: the tool call of the child is in doubt
    EXPECT_FALSE(run.report());
  }
  use_runtime({});
  slow.release->open();
  Agent again_child = scripted(R"({"tool_calls":[{"name":"slow","arguments":{}}]}
{"text":"late"})");
  again_child.id("stuck").use(echo_tool("slow"));
  Agent again = scripted(R"({"tool_calls":[{"name":"helper","id":"h","arguments":{"prompt":"go"}}]}
{"text":"done"})");
  again.id("lead").use(again_child.as_tool("helper", "Helps"));
  const auto waiting = again.resume(root);
  ASSERT_TRUE(waiting) << waiting.error().message;
  EXPECT_EQ(rows().size(), 2U);
  EXPECT_EQ(waiting->status, SessionStatus::kAwaitingUser);
  ASSERT_EQ(waiting->pending.size(), 1U);
  EXPECT_EQ(waiting->pending[0].kind, ParkKind::kInDoubt);
  EXPECT_EQ(waiting->pending[0].path, "lead/stuck");
  EXPECT_EQ(waiting->pending[0].session, child_of(root));
}

}  // namespace
}  // namespace praxis::testing
