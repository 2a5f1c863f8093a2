// The invariants of a run with kills anywhere: nothing settled is lost or done twice, nothing that must not
// be repeated is repeated, the result is the same, and the log is the one that the core would write again.
#pragma once

#include <algorithm>
#include <numeric>

#include "crash_rig.hpp"
#include "praxis/core/state.hpp"

namespace praxis::testing {

/// The number of occurrences of each effect outside the process.
using Counts = std::map<std::string, int>;

/// The run of an agent without kills.
struct Undisturbed {
  std::string text;  ///< its final answer
  std::size_t sessions = 1;
  int pays = 1;  ///< proposed by the agent and those below
  /// Empty: with parallel effects, the number of outcomes that a kill loses varies.
  Counts counts{};
  /// Effects in sequence; the plan ends in a batch.
  std::vector<std::string> order{};
};

inline const Undisturbed& undisturbed(const std::string& agent) {
  static const std::map<std::string, Undisturbed> kAll{
      {"model",
       {.text = "Put, paid and sent.",
        .counts = {{"model", 4}, {"put", 1}, {"pay", 1}, {"send", 1}},
        .order = {"model/1", "put/1", "model/2", "pay/1", "model/3", "person/1", "send/1", "model/4"}}},
      {"plan",
       {.text = "put done, a friend, ",
        .pays = 2,
        .counts = {{"timer", 1}, {"put", 2}, {"pay", 2}},
        .order = {"timer/1", "put/1", "person/1", "pay/1", "pay/2"}}},
      {"steps",
       {.text = "Paid for a friend.",
        .counts = {{"model", 5}, {"pay", 1}},
        .order = {"model/1", "person/1", "model/2", "model/3", "pay/1", "model/4", "model/5"}}},
      {"summary",
       {.text = "All is put.",
        .pays = 0,
        .counts = {{"model", 7}, {"put", 5}},
        .order = {"model/1", "put/1", "model/2", "put/2", "model/3", "put/3", "model/4", "put/4", "model/5",
                  "model/6", "put/5", "model/7"}}},
      {"tree", {.text = "All is done.", .sessions = 4}},
      {"python", {.text = "All is done.", .sessions = 3, .pays = 3}},
  };
  return kAll.at(agent);
}

/// Returns the text that replaces the result of a payment that may have been made.
inline std::string pay_text(const std::string& doubt) {
  if (doubt == "tell") {
    return "Outcome unknown: the process stopped while this call ran. It may or may not have taken effect; "
           "check before "
           "you repeat it.";
  }
  if (doubt == "answer") return "it was paid";
  return "Outcome unknown: the process stopped while this call ran; it was not repeated. I will look into "
         "it.";
}

using Logs = std::vector<std::vector<StoredRecord>>;

/// Checks that all turns have ended as they would have without a kill.
inline void check_result(const std::string& agent, const std::string& doubt, const Logs& logs) {
  const auto root = fold(logs.front());
  ASSERT_TRUE(root) << root.error().message;
  const AgentResult result = result_of(*root);
  EXPECT_EQ(result.reason, StopReason::kFinished) << to_json_text(to_json(result));
  std::string expected = undisturbed(agent).text;
  if (agent == "plan") {
    const auto effects = effects_of(logs.front());
    const auto first_pay =
        std::ranges::find_if(effects, [](const auto& entry) { return entry.second.tool == "pay"; });
    ASSERT_NE(first_pay, effects.end());
    expected += first_pay->second.ok ? "pay done" : pay_text(doubt);
  }
  EXPECT_EQ(result.text, expected);
  EXPECT_EQ(logs.size(), undisturbed(agent).sessions) << "a sub-agent was created twice or is missing";
  std::int64_t own = 0;
  for (const auto& records : logs) {
    const auto state = fold(records);
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_FALSE(state->turn) << state->path << " was left in the middle of a turn";
    own += state->usage.total();
  }
  EXPECT_EQ(root->subtree_usage().total(), own) << "usage is lost or counted twice";
}

/// Checks, without changing what a kill has left, that every session in the journal has its first input: a
/// prompt, or the conversation that it continues.
inline void check_births(const Rig& rig) {
  const auto journal = sqlite_journal(rig.journal(), {.read_only = true});
  if (!journal) return;  // killed before the journal was made
  const auto rows = (*journal)->sessions();
  ASSERT_TRUE(rows) << rows.error().message;
  for (const SessionRow& row : *rows) {
    const auto records = read_records(**journal, row.id);
    ASSERT_TRUE(records) << records.error().message;
    EXPECT_GT(records->size(), 1U) << row.agent << " is in the journal without its prompt";
  }
}

/// Checks that every log equals the one that the core would write again.
inline void check_replay(const Logs& logs) {
  for (const auto& records : logs) {
    const auto replayed = replay(records);
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_FALSE(replayed->divergence)
        << "record " << replayed->divergence->seq << ", " << replayed->divergence->field << ": "
        << replayed->divergence->expected << " became " << replayed->divergence->found;
    EXPECT_EQ(replayed->records, records.size());
  }
}

/// Returns how often each key is in the ledger; the same attempt must not be there twice.
inline std::map<std::string, int> acts_of(const Rig& rig) {
  std::map<std::string, int> acts;
  std::set<std::array<std::string, 3>> seen;
  for (const auto& line : rig.ledger()) {
    if (line[0] == "timer") continue;
    EXPECT_TRUE(seen.insert(line).second)
        << line[0] << ' ' << line[1] << ": attempt " << line[2] << " was executed twice";
    if (line[0] != "model") ++acts[line[1]];
  }
  return acts;
}

/// Checks that nothing settled is lost, and that nothing is repeated that must not be.
inline void check_effects(const Rig& rig, const Logs& logs, int expected_pays) {
  const std::set<std::string> outside{"put", "pay", "send"};  // other tools only call these
  auto acts = acts_of(rig);
  std::size_t keys = 0;
  int pays = 0;
  for (const auto& records : logs) {
    for (const auto& [id, effect] : effects_of(records)) {
      EXPECT_TRUE(effect.ok || effect.doubted) << effect.tool << " was intended and never settled";
      if (!outside.contains(effect.tool)) continue;
      const int done = acts[effect.key];
      keys += done > 0 ? 1 : 0;
      EXPECT_LE(done, effect.intents) << effect.tool << " was executed without an intent";
      if (effect.ok) {
        EXPECT_GE(done, 1) << effect.tool << " was recorded as done, but not executed";
      }
      if (effect.tool != "pay") continue;
      ++pays;
      EXPECT_LE(done, 1 + effect.permits) << "pay was repeated without approval";
      EXPECT_LE(effect.intents, 1 + effect.permits) << "pay was intended again without approval";
    }
  }
  std::erase_if(acts, [](const auto& act) { return act.second == 0; });
  EXPECT_EQ(keys, acts.size()) << "an effect was executed under a key that no log has";
  EXPECT_EQ(pays, expected_pays) << "a payment was proposed twice, or never";
}

inline Counts counts_of(const Rig& rig, const std::string& agent) {
  Counts counts;
  for (const auto& [name, none] : undisturbed(agent).counts) counts[name] = 0;
  for (const auto& line : rig.ledger()) ++counts[line[0]];
  return counts;
}

/// Checks that a kill costs no more than the effects in flight.
inline void check_cost(const Rig& rig, const std::string& agent, int kills) {
  if (undisturbed(agent).counts.empty()) return;
  const int under_way = agent == "plan" ? 2 : 1;
  const auto sum = [](const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0,
                           [](int total, const auto& entry) { return total + entry.second; });
  };
  EXPECT_LE(sum(counts_of(rig, agent)), sum(undisturbed(agent).counts) + under_way * kills);
}

