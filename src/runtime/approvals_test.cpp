// Approvals of calls: what an approval covers, what makes it void, when it expires, who may give it, and that
// no agent below does what the agents above do not allow.
#include <gmock/gmock.h>

#include <list>

#include "praxis/base/executor.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kEchoThenDone =
    R"({"tool_calls": [{"id": "c", "name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done"})";

/// The system's environment, except for a wall clock that the test moves.
class MovedClock final : public Environment {
 public:
  UnixMillis now() override { return system_->now() + Millis{moved_.load()}; }
  std::chrono::nanoseconds monotonic() override { return system_->monotonic(); }
  std::uint64_t random() override { return system_->random(); }
  void move(std::chrono::milliseconds by) { moved_ += by.count(); }

 private:
  const std::shared_ptr<Environment> system_ = system_environment();
  std::atomic<std::int64_t> moved_ = 0;
};

/// Runs everything as usual, except timers of more than ten seconds: those fire when the test says so.
class HeldLongTimers final : public Executor {
 public:
  void post(Task task) override { executor_->post(std::move(task)); }
  void post_blocking(Task task) override { executor_->post_blocking(std::move(task)); }
  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    if (delay < 10s) return executor_->after(delay, std::move(task));
    const std::lock_guard lock(mutex_);
    timers_.emplace_back(++last_, std::move(task));
    return last_;
  }
  void cancel(TimerId timer) override {
    executor_->cancel(timer);
    const std::lock_guard lock(mutex_);
    timers_.remove_if([&](const auto& held) { return held.first == timer; });
  }
  /// Fires the timers held now and returns their number.
  std::size_t fire() {
    std::list<std::pair<TimerId, Task>> due;
    {
      const std::lock_guard lock(mutex_);
      due.swap(timers_);
    }
    for (auto& [id, task] : due) task();
    return due.size();
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<TimerId, Task>> timers_;
  TimerId last_ = TimerId{1} << 40;
  const std::shared_ptr<Executor> executor_ = make_executor();
};

class ApprovalsTest : public Scripted {
 protected:
  /// An agent each of whose calls of `echo` waits for an approval.
  Agent careful(Limits limits = {}) {
    Agent agent = scripted(kEchoThenDone);
    return agent.use(counted_echo()).policy(asking({"echo"})).limits(limits);
  }
  Tool counted_echo() {
    Tool tool = echo_tool();
    tool.handler = [this, echo = tool.handler](ToolContext& context, const Json& arguments) {
      ++runs_;
      return echo(context, arguments);
    };
    return tool;
  }
  /// A session that waits for an approval, in a runtime that has been destroyed.
  SessionId left_waiting(Agent agent) {
    auto session = runtime_->create_session(agent.runtime(nullptr));
    EXPECT_EQ(checked(session->ask("go")).status, SessionStatus::kAwaitingUser);
    reopen();
    EXPECT_FALSE(session->add_user_turn("anyone there?"));
    return session->session_id();
  }
  void reopen() {
    runtime_.reset();
    use_clock();
  }
  void use_clock(std::shared_ptr<Executor> executor = nullptr) {
    RuntimeOptions options;
    options.environment = clock_;
    options.executor = std::move(executor);
    use_runtime(std::move(options));
  }
  std::string said_of_the_call(const Session& session) const {
    return result_for(session.history(), "c").text;
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
  std::atomic<int> runs_ = 0;
};

// ---- what an approval binds

TEST_F(ApprovalsTest, EditedArguments_AreWhatRuns_AndNoHookIsAskedAgain) {
  std::atomic<int> asked = 0;
  Hooks hooks;
  hooks.before_tool.push_back([&](const HookContext&, const ToolCall&) {
    ++asked;
    return ToolHookResult{R"({"text": "hook )" + std::to_string(asked) + "\"}", std::nullopt};
  });
  hooks.approve.push_back([](const ToolCall&) { return needs_approval("sure?"); });
  for (const bool edits : {false, true}) {
    asked = 0;
    Agent agent = scripted(kEchoThenDone);
    Session session = session_of(agent.use(counted_echo()).hooks(hooks));
    const AgentResult waits = checked(session.ask("go"));
    ASSERT_EQ(waits.pending.at(0).arguments, R"({"text": "hook 1"})");
    const Approval approval = edits ? edit(R"({"text": "mine"})") : approve();
    EXPECT_EQ(checked(session.resume({{waits.pending[0].id, approval}}).report()).text, "done");
    EXPECT_EQ(said_of_the_call(session), edits ? "mine" : "hook 1");
    EXPECT_EQ(asked, 1);
  }
}

