// That a run is dropped when it is idle, and never while a turn begins in it.
#include "server/open_runs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/testing/scripted.hpp"

namespace praxis::server {
namespace {

using praxis::testing::BlockedTool;
using praxis::testing::Gate;
using namespace std::chrono_literals;

class OpenRunsTest : public praxis::testing::Scripted {
 protected:
  void keep(const Session& session) { std::ignore = runs_->keep(run_, session); }
  bool is_open() const { return runs_->find(run_).has_value(); }
  bool becomes_closed() const {
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (is_open() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    return !is_open();
  }

  /// A session whose turn works until the tool is released, and then says "Done.".
  Session session_with(const BlockedTool& blocked) {
    return session_of(
        scripted("{\"tool_calls\":[{\"name\":\"wait\",\"arguments\":{}}]}\n{\"text\":\"Done.\"}")
            .use(blocked.tool("wait", true)));
  }

  const SessionId run_{"run"};
  const std::shared_ptr<OpenRuns> runs_ = std::make_shared<OpenRuns>(runtime_->model_services().executor);
};

TEST_F(OpenRunsTest, IdleRunIsClosed) {
  keep(session_of(scripted(R"({"text":"Hello."})")));
  runs_->close_if_idle(run_);
  EXPECT_FALSE(is_open());
  runs_->close_if_idle(run_);
}

TEST_F(OpenRunsTest, RunAtWorkStaysOpen) {
  const BlockedTool blocked;
  const Session session = session_with(blocked);
  keep(session);
  praxis::Run turn = Session(session).send_user_message("go");
  ASSERT_TRUE(blocked.entered->wait_briefly());
  runs_->close_if_idle(run_);
  EXPECT_TRUE(is_open());
  blocked.release->open();
  EXPECT_EQ(checked(turn.result()).text, "Done.");
}

TEST_F(OpenRunsTest, RunInUseIsClosedAfterItsLastUse) {
  keep(session_of(scripted(R"({"text":"Hello."})")));
  auto first = runs_->use(run_), second = runs_->use(run_);
  ASSERT_TRUE(first && second);
  runs_->close_if_idle(run_);
  EXPECT_TRUE(is_open());
  first.reset();
  EXPECT_TRUE(is_open());
  second.reset();
  EXPECT_TRUE(becomes_closed());
}

// The session answers that it is idle; before the run is dropped, a request begins a turn in it and is done.
TEST_F(OpenRunsTest, RunInWhichATurnBeginsWhileItIsBeingClosedStaysOpen) {
  const BlockedTool blocked;
  Gate ended, may_end;
  Agent agent = scripted(R"({"text":"One."}
{"tool_calls":[{"name":"wait","arguments":{}}]}
{"text":"Two."})")
                    .use(blocked.tool("wait", true))
                    .on("turn.completed", [&](const Event&) {  // on the strand of the session
                      ended.open();
                      EXPECT_TRUE(may_end.wait_briefly());
                    });
  Session session = session_of(agent);
  keep(session);
  std::optional<praxis::Run> first;
  // In a thread of its own: who sends a message may work on it, and would wait in the handler then.
  std::jthread sending([&] { first = session.send_user_message("go"); });
  ASSERT_TRUE(ended.wait_briefly());
  std::jthread closing([&] { runs_->close_if_idle(run_); });
  std::this_thread::sleep_for(50ms);  // it asks the session, which answers later
  std::optional<praxis::Run> second;
  std::jthread beginning([&] {  // waits for the session likewise
    auto used = runs_->use(run_);
    ASSERT_TRUE(used);
    second = (*used)->send_user_message("again");
  });
  std::this_thread::sleep_for(50ms);
  may_end.open();
  sending.join();
  beginning.join();
  closing.join();
  ASSERT_TRUE(blocked.entered->wait_briefly());
  EXPECT_TRUE(is_open()) << "a turn is at work in it";
  blocked.release->open();
  EXPECT_EQ(checked(second->result()).text, "Two.");
  runs_->close_if_idle(run_);
  EXPECT_FALSE(is_open());
}

TEST_F(OpenRunsTest, RunThatWasReplacedIsNotClosedByAnOldUse) {
  keep(session_of(scripted(R"({"text":"Hello."})")));
  auto old = runs_->use(run_);
  runs_->close_if_idle(run_);
  runs_->forget(run_);
  const BlockedTool blocked;
  const Session later = session_with(blocked);
  keep(later);
  praxis::Run turn = Session(later).send_user_message("go");
  ASSERT_TRUE(blocked.entered->wait_briefly());
  old.reset();
  EXPECT_TRUE(is_open());
  blocked.release->open();
  EXPECT_EQ(checked(turn.result()).text, "Done.");
}

}  // namespace
}  // namespace praxis::server
