// Processes that are killed at every point of a run, and killed again while they recover, against the promise
// that nothing settled is lost or done twice. `crash_runner` is what is killed; PRAXIS_CRASH_ROUNDS says how
// many double and random kills each test makes, PRAXIS_CRASH_CASE repeats one case.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "crash_rig.hpp"

namespace praxis {
namespace {

using testing::Effect;
using testing::effects_of;
using testing::Point;
using testing::Rig;
using testing::rounds;

struct Case {
  std::string agent, doubt;
  std::vector<Point> points;

  std::string name() const {
    std::string name = agent + '/' + doubt;
    for (const Point& point : points) name += '+' + point.text();
    return name;
  }
};

// ---- what must hold after any kills

std::string pay_text(const std::string& doubt) {
  if (doubt == "tell") {
    return "Outcome unknown: the process stopped while this call ran. It may or may not have taken effect; "
           "check before "
           "you repeat it.";
  }
  if (doubt == "answer") return "it was paid";
  return "Outcome unknown: the process stopped while this call ran; it was not repeated. I will look into "
         "it.";
}

void check_result(const std::string& agent, const std::string& doubt,
                  const std::vector<StoredRecord>& records) {
  const auto state = fold(records);
  ASSERT_TRUE(state) << state.error().message;
  const AgentResult result = result_of(*state);
  EXPECT_EQ(result.reason, StopReason::kFinished) << to_json_text(to_json(result));
  std::string expected = "Put, paid and sent.";
  if (agent == "plan") {
    const auto effects = effects_of(records);
    const auto first_pay =
        std::ranges::find_if(effects, [](const auto& entry) { return entry.second.tool == "pay"; });
    ASSERT_NE(first_pay, effects.end());
    expected = "put done, a friend, " + (first_pay->second.ok ? "pay done" : pay_text(doubt));
  }
  EXPECT_EQ(result.text, expected);

  const auto replayed = replay(records);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_FALSE(replayed->divergence) << "record " << replayed->divergence->seq << ", "
                                     << replayed->divergence->field << ": " << replayed->divergence->expected
                                     << " became " << replayed->divergence->found;
  EXPECT_EQ(replayed->records, records.size());
}

/// Nothing settled is lost, nothing is repeated that may not be.
void check_effects(const Rig& rig, const std::vector<StoredRecord>& records) {
  std::map<std::string, int> lines;  // by key
  std::set<std::array<std::string, 3>> seen;
  for (const auto& line : rig.ledger()) {
    if (line[0] == "timer") continue;
    EXPECT_TRUE(seen.insert(line).second)
        << line[0] << ' ' << line[1] << ": attempt " << line[2] << " was made twice";
    if (line[0] != "model") ++lines[line[1]];
  }
  std::size_t keys = 0;
  for (const auto& [id, effect] : effects_of(records)) {
    const int done = lines.contains(effect.key) ? lines[effect.key] : 0;
    keys += done > 0 ? 1 : 0;
    EXPECT_LE(done, effect.intents) << effect.tool << " was done without being intended";
    if (effect.ok) {
      EXPECT_GE(done, 1) << effect.tool << " was recorded as done, and was not";
    }
    if (effect.tool == "pay") {
      EXPECT_LE(done, 1 + effect.permits) << "pay was repeated, and nobody allowed it";
      EXPECT_LE(effect.intents, 1 + effect.permits) << "pay was intended again, and nobody allowed it";
    }
    EXPECT_TRUE(effect.ok || effect.doubted) << effect.tool << " was intended and never settled";
  }
  EXPECT_EQ(keys, lines.size()) << "something was done under a key that the log does not know";
}

/// How often each thing happens when nobody is killed.
using Counts = std::map<std::string, int>;
const std::map<std::string, Counts> kUndisturbed{
    {"model", {{"model", 4}, {"put", 1}, {"pay", 1}, {"send", 1}}},
    {"plan", {{"timer", 1}, {"put", 2}, {"pay", 2}}},
};
/// In which order; the plan ends in a batch.
const std::map<std::string, std::vector<std::string>> kOrder{
    {"model", {"model/1", "put/1", "model/2", "pay/1", "model/3", "person/1", "send/1", "model/4"}},
    {"plan", {"timer/1", "put/1", "person/1", "pay/1", "pay/2"}},
};

/// An outcome and the intent that follows from it are one append: what dies before the one has not recorded
/// the other, and what dies after the other has intended the one.
Point seen_by_the_journal(const Case& c) {
  Point point = c.points.front();
  const auto& order = kOrder.at(c.agent);
  auto at = std::ranges::find(order, point.target + '/' + std::to_string(point.n));
  const bool earlier = point.where == "before_intent" && at != order.begin();
  const bool later = point.where == "recorded" && at != order.end() && at + 1 != order.end();
  if (!earlier && !later) return point;
  at += earlier ? -1 : 1;
  return {at->substr(0, at->find('/')), earlier ? "unrecorded" : "after_intent", 1};
}

Counts counts_of(const Rig& rig, const std::string& agent) {
  Counts counts;
  for (const auto& [name, none] : kUndisturbed.at(agent)) counts[name] = 0;
  for (const auto& line : rig.ledger()) ++counts[line[0]];
  return counts;
}

/// After a single kill it is known how often each thing must have happened.
void check_counts(const Rig& rig, const Case& c) {
  Counts expected = kUndisturbed.at(c.agent);
  const Point point = seen_by_the_journal(c);
  const bool left_alone = point.target == "pay" && c.doubt != "allow" && point.is_doubtful();
  if (expected.contains(point.target)) {
    expected[point.target] += (point.is_unrecorded() ? 1 : 0) - (left_alone ? 1 : 0);
  }
  EXPECT_EQ(counts_of(rig, c.agent), expected);
}

/// A kill costs no more than what was under way.
void check_cost(const Rig& rig, const std::string& agent, int kills) {
  const int under_way = agent == "plan" ? 2 : 1;
  const auto sum = [](const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0,
                           [](int total, const auto& entry) { return total + entry.second; });
  };
  EXPECT_LE(sum(counts_of(rig, agent)), sum(kUndisturbed.at(agent)) + under_way * kills);
}

// ---- the cases

const std::vector<std::string> kPlaces{"before_intent", "after_intent", "inside",
                                       "acted",         "unrecorded",   "recorded"};

/// Every single kill on a kind of effect.
std::vector<Case> single_kills(const std::string& kind) {
  struct Target {
    std::string agent, name;
    int count;
  };
  const std::map<std::string, std::vector<Target>> targets{
      {"model", {{"model", "model", 4}}},
      {"idempotent", {{"model", "put", 1}, {"model", "send", 1}, {"plan", "put", 2}}},
      {"once", {{"model", "pay", 1}, {"plan", "pay", 2}}},
      {"timer", {{"plan", "timer", 1}}},
      {"person", {{"model", "person", 1}, {"plan", "person", 1}}},
  };
  std::vector<std::string> doubts{"tell"};
  if (kind == "once") doubts = {"tell", "allow", "deny", "answer"};
  std::vector<Case> cases;
  for (const Target& target : targets.at(kind)) {
    for (int n = 1; n <= target.count; ++n) {
      for (const std::string& where : kPlaces) {
        if (kind == "person" && where == "acted") continue;  // deciding happens in the journal alone
        for (const std::string& doubt : doubts)
          cases.push_back({target.agent, doubt, {{target.name, where, n}}});
      }
    }
  }
  return cases;
}

/// Each of `singles` with every second kill of the process that recovers.
std::vector<Case> double_kills(const std::vector<Case>& singles) {
  std::vector<Case> cases;
  for (const Case& first : singles) {
    std::vector<Point> seconds{{"recovery", "before_intent"}, {"recovery", "after_intent"}};
    for (const std::string& where : kPlaces) {
      seconds.push_back({first.points.front().target, where});
      if (first.doubt != "tell" && where != "acted") seconds.push_back({"person", where});
    }
    for (const Point& second : seconds) {
      cases.push_back(first);
      cases.back().points.push_back(second);
    }
  }
  return cases;
}

/// `count` of them, spread evenly.
std::vector<Case> sample(const std::vector<Case>& cases, std::size_t count) {
  if (count >= cases.size()) return cases;
  std::vector<Case> sampled;
  for (std::size_t i = 0; i < count; ++i) sampled.push_back(cases[i * cases.size() / count]);
  return sampled;
}

bool is_wanted(const std::string& name) {
  const char* wanted = std::getenv("PRAXIS_CRASH_CASE");
  return wanted == nullptr || name == wanted;
}

std::string how_to_repeat(const std::string& name) {
  return "PRAXIS_CRASH_CASE='" + name + "' PRAXIS_CRASH_ROUNDS=" + std::to_string(rounds()) +
         " ctest --preset dev --tests-regex '^Crash' --output-on-failure";
}

/// Lets the last process finish and checks what must always hold.
void finish(Rig& rig, const std::string& agent, const std::string& doubt) {
  EXPECT_FALSE(rig.run({}));
  const auto records = rig.records();
  check_result(agent, doubt, records);
  check_effects(rig, records);
}

/// Kills as `c` says and checks; how many kills there were.
int play(const Case& c) {
  SCOPED_TRACE(how_to_repeat(c.name()));
  Rig rig(c.agent, c.doubt);
  int kills = 0;
  for (const Point& point : c.points) kills += rig.run(point) ? 1 : 0;
  EXPECT_GT(kills, 0) << "the run never came by " << c.points.front().text();
  finish(rig, c.agent, c.doubt);
  check_cost(rig, c.agent, kills);
  // A batch of parallel calls leaves more than one outcome.
  const bool in_batch = c.agent == "plan" && c.points.front().n == 2;
  if (c.points.size() == 1 && !in_batch) check_counts(rig, c);
  return kills;
}

/// Prints what a test has to show for itself.
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
  for (const Case& c : single_kills(GetParam())) {
    if (is_wanted(c.name())) tally.add(play(c));
    if (HasFailure()) break;
  }
}

TEST_P(Kill, AgainDuringRecovery_LosesAndRepeatsNothingSettled) {
  Tally tally("kills in pairs, kind " + GetParam());
  const auto all = double_kills(single_kills(GetParam()));
  const auto sampled =
      std::getenv("PRAXIS_CRASH_CASE") ? all : sample(all, static_cast<std::size_t>(rounds()));
  for (const Case& c : sampled) {
    if (is_wanted(c.name())) tally.add(play(c));
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Crash, Kill, ::testing::Values("model", "idempotent", "once", "timer", "person"),
                         [](const auto& kind) { return kind.param; });

TEST(CrashKill, AtAnyMoment_LosesAndRepeatsNothingSettled) {
  using Clock = std::chrono::steady_clock;
  Tally tally("kills at random moments");
  for (int seed = 0; seed < rounds(); ++seed) {
    for (const std::string agent : {"model", "plan"}) {
      const std::string doubt =
          std::array{"tell", "allow", "deny", "answer"}[static_cast<std::size_t>(seed) % 4];
      const std::string name = "random/" + agent + '/' + doubt + '/' + std::to_string(seed);
      if (!is_wanted(name)) continue;
      SCOPED_TRACE(how_to_repeat(name));
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