TEST_F(ApprovalsTest, AHookThatChangesArguments_GetsNoMoreThanTheRulesAllow) {
  PolicyRules rules = asking({"echo"});
  rules.calls = {{"echo", JsonObject{{"text", "abc"}}}};
  Agent agent = scripted(kEchoThenDone);
  agent.use(counted_echo()).policy(rules);
  EXPECT_EQ(checked(agent.run("go")).text, "done") << "exactly this call is allowed";
  Hooks hooks;
  hooks.before_tool.push_back([](const HookContext&, const ToolCall&) {
    return ToolHookResult{R"({"text": "another"})", std::nullopt};
  });
  const AgentResult waits = checked(agent.hooks(hooks).run("go"));
  ASSERT_EQ(waits.pending.size(), 1U);
  EXPECT_EQ(waits.pending[0].arguments, R"({"text": "another"})");
  EXPECT_EQ(runs_, 1);
}

TEST_F(ApprovalsTest, ApproversAbove_SeeTheChangesOfThoseBelow) {
  Agent leaf = scripted(kEchoThenDone);
  leaf.use(counted_echo()).approve([](const ToolCall&) { return edit(R"({"text": "worse"})"); });
  Agent root = above(leaf, "root");
  root.approve([](const ToolCall& call) {
    return call.arguments.contains("worse") ? deny("worse than abc") : allow();
  });
  EXPECT_EQ(checked(root.run("go")).text, "done");
  EXPECT_EQ(runs_, 0);
}

// ---- rules that changed

TEST_F(ApprovalsTest, ChangedRules_VoidTheApproval) {
  struct Case {
    PolicyRules rules;
    std::string said;
  };
  PolicyRules denies, wider;
  denies.deny = {"echo"};
  const std::vector<Case> cases = {{denies, "Not allowed by policy. The agent's rules deny \"echo\"."},
                                   {wider, "abc"},
                                   {asking({"*"}), "waits"}};
  for (const auto& [rules, said] : cases) {
    runs_ = 0;
    const SessionId id = left_waiting(careful());
    auto session = runtime_->open_session(id, careful().policy(rules).runtime(nullptr));
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(runs_, 0) << "the session was not resumed";
    auto refused = session->resume({{ParkId{"p1"}, approve()}}).report();
    ASSERT_FALSE(refused) << said;
    EXPECT_THAT(refused.error().message, HasSubstr("nothing is parked as \"p1\""));
    const AgentResult result = checked(session->resume().report());
    if (said == "waits") {
      ASSERT_EQ(result.pending.size(), 1U);
      EXPECT_EQ(result.pending[0].id.str(), "p2");
    } else {
      EXPECT_EQ(result.text, "done");
      EXPECT_EQ(said_of_the_call(*session), said);
      EXPECT_EQ(runs_, said == "abc" ? 1 : 0);
    }
  }
}

TEST_F(ApprovalsTest, SameRules_KeepTheApprovalAcrossProcesses) {
  const SessionId id = left_waiting(careful());
  auto session = runtime_->open_session(id, careful().runtime(nullptr));
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(checked(session->resume({{ParkId{"p1"}, edit(R"({"text": "x"})")}}).report()).text, "done");
  EXPECT_EQ(said_of_the_call(*session), "x");
  EXPECT_EQ(runs_, 1);
}

// ---- time

TEST_F(ApprovalsTest, NoDecisionInTime_TheStepCountsAsDenied) {
  Session session = session_of(careful(limit(&Limits::max_wait, Millis{30})));
  Gate done;
  const auto watching = session.on("turn.completed", [&](const Event&) { done.open(); });
  checked(session.ask("go"));
  ASSERT_TRUE(done.wait_briefly());
  EXPECT_EQ(said_of_the_call(session), "Not allowed: nobody decided in time.");
  EXPECT_EQ(runs_, 0);
  const Status late = session.decide(ParkId("p1"), approve());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kInput);
}

