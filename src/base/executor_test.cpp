#include "praxis/base/executor.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/executor_end.hpp"
#include "base/testing/manual_executor.hpp"
#include "base/worker_pool.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

TEST(Executor, Post_RunsOnAnotherThread) {
  auto executor = make_executor();
  std::promise<std::thread::id> ran;
  executor->post([&] { ran.set_value(std::this_thread::get_id()); });
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST(Executor, Post_OnOneThreadKeepsOrder) {
  auto executor = make_executor();
  std::vector<int> order;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) executor->post([&, i] { order.push_back(i); });
  executor->post([&] { done.set_value(); });
  done.get_future().get();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Executor, BlockingTaskOfTheLoop_DoesNotHoldUpTheLoop) {
  std::array<std::promise<void>, 20> begun, freed, done;
  auto executor = make_executor();  // destroyed first: its threads may still run tasks of the test
  for (std::size_t i = 0; i < begun.size(); ++i) {
    // The loop's thread may run this task in place, and the task ends only when the loop continues.
    executor->post([&, i] {
      executor->post_blocking([&, i] {
        begun[i].set_value();
        freed[i].get_future().wait();
        done[i].set_value();
      });
    });
    begun[i].get_future().wait();
    executor->post([&, i] { freed[i].set_value(); });
    ASSERT_EQ(done[i].get_future().wait_for(10s), std::future_status::ready) << "round " << i;
  }
}

TEST(Executor, End_ComesWhenItsTasksHaveEnded) {
  std::promise<void> begun, freed;
  std::atomic<bool> is_done = false;
  auto executor = make_executor();
  const ExecutorEnd end(executor);
  executor->post_blocking([&, keep = executor] {
    begun.set_value();
    freed.get_future().wait();
    std::this_thread::sleep_for(20ms);
    is_done = true;
  });
  begun.get_future().wait();
  executor.reset();  // not the last reference
  EXPECT_FALSE(end.wait(0ms));
  freed.set_value();
  EXPECT_TRUE(end.wait(1min));
  EXPECT_TRUE(is_done);
}

TEST(Executor, End_OfOneThatIsIdleComesAtOnce) {
  auto executor = make_executor();
  const ExecutorEnd end(executor);
  executor.reset();
  EXPECT_TRUE(end.wait(0ms));
  EXPECT_TRUE(ExecutorEnd(std::make_shared<ManualExecutor>()).wait(0ms)) << "of another kind";
}

TEST(Executor, Timers_FireWhileBlockingTasksOfTheLoopHang) {
  std::promise<void> freed, rang;
  const std::shared_future<void> gate(freed.get_future());
  auto executor = make_executor();
  for (int i = 0; i < 3; ++i) executor->post([&] { executor->post_blocking([&] { gate.wait(); }); });
  executor->post([&] { executor->after(20ms, [&] { rang.set_value(); }); });
  EXPECT_EQ(rang.get_future().wait_for(10s), std::future_status::ready);
  freed.set_value();
}

TEST(Executor, QuickBlockingTaskOfTheLoop_RunsOnItsThread) {
  std::array<std::promise<bool>, 1000> same;
  auto executor = make_executor();
  for (std::promise<bool>& tried : same) {  // the first ones go to workers until the standby thread is ready
    executor->post([&] {
      executor->post_blocking(
          [&, loop = std::this_thread::get_id()] { tried.set_value(std::this_thread::get_id() == loop); });
    });
    if (tried.get_future().get()) return;
  }
  FAIL() << "none of 1,000 tasks ran on the loop's thread";
}

TEST(Executor, LastReferenceDroppedOnItsOwnThread_IsDestroyedOnAnother) {
  for (const bool blocking : {false, true}) {
    auto executor = make_executor();
    std::promise<void> held, dropped;
    auto destroyed = held.get_future();
    executor->after(1h, [held = std::move(held)] {});
    Task last = [executor, gate = dropped.get_future()]() mutable {
      gate.wait();
      executor.reset();
    };
    blocking ? executor->post_blocking(std::move(last)) : executor->post(std::move(last));
    executor.reset();
    dropped.set_value();
    ASSERT_EQ(destroyed.wait_for(10s), std::future_status::ready) << "the executor joins its own thread";
  }
}

