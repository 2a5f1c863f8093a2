// Whole flows against a baseline: what each scenario costs, how many steps it takes, how it ends, and the
// digest of its log. A change that moves one of these numbers is seen in review, with the reason.
//   make scenarios               compares
//   make scenarios UPDATE=1      writes the baseline, for review
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "praxis/json/json.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBaseline = PRAXIS_SOURCE_DIR "/tests/scenario_baseline.jsonl";

/// Removes what is a matter of time: it depends on threads, not on what was decided.
void drop_times(Json& value) {
  if (JsonArray* items = value.if_array()) {
    for (Json& item : *items) drop_times(item);
  }
  JsonObject* members = value.if_object();
  if (members == nullptr) return;
  for (const char* key : {"duration_ms", "active_ms", "delay_ms", "created_at"}) members->erase(key);
  for (auto& [key, member] : *members) drop_times(member);
}

/// The digest of all records, without times, in their order.
std::string digest_of_log(const std::vector<StoredRecord>& records) {
  std::string log;
  for (const StoredRecord& stored : records) {
    std::vector<RecordBlob> blobs;
    Json body = parse_json(encode_record(stored.record.body, blobs)).value();
    drop_times(body);
    log += std::string(kind_name(stored.record.body)) + ' ' + to_canonical_json(body) + '\n';
  }
  constexpr std::size_t kBytes = 8;
  return digest_of(log).hex(kBytes);
}

/// One line of the baseline.
Json measured(const Scenario& scenario) {
  Stage stage(scenario, {});
  const std::vector<AgentResult> results = stage.play();
  const auto records = read_records(stage.journal(), stage.session()).value();
  std::uint64_t steps = 0, calls = 0, answers = 0, retries = 0;
  for (const AgentResult& result : results) {
    if (!result.reason) continue;  // it waited for an approver, and another result continues it
    steps += result.steps;
    calls += result.actions.size();
    answers += result.model_calls.size();
    retries += result.retries.attempts;
  }
  const AgentResult& last = results.back();
  return JsonObject{{"scenario", scenario.name},
                    {"ends", last.reason ? to_string(*last.reason) : "waits"},
                    {"turns", scenario.turns},
                    {"steps", steps},
                    {"model_calls", answers},
                    {"tool_calls", calls},
                    {"retries", retries},
                    {"input", last.usage_total.input},
                    {"output", last.usage_total.output},
                    {"cost_usd", last.usage_total.cost.usd()},
                    {"records", records.size()},
                    {"log", digest_of_log(records)}};
}

/// What is not the same, as `member: baseline -> now`.
std::vector<std::string> changes(const Json& baseline, const Json& now) {
  std::vector<std::string> found;
  for (const auto& [key, value] : now.get_object()) {
    const Json& before = json_at(baseline, key);
    if (to_json_text(before) != to_json_text(value))
      found.push_back(std::string(key) + ": " + to_json_text(before) + " -> " + to_json_text(value));
  }
  return found;
}

std::map<std::string, Json> read_baseline() {
  std::map<std::string, Json> lines;
  std::ifstream in(kBaseline);
  for (std::string line; std::getline(in, line);) {
    auto json = parse_json(line);
    if (json) lines.emplace(json_string(*json, "scenario"), *json);
  }
  return lines;
}

std::vector<Scenario> scenarios_with_flows() {
  std::vector<Scenario> all = scenarios();
  std::ranges::move(flow_scenarios(), std::back_inserter(all));
  return all;
}

TEST(ScenarioBaseline, EachScenario_IsAsItsBaselineSays) {
  if (std::getenv("PRAXIS_UPDATE_SCENARIOS") != nullptr) {
    std::ofstream out(kBaseline);
    for (const Scenario& scenario : scenarios_with_flows()) out << to_json_text(measured(scenario)) << '\n';
    ASSERT_TRUE(out.good());
    return;
  }
  auto baseline = read_baseline();
  for (const Scenario& scenario : scenarios_with_flows()) {
    const auto before = baseline.find(scenario.name);
    if (before == baseline.end()) {
      ADD_FAILURE() << scenario.name << " has no baseline: make scenarios UPDATE=1";
      continue;
    }
    EXPECT_THAT(changes(before->second, measured(scenario)), IsEmpty())
        << scenario.name << ": if this is wanted, make scenarios UPDATE=1, and say why in the commit";
    baseline.erase(before);
  }
  EXPECT_TRUE(baseline.empty()) << baseline.begin()->first << " is a scenario no more";
}

TEST(ScenarioBaseline, Flows_DoWhatTheyAreNamedAfter) {
  std::map<std::string, std::string> said;  // by scenario: the results of its calls
  for (const Scenario& scenario : flow_scenarios()) {
    Stage stage(scenario, {});
    for (const AgentResult& result : stage.play()) {
      for (const ActionResult& action : result.actions) {
        EXPECT_EQ(action.outcome, Outcome::kOk) << scenario.name << ": " << action.result;
        said[scenario.name] += action.result + '\n';
      }
    }
  }
  EXPECT_THAT(said["six_steps"], HasSubstr("5"));
  EXPECT_THAT(said["memory"], HasSubstr("Ada lives in Lisbon."));
  EXPECT_THAT(said["coding"], HasSubstr("return a + b"));
  EXPECT_THAT(said["budget"], HasSubstr("2"));
}

TEST(ScenarioBaseline, ChangedScenario_IsNamedWithWhatChanged) {
  Scenario scenario;
  scenario.name = "own";
  scenario.script = "{\"text\": \"one\"}";
  const Json before = measured(scenario);
  EXPECT_THAT(changes(before, measured(scenario)), IsEmpty()) << "a scenario is the same each time";
  scenario.script = "{\"text\": \"two\"}";
  EXPECT_THAT(changes(before, measured(scenario)), ElementsAre(HasSubstr("log: ")));
}

}  // namespace
}  // namespace praxis::testing