TEST_F(ApprovalsTest, AClockThatJumps_EndsTheWaitOnceAndOnlyWhenItIsOver) {
  const auto timers = std::make_shared<HeldLongTimers>();
  use_clock(timers);
  Session session = session_of(careful(limit(&Limits::max_wait, Millis{3'600'000})));
  Gate done;
  std::atomic<int> decided = 0;
  const auto watching = session.on("step.decided", [&](const Event&) { ++decided; });
  const auto ended = session.on("turn.completed", [&](const Event&) { done.open(); });
  checked(session.ask("go"));
  const auto fire = [&] {
    const std::size_t fired = timers->fire();
    session.status();  // waits until the strand has handled the timers
    return fired;
  };
  EXPECT_EQ(fire(), 1U);
  clock_->move(std::chrono::hours{-5});
  EXPECT_EQ(fire(), 1U) << "it looks at the clock again";
  EXPECT_EQ(session.status(), SessionStatus::kAwaitingUser);
  clock_->move(std::chrono::hours{7});
  EXPECT_EQ(fire(), 1U);
  ASSERT_TRUE(done.wait_briefly());
  clock_->move(std::chrono::hours{-7});
  clock_->move(std::chrono::hours{9});
  fire();
  EXPECT_EQ(said_of_the_call(session), "Not allowed: nobody decided in time.");
  EXPECT_EQ(decided, 1);
}

TEST_F(ApprovalsTest, ADecisionBeforeTheTimerNotices_IsTooLateAllTheSame) {
  use_clock();
  Session session = session_of(careful(limit(&Limits::max_wait, Millis{3'600'000})));
  Gate done;
  const auto ended = session.on("turn.completed", [&](const Event&) { done.open(); });
  const AgentResult waits = checked(session.ask("go"));
  clock_->move(std::chrono::hours{2});
  EXPECT_FALSE(session.decide(waits.pending.at(0).id, approve()));
  ASSERT_TRUE(done.wait_briefly());
  EXPECT_EQ(runs_, 0);
}

TEST_F(ApprovalsTest, TimeThatRanOutMeanwhile_IsSeenWhenTheSessionIsResumed) {
  for (const bool decides : {false, true}) {
    reopen();
    const SessionId id = left_waiting(careful(limit(&Limits::max_wait, Millis{3'600'000})));
    clock_->move(std::chrono::hours{2});
    auto session =
        runtime_->open_session(id, careful(limit(&Limits::max_wait, Millis{3'600'000})).runtime(nullptr));
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(session->status(), SessionStatus::kAwaitingUser) << "looking at it changes nothing";
    Gate done;
    const auto ended = session->on("turn.completed", [&](const Event&) { done.open(); });
    const auto result =
        session->resume(decides ? Approvals{{ParkId{"p1"}, approve()}} : Approvals{}).report();
    EXPECT_EQ(result.has_value(), !decides);
    ASSERT_TRUE(done.wait_briefly()) << "the turn ends in both cases";
    EXPECT_EQ(said_of_the_call(*session), "Not allowed: nobody decided in time.");
    EXPECT_EQ(runs_, 0);
  }
}

// ---- access

TEST_F(ApprovalsTest, MissingAccess_IsGrantedByTheUserAndTheCallRunsAgain) {
  for (const bool given : {true, false}) {
    std::atomic<bool> signed_in = false;
    Agent agent = scripted(R"({"tool_calls": [{"id": "c", "name": "mail"}]}
{"text": "done"})");
    agent.use(host_tool("mail", [&](ToolContext& context, const Json&) -> Result<ToolOutput> {
      if (!signed_in) return fail_authorisation("Sign in at mail.example");
      return says("attempt " + std::to_string(context.attempt));
    }));
    Session session = session_of(agent);
    const AgentResult waits = checked(session.ask("go"));
    ASSERT_EQ(waits.pending.size(), 1U);
    EXPECT_EQ(waits.pending[0].kind, ParkKind::kAuthorisation);
    EXPECT_EQ(waits.pending[0].prompt, "Sign in at mail.example");
    EXPECT_FALSE(session.answer(waits.pending[0].id, "no answer will do"));
    signed_in = given;
    const Approval approval = given ? approve() : reject("not today");
    EXPECT_EQ(checked(session.resume({{waits.pending[0].id, approval}}).report()).text, "done");
    EXPECT_EQ(said_of_the_call(session), given ? "attempt 2" : "Not allowed by person. not today");
  }
}

