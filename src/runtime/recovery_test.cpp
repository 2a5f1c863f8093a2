// The journal decides what happened: after a failed append, a destroyed runtime or a new owner, a session
// continues from its log and repeats nothing that is settled.
#include <gmock/gmock.h>

#include "praxis/core/state.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kCountThenText = R"({"tool_calls": [{"id": "c1", "name": "count"}]}
{"text": "done"})";

class RecoveryTest : public Scripted {
 protected:
  /// Counts its runs; repeatable only if `idempotent`.
  Tool counting_tool(bool idempotent = false) {
    Tool tool = host_tool("count", [this](ToolContext& context, const Json&) -> Result<ToolOutput> {
      const std::lock_guard lock(mutex_);
      keys_.push_back(context.idempotency_key);
      return says("counted");
    });
    tool.definition.idempotent = idempotent;
    return tool;
  }
  std::size_t runs() {
    const std::lock_guard lock(mutex_);
    return keys_.size();
  }

  /// A session that does not keep its runtime alive.
  Session homeless(Agent agent) {
    auto session = runtime_->create_session(agent.runtime(nullptr));
    if (!session) throw std::runtime_error(session.error().message);
    return *session;
  }

  /// Starts a turn and destroys its runtime while the tool runs.
  SessionId cut_off(bool idempotent) {
    BlockedTool blocked;
    Tool tool = blocked.tool("count", false);
    tool.definition.idempotent = idempotent;
    Session session = homeless(scripted(kCountThenText).use(tool));
    auto run = session.send_user_message("go");
    blocked.entered->wait();
    runtime_.reset();
    auto lost = run.report();
    EXPECT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(session.status(), SessionStatus::kError);
    EXPECT_FALSE(session.ask("anyone there?"));
    use_runtime({});
    return session.session_id();
  }

  std::mutex mutex_;
  std::vector<std::string> keys_;
};

class FailedAppend : public RecoveryTest, public ::testing::WithParamInterface<int> {};

TEST_P(FailedAppend, EndsTheRunAndTheSessionContinuesLater) {
  const int nth = GetParam();
  Agent agent = scripted(kCountThenText);
  agent.use(counting_tool());
  Session session = session_of(agent);
  journal_->fail_append(nth);
  auto failed = session.ask("go");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kJournal);
  EXPECT_EQ(failed.error().kind(), ErrorKind::kFull);
  EXPECT_EQ(runs(), nth > 2 ? 1U : 0U) << "only calls with a recorded intent run";
  EXPECT_EQ(session.status(), SessionStatus::kError);
  EXPECT_FALSE(session.ask("again")) << "this handle is no longer usable";

  auto reopened = runtime_->open_session(session.session_id(), agent);
  ASSERT_EQ(reopened.has_value(), nth > 1) << "a session without its prompt";
  if (nth == 1) reopened = session_of(agent);
  auto result = nth == 1 ? reopened->ask("go") : reopened->resume().report();
  ASSERT_TRUE(result) << result.error().message;
  if (nth == 3) {
    ASSERT_EQ(result->pending.size(), 1U) << "the call ran, but its result is not recorded";
    EXPECT_EQ(result->pending[0].kind, ParkKind::kInDoubt);
    result = reopened->resume({{result->pending[0].id, answer("it had counted")}}).report();
    ASSERT_TRUE(result) << result.error().message;
  }
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(runs(), 1U);
  const auto report = replay(*read_records(*journal_, reopened->session_id()));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->divergence);
}

INSTANTIATE_TEST_SUITE_P(OfATurn, FailedAppend, ::testing::Range(1, 5));

TEST_F(RecoveryTest, FailedFirstAppend_MakesNoSession) {
  journal_->fail_append(1);
  Session session = session_of(scripted(R"({"text":"done"})"));
  const auto result = session.ask("go");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kJournal);
  EXPECT_EQ(session.status(), SessionStatus::kError);
  EXPECT_TRUE(read_records(*journal_, session.session_id()).value_or(std::vector<StoredRecord>{}).empty());
}

