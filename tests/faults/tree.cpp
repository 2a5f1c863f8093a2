// Trees of turn drivers, wide and deep, in one thread: budgets at every level, people, commands and kills
// come from one seed. The judge reads records alone.
#include <gtest/gtest.h>

#include <string>

#include "fault.hpp"
#include "sim_world.hpp"

namespace praxis::faults {
namespace {

constexpr std::uint64_t kStepsOfTrees = 600;  ///< until nothing new begins

void play_trees(std::uint64_t seed) {
  const sim::RunOutcome outcome = sim::World(seed, sim::Play::kTrees).run(kStepsOfTrees);
  count_steps(outcome.steps);
  for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
}

}  // namespace

Fault tree_fault() {
  return {
      .name = "tree",
      .breaks =
          "trees up to four levels deep and eight sub-agents wide a call, with budgets at every level: "
          "people "
          "decide, steer, stop, pause and delete at any node, and the process is killed, at least 600 steps",
      .holds =
          "each effect once outside or in doubt; every node ends, none is shown at work; what the tree shows "
          "is the sum of the records; without a kill no tree starts a call too many",
      .few = 5'000,
      .many = 500'000,
      .start = [] { return Run(play_trees); }};
}

}  // namespace praxis::faults
