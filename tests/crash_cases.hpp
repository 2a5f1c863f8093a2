// The cases: where a process is killed, and where it is killed again while it recovers.
#pragma once

#include "crash_checks.hpp"

namespace praxis::testing {

struct Case {
  std::string agent, doubt;
  std::vector<Point> points;

  std::string name() const {
    std::string name = agent + '/' + doubt;
    for (const Point& point : points) name += '+' + point.text();
    return name;
  }
};

inline const std::vector<std::string> kPlaces{"before_intent", "after_intent", "inside",
                                              "acted",         "unrecorded",   "recorded"};
inline const std::vector<std::string> kInTheJournal{"before_intent", "after_intent", "unrecorded",
                                                    "recorded"};
inline const std::vector<std::string> kDoubts{"tell", "allow", "deny", "answer"};

/// Adds every single kill at `places` of an effect that occurs `count` times in the agent's run; a payment is
/// the effect that must not be repeated.
inline void add_kills(std::vector<Case>& cases, const std::string& agent, const std::string& target,
                      int count, const std::vector<std::string>& places = kPlaces) {
  for (int n = 1; n <= count; ++n) {
    for (const std::string& where : places) {
      if (target == "person" && where == "acted") continue;  // a decision happens in the journal only
      for (const std::string& doubt : kDoubts) {
        if (doubt == "tell" || target == "pay") cases.push_back({agent, doubt, {{target, where, n}}});
      }
    }
  }
}

/// Returns every single kill at one kind of effect.
inline std::vector<Case> single_kills(const std::string& kind) {
  struct Target {
    std::string agent, name;
    int count;
  };
  static const std::map<std::string, std::vector<Target>> kTargets{
      {"model", {{"model", "model", 4}}},
      {"idempotent", {{"model", "put", 1}, {"model", "send", 1}, {"plan", "put", 2}}},
      {"once", {{"model", "pay", 1}, {"plan", "pay", 2}, {"steps", "pay", 1}}},
      {"timer", {{"plan", "timer", 1}}},
      {"person", {{"model", "person", 1}, {"plan", "person", 1}, {"steps", "person", 1}}},
      {"consult", {{"steps", "model", 5}}},
      {"summary", {{"summary", "model", 7}}},
  };
  std::vector<Case> cases;
  for (const Target& target : kTargets.at(kind)) add_kills(cases, target.agent, target.name, target.count);
  return cases;
}

inline const std::vector<std::string> kKinds{"model",  "idempotent", "once",   "timer",
                                             "person", "consult",    "summary"};

/// Returns every single kill of `tree` or `python`: at each effect, and before and after each append.
inline std::vector<Case> tree_kills(const std::string& agent) {
  const bool is_tree = agent == "tree";
  std::vector<Case> cases;
  add_kills(cases, agent, "model", 6);
  add_kills(cases, agent, "put", is_tree ? 3 : 1);
  add_kills(cases, agent, "pay", undisturbed(agent).pays);
  add_kills(cases, agent, "person", 1);
  add_kills(cases, agent, "child", is_tree ? 3 : 2, kInTheJournal);
  for (const std::string tool : {"manager", "clerk", is_tree ? "errand" : "python"})
    add_kills(cases, agent, tool, 1, kInTheJournal);
  if (is_tree) add_kills(cases, agent, "errand", 1, {"inside"});
  add_kills(cases, agent, "append", 18, {"before", "after"});
  return cases;
}

/// Combines each of `singles` with every second kill of the recovering process.
inline std::vector<Case> double_kills(const std::vector<Case>& singles) {
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

/// Lets the last process finish and checks the invariants.
inline void finish(Rig& rig, const std::string& agent, const std::string& doubt) {
  EXPECT_FALSE(rig.run({}));
  const auto logs = rig.logs();
  check_result(agent, doubt, logs);
  check_replay(logs);
  check_effects(rig, logs, undisturbed(agent).pays);
}

/// Kills as `c` says and checks; returns the number of kills. `database` as of `Rig`.
inline int play(const Case& c, const std::string& database = "") {
  Rig rig(c.agent, c.doubt, database);
  int kills = 0;
  for (const Point& point : c.points) {
    if (!rig.run(point)) continue;
    ++kills;
    check_births(rig);
  }
  finish(rig, c.agent, c.doubt);
  check_cost(rig, c.agent, kills);
  // A batch of parallel calls leaves more than one outcome.
  const bool in_batch = c.agent == "plan" && c.points.front().n == 2;
  const bool counted = !undisturbed(c.agent).counts.empty() && !in_batch;
  if (c.points.size() == 1 && kills == 1 && counted && c.points.front().target != "append")
    check_counts(rig, c.agent, c.doubt, c.points.front());
  return kills;
}

// ---- the cases of the tests, one after another

inline bool is_wanted(const Case& c) {
  const char* wanted = std::getenv("PRAXIS_CRASH_CASE");
  return wanted == nullptr || c.name() == wanted;
}

inline std::string how_to_repeat(const std::string& name) {
  return "PRAXIS_CRASH_CASE='" + name + "' PRAXIS_CRASH_ROUNDS=" + std::to_string(rounds()) +
         " ctest --preset dev --tests-regex '^Crash' --output-on-failure";
}

}  // namespace praxis::testing