TEST(Executor, Timers_FireInOrderOfTheirDelay) {
  auto executor = make_executor();
  std::string order;
  std::promise<void> done;
  executor->after(30ms, [&] {
    order += "c";
    done.set_value();
  });
  executor->after(10ms, [&] { order += "b"; });
  executor->after(0ms, [&] { order += "a"; });
  done.get_future().get();
  EXPECT_EQ(order, "abc");
}

TEST(Executor, CancelledTimer_DestroysItsTaskAtOnceWithoutRunningIt) {
  auto executor = make_executor();
  auto held = std::make_shared<int>(0);
  const auto id = executor->after(1h, [held] { ADD_FAILURE() << "a cancelled timer fired"; });
  EXPECT_NE(id, 0u);
  EXPECT_EQ(held.use_count(), 2);
  executor->cancel(id);
  EXPECT_EQ(held.use_count(), 1);
  executor->cancel(id);
  executor->cancel(0);
}

TEST(Executor, Destruction_DropsTasksThatHaveNotStarted) {
  auto held = std::make_shared<int>(0);
  auto executor = make_executor();
  executor->after(1h, [held] { ADD_FAILURE(); });
  executor.reset();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Executor, Destruction_SurvivesDroppedTasksThatCancelTimers) {
  struct Canceller {
    Executor* executor;
    Executor::TimerId timer;
    ~Canceller() { executor->cancel(timer); }
  };
  auto executor = make_executor();
  const auto timer = executor->after(1h, [] {});
  std::promise<void> blocked;
  std::promise<void> release;
  executor->post([&] {
    blocked.set_value();
    release.get_future().get();
  });
  blocked.get_future().get();
  executor->post([held = std::make_shared<Canceller>(executor.get(), timer)] {});
  executor->after(1h, [held = std::make_shared<Canceller>(executor.get(), timer)] {});
  std::jthread releaser([&] { release.set_value(); });
  executor.reset();
}

TEST(WorkerPool, BlockedTasks_DoNotHoldUpOthers) {
  WorkerPool pool(64);
  std::promise<void> release;
  const std::shared_future<void> gate = release.get_future().share();
  std::vector<std::promise<void>> started(32);
  for (auto& promise : started) {
    pool.post([&promise, gate] {
      promise.set_value();
      gate.get();
    });
  }
  for (auto& promise : started) promise.get_future().get();  // all run in parallel
  EXPECT_EQ(pool.size(), 32u);
  release.set_value();
}

TEST(WorkerPool, TasksOverTheLimit_AreQueued) {
  WorkerPool pool(2);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> left = 50;
  std::promise<void> done;
  for (int i = 0; i < 50; ++i) {
    pool.post([&] {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      --running;
      if (--left == 0) done.set_value();
    });
  }
  done.get_future().get();
  EXPECT_LE(most.load(), 2);
  EXPECT_LE(pool.size(), 2u);
}

TEST(WorkerPool, TasksThatWaitForTasks_DoNotFillIt) {
  constexpr int kWaiting = 40;
  WorkerPool pool(2, 20ms);
  std::atomic<int> busy = 0;
  std::atomic<int> most = 0;
  std::vector<std::promise<void>> done(kWaiting);
  for (auto& each : done) {
    pool.post([&] {
      std::promise<void> answered;
      pool.post([&] {
        most = std::max(most.load(), ++busy);
        std::this_thread::sleep_for(1ms);
        --busy;
        answered.set_value();
      });
      {
        const WaitForTasks outer, nested;
        answered.get_future().get();
      }
      each.set_value();
    });
  }
  for (auto& each : done) each.get_future().get();
  EXPECT_LE(most.load(), 2 + kWaiting) << "a worker that returns from its wait finishes its task";
  while (pool.size() > 0) std::this_thread::yield();
}

