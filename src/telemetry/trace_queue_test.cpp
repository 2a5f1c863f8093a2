#include "telemetry/trace_queue.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "net/testing/test_server.hpp"
#include "runtime/testing/trees.hpp"
#include "telemetry/live_export.hpp"

namespace praxis::testing {
namespace {

using telemetry::Collector;
using telemetry::CollectorSettings;
using telemetry::LiveExport;
using telemetry::TraceQueue;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class TraceQueueTest : public Trees {
 protected:
  CollectorSettings settings() const {
    CollectorSettings settings;
    settings.endpoint = server_.url("");
    settings.protocol = telemetry::Protocol::kJson;
    return settings;
  }
  TraceQueue queue() const {
    auto opened = TraceQueue::open(journal_, file());
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  std::string file() const { return folder_ / "runs.db.traces"; }
  telemetry::QueuePass pass(TraceQueue& queue) {
    Collector collector(settings());
    auto sent = queue.send(collector, {});
    if (!sent) throw std::runtime_error(sent.error().message);
    return *std::move(sent);
  }
  /// One more finished turn.
  void run_turn() {
    Session session = start(chain(1, speaker()));
    ASSERT_TRUE(session.send_user_message("go").report());
  }
  /// How many spans of this name were sent.
  std::size_t sent(const std::string& name) {
    std::size_t count = 0;
    for (const TestRequest& request : server_.requests()) {
      const std::string wanted = "\"name\":\"" + name + '"';
      for (auto at = request.body.find(wanted); at != std::string::npos;
           at = request.body.find(wanted, at + 1))
        ++count;
    }
    return count;
  }

  TemporaryFolder folder_;
  std::atomic<int> status_ = 200;
  std::function<void()> on_request_ = [] {};
  TestServer server_{[this](const TestRequest&, TestConnection& to) {
    on_request_();
    to.write(http_reply(status_, "{}"));
  }};
};

TEST_F(TraceQueueTest, TurnsThatEndAfterItsStart_AreSentOnce) {
  run_turn();
  TraceQueue queue = this->queue();
  EXPECT_EQ(pass(queue).turns, 0U) << "it ended before";
  run_turn();
  run_turn();
  EXPECT_EQ(pass(queue).turns, 2U);
  EXPECT_EQ(sent("invoke_agent a0"), 2U);
  EXPECT_EQ(sent("invoke_agent leaf"), 2U);
  EXPECT_EQ(pass(queue).turns, 0U);
  TraceQueue of_next_process = this->queue();
  EXPECT_EQ(pass(of_next_process).turns, 0U);
}

TEST_F(TraceQueueTest, CollectorThatIsAway_GetsTheTurnsLater) {
  TraceQueue queue = this->queue();
  run_turn();
  status_ = 503;
  const auto away = pass(queue);
  ASSERT_TRUE(away.error);
  EXPECT_EQ(away.turns, 0U);
  EXPECT_GT(queue.away_since().value, 0);
  run_turn();
  status_ = 200;
  TraceQueue of_next_process = this->queue();
  EXPECT_EQ(pass(of_next_process).turns, 2U);
  EXPECT_EQ(of_next_process.away_since().value, 0);
}

TEST_F(TraceQueueTest, TurnThatIsRefused_DoesNotStopTheOthers) {
  TraceQueue queue = this->queue();
  run_turn();
  status_ = 400;
  EXPECT_EQ(pass(queue).refused, 1U);
  status_ = 200;
  run_turn();
  EXPECT_EQ(pass(queue).turns, 1U);
}

TEST_F(TraceQueueTest, LongQueue_LosesItsOldestTurns) {
  TraceQueue queue = this->queue();
  run_turn();
  const auto before = *journal_->last_position();
  run_turn();
  queue.set_bound(*journal_->last_position() - before);
  const auto passed = pass(queue);
  EXPECT_GT(passed.dropped, 0U);
  EXPECT_EQ(passed.turns, 1U);
}

TEST_F(TraceQueueTest, Fork_DoesNotSendTheTurnsOfItsOriginalAgain) {
  Session original = start(speaker());
  ASSERT_TRUE(original.send_user_message("go").report());
  TraceQueue queue = this->queue();
  const auto forked = fork_session(*journal_, *system_environment(), original.session_id());
  ASSERT_TRUE(forked);
  EXPECT_EQ(pass(queue).turns, 1U) << "the turn is looked at";
  EXPECT_EQ(sent("invoke_agent leaf"), 0U);
}

TEST_F(TraceQueueTest, TwoProcesses_DoNotSendAtTheSameTime) {
  TraceQueue one = queue(), other = queue();
  run_turn();
  std::optional<bool> busy;
  on_request_ = [&] {
    if (!busy) busy = pass(other).busy;
  };
  EXPECT_EQ(pass(one).turns, 1U);
  EXPECT_EQ(busy, true);
}

TEST_F(TraceQueueTest, LiveExport_SendsWhatIsLeftWhenItEnds) {
  auto live = LiveExport::start(journal_, {.collector = settings(), .file = file(), .interval = 1h});
  ASSERT_TRUE(live) << live.error().message;
  run_turn();
  live->reset();
  EXPECT_EQ(sent("invoke_agent leaf"), 1U);
}

TEST_F(TraceQueueTest, LiveExport_ThatEndsWhileItSends_SendsWhatEndedMeanwhileToo) {
  std::promise<void> begun;
  std::atomic<bool> is_first = true;
  on_request_ = [&] {
    if (!is_first.exchange(false)) return;
    begun.set_value();
    std::this_thread::sleep_for(200ms);  // the second turn and the end come meanwhile
  };
  auto live = LiveExport::start(journal_, {.collector = settings(), .file = file(), .interval = 1ms});
  ASSERT_TRUE(live) << live.error().message;
  run_turn();
  begun.get_future().wait();
  run_turn();
  live->reset();
  EXPECT_EQ(sent("invoke_agent leaf"), 2U);
}

}  // namespace
}  // namespace praxis::testing
