#include "app/calls_in_doubt.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "app/pending_steps.hpp"
#include "journal/testing/journals.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::app {
namespace {

/// A run whose process ended while its tool ran, in a journal file.
class CallsInDoubt : public testing::Scripted {
 protected:
  CallsInDoubt() {
    journal_ = std::make_shared<testing::UnreliableJournal>(testing::open_journal(workspace_.journal));
    use_runtime({});
  }
  void leave(bool idempotent, InDoubt mode = InDoubt::kPark) {
    testing::BlockedTool blocked;
    Tool tool = blocked.tool("pay", false);
    tool.definition.idempotent = idempotent;
    Agent agent = scripted(R"({"tool_calls": [{"id": "c", "name": "pay", "arguments": {"sum": 7}}]})");
    agent.id("lead").runtime(nullptr).in_doubt(mode).use(std::move(tool));
    auto session = runtime_->create_session(agent);
    if (!session) throw std::runtime_error(session.error().message);
    run_ = session->session_id();
    auto run = session->send_user_message("go");
    blocked.entered->wait();
    runtime_.reset();
    EXPECT_FALSE(run.report());
    blocked.release->open();
    while (journal_->session(run_)->held) std::this_thread::yield();  // a released lease counts for a moment
  }
  std::vector<CallInDoubt> found() const {
    const auto calls = calls_in_doubt(workspace_);
    EXPECT_TRUE(calls) << calls.error().message;
    return calls.value_or(std::vector<CallInDoubt>{});
  }

  const testing::TemporaryFolder folder_;
  const Workspace workspace_{
      .config = {}, .project = nullptr, .journal = folder_ / "j", .journal_given = true};
  SessionId run_;
};

TEST_F(CallsInDoubt, CallOfARunWhoseProcessEnded_IsFoundBeforeItIsResumed) {
  leave(false);
  const auto calls = found();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].root, run_);
  EXPECT_EQ(calls[0].tool, "pay");
  EXPECT_TRUE(pending_in(workspace_)->empty()) << "nothing is parked yet";
  const std::string text = doubt_text(workspace_, calls[0], 0);
  EXPECT_TRUE(text.contains("  | call pay\n  | sum: 7\n")) << text;
  EXPECT_TRUE(text.contains("praxis resume " + run_.str())) << text;
  EXPECT_EQ(json_string(doubt_json(calls[0]), "resume"), run_.str());
}

TEST_F(CallsInDoubt, RepeatableCall_IsNotInDoubt) {
  leave(true);
  EXPECT_TRUE(found().empty());
}

TEST_F(CallsInDoubt, CallThatTheModelWillBeInformedOf_AsksNoHuman) {
  leave(false, InDoubt::kTell);
  EXPECT_TRUE(found().empty());
}

TEST_F(CallsInDoubt, MissingJournal_HasNone) {
  const Workspace none{.config = {}, .project = nullptr, .journal = folder_ / "none", .journal_given = true};
  const auto calls = calls_in_doubt(none);
  ASSERT_TRUE(calls) << calls.error().message;
  EXPECT_TRUE(calls->empty());
}

}  // namespace
}  // namespace praxis::app