TEST(WorkerPool, WorkersThatReturnFromAWait_LeaveTheBoundAsItWas) {
  WorkerPool pool(1, 1h);
  std::promise<void> answered, done;
  pool.post([&] {
    pool.post([&] { answered.set_value(); });
    {
      const WaitForTasks wait;
      answered.get_future().get();
    }
    done.set_value();
  });
  done.get_future().get();
  while (pool.size() > 1) std::this_thread::yield();
  EXPECT_EQ(pool.size(), 1u);
}

TEST(WorkerPool, IdleWorkers_AreReusedThenEnd) {
  WorkerPool pool(64, 20ms);
  for (int i = 0; i < 20; ++i) {
    std::promise<void> done;
    pool.post([&] { done.set_value(); });
    done.get_future().get();
  }
  // A further worker starts only if a task came before the last one was idle again.
  EXPECT_LT(pool.size(), 20u);
  while (pool.size() > 0) std::this_thread::yield();
}

TEST(Strand, FreeStrand_RunsOnTheCaller) {
  Strand strand;
  std::thread::id ran;
  strand.run([&] { ran = std::this_thread::get_id(); });
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(Strand, TaskPostedByATask_RunsAfterIt) {
  Strand strand;
  std::string order;
  strand.run([&] {
    strand.run([&] { order += "c"; });
    order += "a";
    strand.run([&] { order += "d"; });
    order += "b";
  });
  EXPECT_EQ(order, "abcd");
}

TEST(Strand, RunIfFree_DoesNotRunOnAHeldStrand) {
  Strand strand;
  std::string order;
  strand.run([&] {
    EXPECT_FALSE(strand.run_if_free([&] { order += "x"; }));
    order += "a";
  });
  EXPECT_TRUE(strand.run_if_free([&] {
    EXPECT_TRUE(strand.runs_here());
    strand.run([&] { order += "c"; });
    order += "b";
  }));
  EXPECT_EQ(order, "abc");
  EXPECT_FALSE(strand.runs_here());
}

TEST(Strand, ManyThreads_NeverOverlap) {
  Strand strand;
  int count = 0;  // not atomic: the strand protects it
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          const auto work = [&] { ++count; };
          if (i % 2 == 0 || !strand.run_if_free(work)) strand.run(work);
        }
      });
    }
  }
  strand.run([&] { EXPECT_EQ(count, 8000); });
}

TEST(StrandDeathTest, TaskThatThrows_EndsTheProcessInsteadOfHoldingTheStrand) {
  Strand strand;
  EXPECT_DEATH(strand.run([] { throw std::bad_alloc(); }), "bad_alloc");
}

TEST(Strand, CaptureThatReentersWhenDestroyed_DoesNotDeadlock) {
  struct Reenter {
    Strand* strand;
    int* runs;
    ~Reenter() {
      strand->run([r = runs] { ++*r; });
    }
  };
  Strand strand;
  int runs = 0;
  strand.run([&] { strand.run([held = std::make_shared<Reenter>(&strand, &runs)] {}); });
  EXPECT_EQ(runs, 1);
}

TEST(ManualExecutor, Advance_RunsTimersAtTheirOwnTime) {
  ManualExecutor executor;
  std::vector<std::chrono::nanoseconds> fired;
  executor.after(20ms, [&] { fired.push_back(executor.now()); });
  executor.after(10ms, [&] {
    fired.push_back(executor.now());
    executor.after(5ms, [&] { fired.push_back(executor.now()); });
  });
  const auto cancelled = executor.after(12ms, [] { ADD_FAILURE(); });
  executor.cancel(cancelled);
  executor.advance(15ms);
  EXPECT_EQ(fired, (std::vector<std::chrono::nanoseconds>{10ms, 15ms}));
  EXPECT_EQ(executor.pending_timers(), 1u);
  executor.advance(5ms);
  EXPECT_EQ(fired.back(), 20ms);
}

