// Kills processes at every point of a run, and again while they recover, and checks the promise that nothing
// settled is lost or done twice. `crash_runner` is the process; PRAXIS_CRASH_ROUNDS is the number of double
// and random kills of each test, PRAXIS_CRASH_CASE repeats one case.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "crash_cases.hpp"

namespace praxis {
namespace {

using testing::Case;
using testing::how_to_repeat;
using testing::is_wanted;
using testing::Rig;
using testing::rounds;

/// Returns `count` of the cases, spread evenly.
std::vector<Case> sample(const std::vector<Case>& cases, std::size_t count) {
  if (count >= cases.size()) return cases;
  std::vector<Case> sampled;
  for (std::size_t i = 0; i < count; ++i) sampled.push_back(cases[i * cases.size() / count]);
  return sampled;
}

/// Plays the selected cases; returns the number of kills.
int play_all(const std::vector<Case>& cases) {
  int kills = 0;
  for (const Case& c : cases) {
    if (!is_wanted(c)) continue;
    SCOPED_TRACE(how_to_repeat(c.name()));
    const int killed = play(c);
    EXPECT_GT(killed, 0) << "the run never reached " << c.points.front().text();
    kills += killed;
    if (::testing::Test::HasFailure()) break;
  }
  return kills;
}

/// Counts and prints what a test has covered.
class Tally {
 public:
  explicit Tally(std::string what) : what_(std::move(what)) {}
  ~Tally() {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    std::cout << "[  KILLS   ] " << kills_ << ' ' << what_ << ", " << static_cast<int>(kills_ / took.count())
              << " a second\n";
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  void add(int kills) { kills_ += kills; }

 private:
  const std::string what_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  int kills_ = 0;
};

class Kill : public ::testing::TestWithParam<std::string> {};

TEST_P(Kill, AtEachPoint_LosesAndRepeatsNothingSettled) {
  Tally tally("single kills, kind " + GetParam());
  tally.add(play_all(testing::single_kills(GetParam())));
}

TEST_P(Kill, AgainDuringRecovery_LosesAndRepeatsNothingSettled) {
  Tally tally("kills in pairs, kind " + GetParam());
  const auto all = testing::double_kills(testing::single_kills(GetParam()));
  tally.add(
      play_all(std::getenv("PRAXIS_CRASH_CASE") ? all : sample(all, static_cast<std::size_t>(rounds()))));
}

INSTANTIATE_TEST_SUITE_P(Crash, Kill, ::testing::ValuesIn(testing::kKinds),
                         [](const auto& kind) { return kind.param; });

TEST(CrashKill, AtAnyMoment_LosesAndRepeatsNothingSettled) {
  using Clock = std::chrono::steady_clock;
  Tally tally("kills at random moments");
  for (int seed = 0; seed < rounds(); ++seed) {
    for (const std::string agent : {"model", "plan"}) {
      const std::string doubt =
          std::array{"tell", "allow", "deny", "answer"}[static_cast<std::size_t>(seed) % 4];
      const Case c{agent, doubt, {{"random", "moment", seed}}};
      if (!is_wanted(c)) continue;
      SCOPED_TRACE(how_to_repeat(c.name()));
      std::mt19937 random(static_cast<unsigned>(seed));
      const auto began = Clock::now();
      Rig(agent, doubt).run({});
      const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
      Rig rig(agent, doubt);
      for (int kill = 0; kill < 3; ++kill) {
        const pid_t pid = rig.start({});
        std::this_thread::sleep_for(whole * static_cast<int>(random() % 1000) / 1000);
        ::kill(pid, SIGKILL);
        tally.add(Rig::was_killed(pid) ? 1 : 0);
      }
      finish(rig, agent, doubt);
      check_cost(rig, agent, 3);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace praxis
