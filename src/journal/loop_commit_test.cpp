// Who commits a write that comes from an event loop: the loop itself while it is the only one, and the
// writer's thread as soon as anybody else is waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <thread>

#include "journal/testing/journals.hpp"
#include "praxis/base/executor.hpp"

namespace praxis::testing {
namespace {

using namespace std::chrono_literals;

const SessionId kSession("01SESSION"), kOther("01OTHER");

class LoopCommitTest : public ::testing::Test {
 protected:
  /// Calls `work` on the event loop and waits for it.
  template <class Work>
  auto on_loop(Work work) {
    std::packaged_task<std::invoke_result_t<Work>()> task(std::move(work));
    auto result = task.get_future();
    executor_->post(std::move(task));
    return result.get();
  }
  std::thread::id loop() {
    return on_loop([] { return std::this_thread::get_id(); });
  }
  /// Writes an entry to a session of its own from the thread that calls. Who says that it is durable.
  std::future<std::thread::id> write(const SessionId& session, Task then = [] {}) {
    auto durable = std::make_shared<std::promise<std::thread::id>>();
    auto teller = durable->get_future();
    journal_->append(append_of(*journal_->create(session, {5}), 0, {"x"}),
                     [durable, then = std::move(then)](Result<std::uint64_t> written) mutable {
                       EXPECT_TRUE(written);
                       then();
                       durable->set_value(std::this_thread::get_id());
                     });
    return teller;
  }
  /// Somebody has to stand by before the loop takes what may block; and on a busy machine it becomes wary.
  bool loop_takes_writes() {
    for (int i = 0; i < 1'000; ++i) {
      const auto teller = on_loop([&] { return write(SessionId(std::to_string(i))); }).get();
      if (teller == loop()) return true;
    }
    return false;
  }
  static bool is_told(const std::future<std::thread::id>& teller) {
    return teller.wait_for(10s) == std::future_status::ready;
  }
  bool holds(const SessionId& session) { return open_journal(folder_ / "j")->read(session)->size() == 1; }

  TemporaryFolder folder_;
  std::shared_ptr<Journal> journal_ = open_journal(folder_ / "j");
  std::shared_ptr<Executor> executor_ = make_executor();
};

TEST_F(LoopCommitTest, AWriteThatComesAlone_IsCommittedByTheLoop) {
  ASSERT_TRUE(loop_takes_writes());
  EXPECT_TRUE(holds(SessionId("0")));
}

TEST_F(LoopCommitTest, WritesThatComeTogether_ShareACommitElsewhere) {
  ASSERT_TRUE(loop_takes_writes());
  auto [one, other] = on_loop([&] { return std::pair(write(kSession), write(kOther)); });
  const auto teller = one.get();
  EXPECT_NE(teller, loop());
  EXPECT_EQ(teller, other.get());
}

TEST_F(LoopCommitTest, ALoopThatWaitsForTheJournal_IsNotWaitedFor) {
  ASSERT_TRUE(loop_takes_writes());
  auto teller = on_loop([&] {
    auto written = write(kSession);
    EXPECT_TRUE(journal_->post(kSession, "hello", {5}));
    return written;
  });
  EXPECT_TRUE(is_told(teller));
}

TEST_F(LoopCommitTest, ATaskThatWaitsForItsOwnWrite_GetsIt) {
  ASSERT_TRUE(loop_takes_writes());
  std::promise<bool> told;
  executor_->post([&] { executor_->post_blocking([&] { told.set_value(is_told(write(kSession))); }); });
  EXPECT_TRUE(told.get_future().get());
}

TEST_F(LoopCommitTest, AWriteIsNotLost_WhenTheLoopEnds) {
  ASSERT_TRUE(loop_takes_writes());
  std::promise<void> lent;
  std::future<std::thread::id> teller;
  executor_->post([&] {
    teller = write(kSession);
    lent.set_value();
    std::this_thread::sleep_for(20ms);
  });
  lent.get_future().wait();
  executor_.reset();
  EXPECT_TRUE(is_told(teller));
}

TEST_F(LoopCommitTest, AWriteIsNotLost_WhenTheJournalEnds) {
  ASSERT_TRUE(loop_takes_writes());
  auto teller = on_loop([&] {
    auto written = write(kSession);
    journal_.reset();
    return written;
  });
  EXPECT_TRUE(is_told(teller));
  EXPECT_TRUE(holds(kSession));
}

TEST_F(LoopCommitTest, WhoHearsOfAWrite_MayEndTheJournal) {
  ASSERT_TRUE(loop_takes_writes());
  auto teller = on_loop([&] { return write(kSession, [&] { journal_.reset(); }); });
  ASSERT_TRUE(is_told(teller));
  EXPECT_TRUE(holds(kSession));
}

}  // namespace
}  // namespace praxis::testing
