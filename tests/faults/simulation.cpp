// Whole runs of turn drivers in one thread: everything around them comes from one seed.
#include <gtest/gtest.h>

#include <string>

#include "fault.hpp"
#include "sim_world.hpp"

namespace praxis::faults {
namespace {

constexpr std::uint64_t kLeastSteps = 2'000;
constexpr std::uint64_t kRepeatedOnceIn = 10;  ///< one in so many runs is repeated and compared

void simulate(std::uint64_t seed) {
  const sim::RunOutcome outcome = sim::World(seed).run(kLeastSteps);
  count_steps(outcome.steps);
  for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
  if (seed % kRepeatedOnceIn != 0 || !outcome.complaints.empty()) return;
  // The run must not depend on the addresses of its memory.
  const std::vector<std::string> junk(seed % 1'000, std::string(seed % 3'000, 'x'));
  const sim::RunOutcome again = sim::World(seed).run(kLeastSteps);
  count_steps(again.steps);
  EXPECT_EQ(again.digest, outcome.digest) << "the same seed gave another journal";
}

}  // namespace

Fault simulation_fault() {
  return {
      .name = "simulation",
      .breaks =
          "disk, model, tools, clock, hooks, approvers, commands and kills around turn drivers come from the "
          "seed, at least 2,000 steps a run",
      .holds =
          "every log replays, nothing acknowledged is lost, nothing is done twice, totals and limits are "
          "right, all end idle; the same seed gives the same journal",
      .few = 2'000,
      .many = 500'000,
      .start = [] { return Run(simulate); }};
}

}  // namespace praxis::faults
