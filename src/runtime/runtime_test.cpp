// One runtime, many sessions and threads.
#include "praxis/runtime/runtime.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <random>
#include <thread>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

class RuntimeTest : public Scripted {
 protected:
  /// Calls `echo` in `steps` steps and then answers.
  Agent busy(int steps) {
    std::string script;
    for (int i = 0; i < steps; ++i) {
      const std::string n = std::to_string(i);
      script += R"({"tool_calls": [{"id": "a)" + n + R"(", "name": "echo", "arguments": {"text": "a)" + n +
                R"("}}, {"id": "b)" + n + R"(", "name": "echo", "arguments": {"text": "b)" + n + R"("}}]})" +
                "\n";
    }
    for (int i = 0; i < 50; ++i) script += "{\"text\": \"done\"}\n";
    return scripted(script).use(echo_tool());
  }
};

TEST_F(RuntimeTest, TwoHundredSessions_RunAtOnce) {
  const Agent agent = busy(3);
  std::atomic<int> completed = 0;
  const auto counting = runtime_->on("turn.completed", [&](const Event&) { ++completed; });
  std::vector<praxis::Run> runs;
  for (int i = 0; i < 200; ++i) runs.push_back(session_of(agent).send_user_message("go"));
  for (auto& run : runs) {
    auto result = run.report();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->success);
    EXPECT_EQ(result->actions.size(), 6U);
  }
  EXPECT_EQ(completed, 200);
}

/// What a thread keeps until it ends. Members are destroyed in reverse order: the runtime before the session.
struct Kept {
  std::optional<Session> session;
  std::shared_ptr<Runtime> runtime;
};

TEST_F(RuntimeTest, RuntimeThatOutlivesWhatIsLocalToItsThread_EndsItsSessions) {
  const Agent agent = busy(1);
  std::thread([&] {
    thread_local Kept kept;  // before the thread runs a session, so destroyed after what sessions keep in it
    kept.runtime = Runtime::create({});
    kept.session = *kept.runtime->create_session(agent);
    // Often, so that some of it runs in this thread.
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(kept.session->ask("go"));
  }).join();
}

TEST_F(RuntimeTest, AnyInterventionsAtAnyTime_TheSessionStaysConsistent) {
  for (unsigned round = 0; round < 20; ++round) {
    use_runtime({});  // a stopped one takes no more work
    const Agent agent = busy(6);
    Session session = session_of(agent);
    auto run = session.send_user_message("go");
    {
      std::vector<std::jthread> people;
      for (unsigned person = 0; person < 4; ++person) {
        people.emplace_back([session, seed = round * 10 + person]() mutable {
          std::mt19937 random(seed);
          for (int i = 0; i < 8; ++i) {
            switch (random() % 8) {
              case 0:
                session.steer("steered");
                break;
              case 1:
                session.enqueue("queued");
                break;
              case 2:
                session.pause();
                break;
              case 3:
                session.unpause();
                break;
              case 4:
                session.annotate("noted");
                break;
              case 5:
                (void)session.send_user_message("refused or not").session_id();
                break;
              case 6:
                (void)session.turns();
                break;
              default:
                if (random() % 4 == 0) session.interrupt();
            }
          }
        });
      }
    }
    session.unpause();
    auto result = run.report();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->success || result->aborted()) << to_string(*result->reason);
    runtime_->stop();
    EXPECT_EQ(unanswered(session.history()), 0U);
    const auto report = replay(*read_records(*journal_, session.session_id()));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->divergence) << "round " << round << ", record " << report->divergence->seq << ", "
                                     << report->divergence->field << ": " << report->divergence->expected
                                     << ", now " << report->divergence->found;
  }
}

TEST_F(RuntimeTest, LiveSession_IsOpenedAsItIs) {
  const Agent agent = busy(1);
  Session session = session_of(agent);
  auto same = runtime_->open_session(session.session_id(), agent);
  ASSERT_TRUE(same) << same.error().message;
  ASSERT_TRUE(same->ask("go"));
  EXPECT_EQ(session.turns().size(), 4U);
}

TEST_F(RuntimeTest, UnknownSession_CannotBeOpened) {
  auto unknown = runtime_->open_session(SessionId{"01HZZZZZZZZZZZZZZZZZZZZZZZ"}, busy(1));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kJournal);
  EXPECT_EQ(unknown.error().kind(), ErrorKind::kNotFound);
}

TEST_F(RuntimeTest, AgentWithoutARuntime_RunsInTheDefaultOne) {
  auto model = script_model(R"({"text": "hello"})", "test", default_runtime()->model_services().executor);
  ASSERT_TRUE(model) << model.error().message;
  Agent agent;
  auto result = agent.model(*model).run("hi");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "hello");
}

TEST_F(RuntimeTest, DroppedHandles_CancelNothing) {
  Gate completed;
  const auto watching = runtime_->on("turn.completed", [&](const Event&) { completed.open(); });
  session_of(busy(3)).send_user_message("go");
  EXPECT_TRUE(completed.wait_briefly());
}

}  // namespace
}  // namespace praxis::testing
