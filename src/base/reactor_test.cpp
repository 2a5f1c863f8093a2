#include "base/reactor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace praxis {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// Two ends of a connection, the first of which is watched.
class ReactorTest : public ::testing::Test, public EventLoop::Watcher {
 protected:
  ReactorTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours_ = FileDescriptor(ends[0]);
    theirs_ = FileDescriptor(ends[1]);
  }
  void on_ready(Readiness ready) override {
    calls_.push_back(ready);
    if (on_call_) on_call_();
  }
  void watch() {
    ASSERT_TRUE(reactor_.watch(ours_.get(), *this));
    run_all();  // the socket can be written to
    calls_.clear();
  }
  void send_one() { ASSERT_EQ(::send(theirs_.get(), "x", 1, MSG_NOSIGNAL), 1); }
  int run_all() {
    int runs = 0;
    while (reactor_.run_one(false)) ++runs;
    return runs;
  }

  Reactor reactor_;
  FileDescriptor ours_, theirs_;
  std::vector<Readiness> calls_;
  Task on_call_;
};

TEST_F(ReactorTest, EmptyReactorRunsNothing) { EXPECT_FALSE(reactor_.run_one(false)); }

TEST_F(ReactorTest, WatcherIsCalledOncePerChange) {
  watch();
  send_one();
  EXPECT_EQ(run_all(), 1);
  EXPECT_EQ(run_all(), 0);  // the byte is still there
  send_one();
  EXPECT_EQ(run_all(), 1);
  ASSERT_EQ(calls_.size(), 2u);
  EXPECT_TRUE(calls_[1].readable);
  EXPECT_FALSE(calls_[1].ended);
}

TEST_F(ReactorTest, WatcherLearnsOfAnEndBehindTheLastBytes) {
  watch();
  send_one();
  ASSERT_EQ(::shutdown(theirs_.get(), SHUT_WR), 0);
  EXPECT_EQ(run_all(), 1);
  ASSERT_EQ(calls_.size(), 1u);
  EXPECT_TRUE(calls_[0].readable && calls_[0].ended);
}

TEST_F(ReactorTest, UnwatchedWatcherIsNotCalledForEventsAlreadyCollected) {
  struct Other final : EventLoop::Watcher {
    explicit Other(Task task) : on_call(std::move(task)) {}
    void on_ready(Readiness) override { on_call(); }
    Task on_call;
  };
  Other first([&] { reactor_.unwatch(ours_.get(), *this); });
  on_call_ = [&] { reactor_.unwatch(theirs_.get(), first); };
  ASSERT_TRUE(reactor_.watch(theirs_.get(), first));
  ASSERT_TRUE(reactor_.watch(ours_.get(), *this));
  EXPECT_EQ(run_all(), 1);  // both are writable; the first one called unwatches the other
}

TEST_F(ReactorTest, EndlessTasksDoNotStarveDescriptorsAndTimers) {
  watch();
  send_one();
  bool rang = false;
  reactor_.after(0ns, [&] { rang = true; });
  struct Again {
    Reactor* reactor;
    void operator()() const { reactor->post(Again(*this)); }
  };
  reactor_.post(Again{&reactor_});
  for (int i = 0; i < 100; ++i) reactor_.run_one(true);
  EXPECT_EQ(calls_.size(), 1u);
  EXPECT_TRUE(rang);
}

TEST_F(ReactorTest, TimerMayCancelAnotherDueTimer) {
  std::vector<int> rang;
  Reactor::TimerId next = 0;
  reactor_.after(0ns, [&] {
    rang.push_back(1);
    reactor_.cancel(next);
  });
  next = reactor_.after(0ns, [&] { rang.push_back(2); });
  reactor_.after(0ns, [&] { rang.push_back(3); });
  run_all();
  EXPECT_THAT(rang, ElementsAre(1, 3));
}

TEST_F(ReactorTest, WaitingThreadWakesForTaskTimerAndStop) {
  int runs = 0;
  std::jthread runner([&] {
    while (reactor_.run_one(true)) ++runs;
  });
  std::atomic<bool> posted = false, rang = false;
  std::this_thread::sleep_for(5ms);
  reactor_.post([&] { posted = true; });
  while (!posted) std::this_thread::yield();
  reactor_.after(1h, [] {});
  std::this_thread::sleep_for(5ms);
  reactor_.after(1ms, [&] { rang = true; });  // earlier than what it waits for
  while (!rang) std::this_thread::yield();
  reactor_.stop();
  runner.join();
  EXPECT_GE(runs, 2);
}

TEST_F(ReactorTest, CloseDestroysTasksAndDropsLaterOnes) {
  auto held = std::make_shared<int>(0);
  reactor_.post([held] {});
  reactor_.after(1h, [held] {});
  reactor_.close();
  EXPECT_EQ(held.use_count(), 1);
  reactor_.post([held] {});
  EXPECT_EQ(reactor_.after(1h, [held] {}), 0u);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace praxis