TEST_F(ApprovalsTest, AccessThatACallWithinACallLacks_IsGrantedWhileItsHandlerWaits) {
  std::atomic<bool> signed_in = false;
  Agent agent = scripted(R"({"tool_calls": [{"id": "c", "name": "outer"}]}
{"text": "done"})");
  agent.use(host_tool("mail", [&](ToolContext&, const Json&) -> Result<ToolOutput> {
    if (!signed_in) return fail_authorisation("Sign in");
    return says("letter");
  }));
  agent.use(host_tool(
      "outer", [](ToolContext& context, const Json&) { return context.call_tool("mail", JsonObject{}); }));
  Session session = session_of(agent);
  const AgentResult waits = checked(session.ask("go"));
  ASSERT_EQ(waits.pending.size(), 1U);
  signed_in = true;
  EXPECT_EQ(checked(session.resume({{waits.pending[0].id, approve()}}).report()).text, "done");
  EXPECT_EQ(said_of_the_call(session), "letter");
}

TEST_F(ApprovalsTest, CallThatTheMachineCannotRun_WaitsAndTellsTheModelNothing) {
  for (const std::string end : {"allowed", "denied", "stopped"}) {
    SCOPED_TRACE(end);
    std::atomic<bool> repaired = false;
    Agent agent = scripted(R"({"tool_calls": [{"id": "c", "name": "shell"}]}
{"text": "done"})");
    agent.use(host_tool("shell", [&](ToolContext&, const Json&) -> Result<ToolOutput> {
      if (repaired) return says("ran");
      return fail(ErrorCode::kPolicy, ErrorKind::kMachine, "no namespaces");
    }));
    Session session = session_of(agent);
    const AgentResult waits = checked(session.ask("go"));
    ASSERT_EQ(waits.pending.size(), 1U);
    EXPECT_EQ(waits.pending[0].kind, ParkKind::kMachine);
    EXPECT_EQ(waits.pending[0].prompt, "no namespaces");
    if (end == "stopped") {
      session.interrupt();
      checked(session.ask("again"));
      EXPECT_EQ(said_of_the_call(session), "Not run: it was not possible at that time.");
      continue;
    }
    repaired = end == "allowed";
    const Approval approval = repaired ? approve() : reject({});
    EXPECT_EQ(checked(session.resume({{waits.pending[0].id, approval}}).report()).text, "done");
    EXPECT_EQ(said_of_the_call(session),
              repaired ? "ran" : "Not run: it was not possible, and a person decided against it.");
  }
}

// ---- in the tree

TEST_F(ApprovalsTest, AtDepthThree_EveryDecisionReachesTheCall) {
  const std::vector<std::pair<Approval, std::string>> cases = {
      {approve(), "abc"},
      {reject("not on Fridays"), "Not allowed by person. not on Fridays"},
      {edit(R"({"text": "xyz"})"), "xyz"}};
  for (const auto& [approval, said] : cases) {
    const Agent leaf = careful().id("leaf");
    Session session = session_of(above(above(above(leaf, "c"), "b"), "a"));
    const AgentResult waits = checked(session.ask("go"));
    ASSERT_EQ(waits.pending.size(), 1U);
    EXPECT_EQ(waits.pending[0].path, "a/b/c/leaf");
    auto deep = runtime_->open_session(waits.pending[0].session, leaf);
    ASSERT_TRUE(deep) << deep.error().message;
    Gate done;
    const auto ended = session.on("turn.completed", [&](const Event& event) {
      if (event.agent.depth == 0) done.open();
    });
    EXPECT_TRUE(deep->decide(waits.pending[0].id, approval));
    ASSERT_TRUE(done.wait_briefly());
    EXPECT_EQ(said_of_the_call(*deep), said);
  }
}

TEST_F(ApprovalsTest, CallsThatTheRulesAboveDoNotAllow_AreDeniedBelow) {
  Tool unsafe = counted_echo();
  unsafe.definition.safe_by_default = false;
  PolicyRules allows, denies, names_others;
  allows.allow = {"echo", "work"};
  denies.deny = {"echo"};
  names_others.allow = {"http"};
  struct Case {
    PolicyRules above;
    int runs;
    std::size_t pending;
  };
  for (const auto& [rules, runs, pending] :
       std::vector<Case>{{allows, 1, 0}, {denies, 0, 0}, {names_others, 0, 0}, {asking({"echo"}), 0, 1}}) {
    runs_ = 0;
    Agent leaf = scripted(kEchoThenDone);
    leaf.use(unsafe).policy(allows);
    Agent root = above(above(leaf, "middle").policy(allows), "root");
    const AgentResult result = checked(root.policy(rules).run("go"));
    EXPECT_EQ(runs_, runs);
    EXPECT_EQ(result.pending.size(), pending);
  }
}

}  // namespace
}  // namespace praxis::testing
