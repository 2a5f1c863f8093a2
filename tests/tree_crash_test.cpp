// A tree of agents whose process is killed at every append and every act, while it makes sub-agents, forks,
// waits, parks and decides: nothing settled is lost or done twice, at any depth.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <random>

#include "crash_rig.hpp"

namespace praxis {
namespace {

using testing::Effect;
using testing::effects_of;
using testing::Point;
using testing::Rig;
using testing::rounds;

std::string how_to_repeat(const std::string& doubt, const std::vector<Point>& points) {
  std::string name = doubt;
  for (const Point& point : points) name += '+' + point.text();
  return "PRAXIS_CRASH_CASE='" + name + "' ctest --preset dev --tests-regex CrashTree --output-on-failure";
}

bool is_wanted(const std::string& repeat) {
  const char* wanted = std::getenv("PRAXIS_CRASH_CASE");
  return wanted == nullptr || repeat.find("'" + std::string(wanted) + "'") != std::string::npos;
}

/// The log of every session is one that the core would write again, and every turn has come to its end.
void check_logs(const std::vector<std::vector<StoredRecord>>& logs) {
  EXPECT_EQ(logs.size(), 4U) << "a sub-agent was made twice, or is gone";
  std::int64_t own = 0;
  for (const auto& records : logs) {
    const auto state = fold(records);
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_FALSE(state->turn) << state->path << " was left in the middle of a turn";
    own += state->usage.total();
    const auto replayed = replay(records);
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_FALSE(replayed->divergence)
        << state->path << ": record " << replayed->divergence->seq << ", " << replayed->divergence->field;
  }
  const auto root = fold(logs.front());
  EXPECT_EQ(root->last->text, "All is done.");
  EXPECT_EQ(root->subtree_usage().total(), own) << "usage is lost or counted twice";
}

/// Everything done outside was intended under its key, done once for each attempt, and paid once.
void check_acts(const Rig& rig, const std::vector<std::vector<StoredRecord>>& logs) {
  std::map<std::string, Effect> by_key;
  for (const auto& records : logs) {
    for (auto& [id, effect] : effects_of(records)) by_key[effect.key] = effect;
  }
  std::map<std::string, int> done;
  for (const auto& line : rig.ledger()) {
    ++done[line[1]];
    EXPECT_TRUE(by_key.contains(line[1])) << line[0] << " was done under a key that no log knows";
  }
  int pays = 0;
  for (const auto& [key, effect] : by_key) {
    EXPECT_TRUE(effect.ok || effect.doubted) << effect.tool << " was intended and never settled";
    if (effect.tool != "pay") continue;
    ++pays;
    EXPECT_LE(done[key], 1 + effect.permits) << "pay was repeated, and nobody allowed it";
  }
  EXPECT_EQ(pays, 1) << "a call within a call was proposed twice";
}

/// Kills as `points` say, then lets a last process finish; how many kills there were.
int play(const std::string& doubt, const std::vector<Point>& points) {
  const std::string repeat = how_to_repeat(doubt, points);
  if (!is_wanted(repeat)) return 0;
  SCOPED_TRACE(repeat);
  Rig rig("tree", doubt);
  int kills = 0;
  for (const Point& point : points) kills += rig.run(point) ? 1 : 0;
  EXPECT_FALSE(rig.run({}));
  const auto logs = rig.logs();
  check_logs(logs);
  check_acts(rig, logs);
  return kills;
}

TEST(CrashTree, AtEachAppendAndAct_LosesAndRepeatsNothingSettled) {
  int kills = 0;
  for (const Point& every :
       {Point{"append", "before", 1}, Point{"append", "after", 1}, Point{"put", "inside", 1},
        Point{"put", "acted", 1}, Point{"pay", "inside", 1}, Point{"pay", "acted", 1},
        Point{"errand", "inside", 1}, Point{"person", "inside", 1}}) {
    for (Point point = every;; ++point.n) {
      const int killed = play("tell", {point});
      kills += killed;
      if (killed == 0 || HasFailure()) break;  // the run does not come by there so often
    }
  }
  std::cout << "[  KILLS   ] " << kills << " single kills of a tree\n";
  EXPECT_TRUE(kills > 30 || std::getenv("PRAXIS_CRASH_CASE") != nullptr);
}

TEST(CrashTree, AgainDuringRecovery_LosesAndRepeatsNothingSettled) {
  std::mt19937 random(7);
  const std::array<const char*, 4> doubts{"tell", "allow", "deny", "answer"};
  const std::array<Point, 4> places{Point{"append", "before", 1}, Point{"append", "after", 1},
                                    Point{"pay", "acted", 1}, Point{"put", "acted", 1}};
  int kills = 0;
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    std::vector<Point> points;
    for (int i = 0; i < 3; ++i) {
      Point point = places[random() % places.size()];
      if (point.target == "append") point.n = 1 + static_cast<int>(random() % 25);
      points.push_back(point);
    }
    kills += play(doubts[random() % doubts.size()], points);
  }
  std::cout << "[  KILLS   ] " << kills << " kills of a tree, up to three a run\n";
}

}  // namespace
}  // namespace praxis
