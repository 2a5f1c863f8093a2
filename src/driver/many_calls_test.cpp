// A step with many calls: the cost of each must not depend on how many there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "driver/testing/rig.hpp"

namespace praxis::driver {
namespace {

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::string id_of(std::size_t call) { return "call-" + std::to_string(call); }

/// Runs a step with `count` calls, which end in order. Returns the CPU time for each.
double time_of_a_call(std::size_t count, std::uint32_t parallel) {
  AgentSpec agent = echoing();
  agent.limits.max_tool_calls = 0;
  agent.limits.max_parallel_tools = parallel;
  Rig rig(std::move(agent));
  rig.ask();
  ModelResponse asked;
  asked.finish = FinishReason::kToolCalls;
  for (std::size_t i = 0; i < count; ++i) asked.parts.emplace_back(tool_call(id_of(i), "echo"));
  const double before = thread_seconds();
  rig.answer(std::move(asked));
  for (std::size_t i = 0; i < count; ++i) {
    ToolOutcome outcome{{CallId{id_of(i)}, "echo", ToolStatus::kOk, "done", {}}, nullptr, nullptr};
    rig.feed(ToolEnded{rig.call(id_of(i)), 1, std::move(outcome)});
  }
  EXPECT_TRUE(rig.driver->state().turn->calls.empty());
  EXPECT_EQ(rig.driver->state().turn->tool_calls, count);
  return (thread_seconds() - before) / static_cast<double>(count);
}

/// How much more a call costs among many than among few: the least of some runs, which other work disturbs
/// least.
double growth(std::uint32_t parallel) {
  constexpr std::size_t kFew = 250, kMany = 4'000;
  double few = std::numeric_limits<double>::max(), many = few;
  for (int run = 0; run < 3; ++run) {
    few = std::min(few, time_of_a_call(kFew, parallel));
    many = std::min(many, time_of_a_call(kMany, parallel));
  }
  return many / few;
}

// A look at all calls for each of them makes it 8 to 14.
TEST(ManyCalls, CallCostsNoMoreAmongMany) { EXPECT_LT(growth(8), 4); }

TEST(ManyCalls, CallThatRunsWithAllOthersCostsNoMore) { EXPECT_LT(growth(0), 4); }

}  // namespace
}  // namespace praxis::driver