TEST(ManualExecutor, Advance_WithinATask_NeverGoesBack) {
  ManualExecutor executor;
  executor.after(10ms, [&] { executor.advance(30ms); });
  executor.advance(20ms);
  EXPECT_EQ(executor.now(), 40ms);
}

TEST(ManualExecutor, RunReady_RunsWhatTasksPost) {
  ManualExecutor executor;
  int runs = 0;
  executor.post([&] { executor.post_blocking([&] { ++runs; }); });
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(executor.run_ready(), 2u);
  EXPECT_EQ(runs, 1);
}

/// Both ends of a pipe, closed at the end of the test.
struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Pipe() {
    for (const int end : ends) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

TEST(Executor, Watch_RunsItsTaskOnceTheDescriptorIsReadable) {
  Pipe pipe;
  auto executor = make_executor();
  std::promise<char> read_byte;
  std::atomic<bool> written = false;
  ASSERT_NE(executor->watch(pipe.ends[0], Executor::Readiness::kReadable,
                            [&] {
                              char byte = 0;
                              EXPECT_TRUE(written);
                              EXPECT_EQ(read(pipe.ends[0], &byte, 1), 1);
                              read_byte.set_value(byte);
                            }),
            0U);
  written = true;
  ASSERT_EQ(write(pipe.ends[1], "x", 1), 1);
  auto got = read_byte.get_future();
  ASSERT_EQ(got.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(got.get(), 'x');
}

TEST(Executor, Watch_ReportsAClosedPeer) {
  auto pipe = std::make_unique<Pipe>();
  auto executor = make_executor();
  const int kept = dup(pipe->ends[0]);
  std::promise<void> ended;
  ASSERT_NE(executor->watch(kept, Executor::Readiness::kReadable, [&] { ended.set_value(); }), 0U);
  pipe.reset();
  EXPECT_EQ(ended.get_future().wait_for(10s), std::future_status::ready);
  close(kept);
}

TEST(Executor, OneDescriptor_IsWatchedForReadingAndWriting) {
  std::array<int, 2> sockets{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  auto executor = make_executor();
  std::promise<void> writable, readable;
  ASSERT_NE(executor->watch(sockets[0], Executor::Readiness::kReadable, [&] { readable.set_value(); }), 0U);
  ASSERT_NE(executor->watch(sockets[0], Executor::Readiness::kWritable, [&] { writable.set_value(); }), 0U);
  EXPECT_EQ(writable.get_future().wait_for(10s), std::future_status::ready);
  auto waits = readable.get_future();
  EXPECT_EQ(waits.wait_for(0s), std::future_status::timeout);
  ASSERT_EQ(write(sockets[1], "x", 1), 1);
  EXPECT_EQ(waits.wait_for(10s), std::future_status::ready);
  for (const int socket : sockets) close(socket);
}

TEST(Executor, DroppedWatch_RunsNothingAndFreesItsTask) {
  Pipe pipe;
  auto executor = make_executor();
  auto owned = std::make_shared<int>(1);
  std::atomic<bool> ran = false;
  const auto watch =
      executor->watch(pipe.ends[0], Executor::Readiness::kReadable, [&ran, owned] { ran = true; });
  executor->unwatch(watch);
  EXPECT_EQ(owned.use_count(), 1);
  ASSERT_EQ(write(pipe.ends[1], "x", 1), 1);
  std::promise<void> passed;
  ASSERT_NE(executor->watch(pipe.ends[0], Executor::Readiness::kReadable, [&] { passed.set_value(); }), 0U);
  EXPECT_EQ(passed.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(ran);
}

TEST(Executor, Destruction_DropsWatches) {
  Pipe pipe;
  auto owned = std::make_shared<int>(1);
  {
    auto executor = make_executor();
    ASSERT_NE(executor->watch(pipe.ends[0], Executor::Readiness::kReadable, [owned] {}), 0U);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Executor, ClosedDescriptor_CannotBeWatched) {
  auto executor = make_executor();
  EXPECT_EQ(executor->watch(-1, Executor::Readiness::kReadable, [] {}), 0U);
}

}  // namespace
}  // namespace praxis