TEST_F(RecoveryTest, FailedAppendOfADecision_IsReportedToItsCaller) {
  Agent agent = scripted(kCountThenText);
  agent.use(counting_tool()).policy(asking({"count"}));
  Session session = session_of(agent);
  auto parked = session.ask("go");
  ASSERT_TRUE(parked) << parked.error().message;
  journal_->fail_append(1);
  const Status decided = session.decide(parked->pending[0].id, approve());
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, ErrorCode::kJournal);
  EXPECT_EQ(runs(), 0U);
  auto result = agent.resume(session.session_id(), {{parked->pending[0].id, approve()}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(runs(), 1U);
}

TEST_F(RecoveryTest, RuntimeGone_RepeatableCallIsRepeatedUnderItsKey) {
  const SessionId session = cut_off(true);
  auto result = scripted(kCountThenText).use(counting_tool(true)).resume(session);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  ASSERT_EQ(runs(), 1U);
  EXPECT_EQ(keys_[0], session.str() + "/e2");
}

TEST_F(RecoveryTest, RuntimeGone_OtherCallsWaitForADecision) {
  const SessionId session = cut_off(false);
  Agent agent = scripted(kCountThenText);
  agent.use(counting_tool());
  auto parked = agent.resume(session);
  ASSERT_TRUE(parked) << parked.error().message;
  ASSERT_EQ(parked->pending.size(), 1U);
  EXPECT_EQ(parked->pending[0].kind, ParkKind::kInDoubt);
  EXPECT_EQ(runs(), 0U);
  auto result = agent.resume(session, {{parked->pending[0].id, approve()}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(runs(), 1U);
}

TEST_F(RecoveryTest, RuntimeGone_OrTheModelGetsAnError) {
  const SessionId session = cut_off(false);
  auto result = scripted(kCountThenText).use(counting_tool()).in_doubt(InDoubt::kTell).resume(session);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(result->actions.at(0).outcome, Outcome::kUnknown);
  EXPECT_EQ(runs(), 0U);
}

TEST_F(RecoveryTest, RuntimeGone_LeavesNothingBehindOnceItsToolsAreDone) {
  Gate destroyed;
  BlockedTool blocked;
  {
    const auto guard = std::shared_ptr<int>(new int, [&](const int* p) {
      delete p;
      destroyed.open();
    });
    Session session =
        homeless(scripted(kCountThenText).use(blocked.tool("count", false)).approve([guard](auto&) {
          return allow();
        }));
    session.send_user_message("go");
    blocked.entered->wait();
    runtime_.reset();
  }
  blocked.release
      ->open();  // the worker that ran it now releases the session and everything that the session kept alive
  EXPECT_TRUE(destroyed.wait_briefly());
}

TEST_F(RecoveryTest, PausedSession_ResumesInANewRuntime) {
  Session session = homeless(scripted(kCountThenText).use(counting_tool()));
  session.pause("for the night");
  auto run = session.send_user_message("go");
  EXPECT_EQ(session.turns().size(), 1U);
  runtime_.reset();
  EXPECT_FALSE(run.report());
  use_runtime({});
  auto result = scripted(kCountThenText).use(counting_tool()).resume(session.session_id());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
}

TEST_F(RecoveryTest, NewOwner_SilencesTheOldOne) {
  RuntimeOptions options;
  options.journal = journal_;
  const auto other = Runtime::create(std::move(options));
  Session session = session_of(scripted(R"({"text": "one"}
{"text": "two"})"));
  ASSERT_TRUE(session.ask("a"));
  const Agent agent = scripted(R"({"text": "one"}
{"text": "two"})");
  auto held = other->open_session(session.session_id(), agent);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().kind(), ErrorKind::kLeaseHeld);
  auto taken = other->open_session(session.session_id(), agent, true);
  ASSERT_TRUE(taken) << taken.error().message;
  auto late = session.ask("b");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::kLeaseLost);
  auto result = taken->ask("b");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "two");
}

TEST_F(RecoveryTest, SuspendedSessions_AreFoldedAgainWhenNeeded) {
  RuntimeOptions options;
  options.suspend_when_waiting = true;
  use_runtime(std::move(options));
  Agent agent = scripted(R"({"text": "one"}
{"tool_calls": [{"id": "c1", "name": "count"}]}
{"text": "done"})");
  agent.use(counting_tool()).policy(asking({"count"}));
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("a"));
  auto parked = session.ask("b");
  ASSERT_TRUE(parked) << parked.error().message;
  ASSERT_EQ(parked->pending.size(), 1U);
  ASSERT_TRUE(session.resume({{parked->pending[0].id, approve()}}).report());
  EXPECT_EQ(session.last_result().text, "done");
  EXPECT_EQ(session.turns().size(), 6U);
  EXPECT_EQ(runs(), 1U);
}

TEST_F(RecoveryTest, MetadataOfTheSession_SurvivesReopening) {
  const Agent agent = scripted(R"({"text": "x"})");
  SessionId id;
  {
    auto session = runtime_->create_session(agent, JsonObject{{"ticket", 42}});
    ASSERT_TRUE(session) << session.error().message;
    id = session->session_id();
    ASSERT_TRUE(session->ask("go"));
  }
  auto reopened = runtime_->open_session(id, agent);
  ASSERT_TRUE(reopened) << reopened.error().message;
  const auto state = fold(*read_records(*journal_, id));
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(json_int(state->agent->metadata, "ticket"), 42);
}

}  // namespace
}  // namespace praxis::testing