/// An outcome and the intent that follows it are one append: a process that dies before one has not recorded
/// the other, and one that dies after the second has also recorded the first.
inline Point seen_by_the_journal(const std::string& agent, const Point& point) {
  const auto& order = undisturbed(agent).order;
  auto at = std::ranges::find(order, point.target + '/' + std::to_string(point.n));
  const bool earlier = point.where == "before_intent" && at != order.begin();
  const bool later = point.where == "recorded" && at != order.end() && at + 1 != order.end();
  if (!earlier && !later) return point;
  at += earlier ? -1 : 1;
  return {at->substr(0, at->find('/')), earlier ? "unrecorded" : "after_intent", 1};
}

/// After a single kill, the number of times that each thing must have happened is known.
inline void check_counts(const Rig& rig, const std::string& agent, const std::string& doubt,
                         const Point& killed_at) {
  Counts expected = undisturbed(agent).counts;
  const Point point = seen_by_the_journal(agent, killed_at);
  const bool left_alone = point.target == "pay" && doubt != "allow" && point.is_doubtful();
  if (expected.contains(point.target)) {
    expected[point.target] += (point.is_unrecorded() ? 1 : 0) - (left_alone ? 1 : 0);
  }
  EXPECT_EQ(counts_of(rig, agent), expected);
}

}  // namespace praxis::testing
