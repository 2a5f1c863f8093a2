// Kills the process of an agent tree at every append and every effect, while it creates sub-agents, forks,
// waits, parks and decides: nothing settled is lost or done twice, at any depth.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "crash_cases.hpp"

namespace praxis {
namespace {

using testing::Case;
using testing::Point;

/// Plays a selected case; returns the number of kills, 0 for a case that is not selected.
int play_wanted(const Case& c) {
  if (!is_wanted(c)) return 0;
  SCOPED_TRACE(testing::how_to_repeat(c.name()));
  return play(c);
}

TEST(CrashTree, KillAtEachAppendAndEffect_LosesAndRepeatsNothingSettled) {
  int kills = 0;
  for (const Point& every :
       {Point{"append", "before", 1}, Point{"append", "after", 1}, Point{"put", "inside", 1},
        Point{"put", "acted", 1}, Point{"pay", "inside", 1}, Point{"pay", "acted", 1},
        Point{"errand", "inside", 1}, Point{"person", "inside", 1}}) {
    for (Point point = every;; ++point.n) {
      const Case c{"tree", "tell", {point}};
      const int killed = play_wanted(c);
      kills += killed;
      if ((killed == 0 && is_wanted(c)) || point.n == 60 || HasFailure())
        break;  // `target` does not occur so often
    }
  }
  std::cout << "[  KILLS   ] " << kills << " single kills of a tree\n";
  EXPECT_TRUE(kills > 30 || std::getenv("PRAXIS_CRASH_CASE") != nullptr);
}

TEST(CrashTree, KillDuringRecovery_LosesAndRepeatsNothingSettled) {
  std::mt19937 random(7);
  const std::array<const char*, 4> doubts{"tell", "allow", "deny", "answer"};
  const std::array<Point, 4> places{Point{"append", "before", 1}, Point{"append", "after", 1},
                                    Point{"pay", "acted", 1}, Point{"put", "acted", 1}};
  int kills = 0;
  for (int round = 0; round < testing::rounds() && !HasFailure(); ++round) {
    std::vector<Point> points;
    for (int i = 0; i < 3; ++i) {
      Point point = places[random() % places.size()];
      if (point.target == "append") point.n = 1 + static_cast<int>(random() % 25);
      points.push_back(point);
    }
    kills += play_wanted({"tree", doubts[random() % doubts.size()], points});
  }
  std::cout << "[  KILLS   ] " << kills << " kills of a tree, up to three a run\n";
}

}  // namespace
}  // namespace praxis
