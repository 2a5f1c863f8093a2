// Which thread commits a write from an event loop: the loop itself while the write is the only one, the
// writer thread as soon as another is queued.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "journal/testing/journals.hpp"
#include "praxis/base/executor.hpp"

namespace praxis::testing {
namespace {

using namespace std::chrono_literals;

class LoopCommitTest : public ::testing::Test {
 protected:
  /// Runs `work` on the event loop and waits for it.
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
  /// Writes an entry to a new session on the calling thread. The result is the thread that reports it
  /// durable.
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
  /// Waits until the loop accepts blocking tasks: the standby thread must be ready, and on a busy machine the
  /// loop stops accepting them for a while.
  bool loop_takes_writes() {
    const auto until = std::chrono::steady_clock::now() + 60s;
    for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
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

TEST_F(LoopCommitTest, LoneWrite_IsCommittedByTheLoop) {
  ASSERT_TRUE(loop_takes_writes());
  EXPECT_TRUE(holds(SessionId("0")));
}

TEST_F(LoopCommitTest, ConcurrentWrites_ShareACommitOfTheWriterThread) {
  ASSERT_TRUE(loop_takes_writes());
  auto [one, other] = on_loop([&] { return std::pair(write(kSession), write(kOther)); });
  const auto teller = one.get();
  EXPECT_NE(teller, loop());
  EXPECT_EQ(teller, other.get());
}

TEST_F(LoopCommitTest, LoopThatBlocksOnTheJournal_DoesNotDeadlock) {
  ASSERT_TRUE(loop_takes_writes());
  auto teller = on_loop([&] {
    auto written = write(kSession);
    EXPECT_TRUE(journal_->inbox().post(kSession, "hello", {5}));
    return written;
  });
  EXPECT_TRUE(is_told(teller));
}

TEST_F(LoopCommitTest, TaskThatBlocksOnItsOwnWrite_Returns) {
  ASSERT_TRUE(loop_takes_writes());
  std::promise<bool> told;
  executor_->post([&] { executor_->post_blocking([&] { told.set_value(is_told(write(kSession))); }); });
  EXPECT_TRUE(told.get_future().get());
}

TEST_F(LoopCommitTest, EndOfTheLoop_LosesNoWrite) {
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

TEST_F(LoopCommitTest, EndOfTheJournal_LosesNoWrite) {
  ASSERT_TRUE(loop_takes_writes());
  auto teller = on_loop([&] {
    auto written = write(kSession);
    journal_.reset();
    return written;
  });
  EXPECT_TRUE(is_told(teller));
  EXPECT_TRUE(holds(kSession));
}

TEST_F(LoopCommitTest, DoneOfAWrite_MayEndTheJournal) {
  ASSERT_TRUE(loop_takes_writes());
  auto teller = on_loop([&] { return write(kSession, [&] { journal_.reset(); }); });
  ASSERT_TRUE(is_told(teller));
  EXPECT_TRUE(holds(kSession));
}

}  // namespace
}  // namespace praxis::testing
