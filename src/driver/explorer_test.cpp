// Plays every interleaving of the inputs of a session, up to a bound: each order runs from the start in a
// world without threads, then to its end. The world (testing/world.hpp) checks the invariants, during the run
// and at the end.
#include <gtest/gtest.h>

#include <random>

#include "driver/testing/scenarios.hpp"

namespace praxis::driver {
namespace {

/// With sanitizers a step takes some thirty times as long, and faults of memory show in fewer orders.
constexpr std::size_t kEveryOrder = PRAXIS_SANITIZED ? 40 : 2'000;
constexpr std::size_t kRandomOrders = PRAXIS_SANITIZED ? 10 : 500;
constexpr std::size_t kLeastBound = PRAXIS_SANITIZED ? 2 : 4;

struct Explored {
  std::size_t orders = 0;
  std::size_t bound = 0;  ///< steps in which every order was played
  std::vector<std::string> complaints;
};

std::string told(const World& world) {
  std::string text;
  for (const std::string& what : world.complaints()) text += what + "\n";
  for (const std::string& step : world.story()) text += "  " + step + "\n";
  return text;
}

/// Plays one order: `path` picks among the choices, after that the first choice is taken. Returns the number
/// of choices at each of the first `bound` steps.
std::vector<std::size_t> play(const Scenario& scenario, const std::vector<std::size_t>& path,
                              std::size_t bound, Explored& explored) {
  constexpr std::size_t kEndless = 400;
  World world(scenario);
  std::vector<std::size_t> widths;
  for (std::size_t step = 0; world.complaints().empty(); ++step) {
    std::vector<Choice> choices = world.choices(step < bound);
    if (step >= bound) std::erase_if(choices, &Choice::fault);
    if (std::ranges::all_of(choices, [](const Choice& c) { return c.outside || c.fault; }))
      world.check_quiet();
    if (choices.empty()) break;
    if (step == kEndless) {
      explored.complaints.push_back(scenario.name + " never becomes quiet\n" + told(world));
      return widths;
    }
    if (step < bound) widths.push_back(choices.size());
    world.happen(choices[step < path.size() ? path[step] % choices.size() : 0]);
  }
  if (world.complaints().empty()) world.check_end();
  if (!world.complaints().empty()) explored.complaints.push_back(scenario.name + ": " + told(world));
  return widths;
}

/// Moves to the next path in order; false after the last.
bool advance(std::vector<std::size_t>& path, const std::vector<std::size_t>& widths) {
  path.resize(widths.size(), 0);
  while (!path.empty() && path.back() + 1 >= widths[path.size() - 1]) path.pop_back();
  if (path.empty()) return false;
  ++path.back();
  return true;
}

/// Plays every order of the first steps, as many steps as give at most `most` orders.
void explore(const Scenario& scenario, std::size_t most, Explored& explored) {
  for (std::size_t bound = 1; bound < 12; ++bound) {
    std::vector<std::size_t> path;
    std::size_t orders = 0;
    for (bool more = true; more; ++orders) {
      if (orders == most || explored.complaints.size() > 2) return;
      more = advance(path, play(scenario, path, bound, explored));
    }
    explored.orders += orders;
    explored.bound = bound;
  }
}

/// Plays random orders, in which any choice is possible at any step.
void wander(const Scenario& scenario, std::size_t orders, Explored& explored) {
  constexpr std::size_t kLong = 60;
  std::minstd_rand draw(4711);
  for (std::size_t i = 0; i < orders && explored.complaints.size() < 3; ++i, ++explored.orders) {
    std::vector<std::size_t> path(kLong);
    for (std::size_t& pick : path) pick = draw();
    play(scenario, path, kLong, explored);
  }
}

class Explorer : public ::testing::TestWithParam<Scenario> {};

TEST_P(Explorer, EveryOrderKeepsTheInvariants) {
  for (const bool suspends : {false, true}) {
    Scenario scenario = GetParam();
    scenario.suspends = suspends;
    Explored explored;
    explore(scenario, kEveryOrder, explored);
    wander(scenario, kRandomOrders, explored);
    for (const std::string& what : explored.complaints) ADD_FAILURE() << what;
    EXPECT_GE(explored.bound, kLeastBound) << "too few orders to find anything";
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Explorer, ::testing::ValuesIn(all_scenarios()),
                         [](const auto& made) { return made.param.name; });

}  // namespace
}  // namespace praxis::driver
