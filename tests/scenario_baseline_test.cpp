// Whole flows against a baseline: what each scenario costs, how many steps it takes, how it ends, and the
// digest of its log. A change that moves one of these numbers is seen in review, with the reason.
//   make scenarios               compares
//   make scenarios UPDATE=1      writes the baseline, for review
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "praxis/json/json.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
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

/// All records without times, in their order.
std::string text_of_log(const std::vector<StoredRecord>& records) {
  std::string log;
  for (const StoredRecord& stored : records) {
    std::vector<RecordBlob> blobs;
    Json body = parse_json(encode_record(stored.record.body, blobs)).value();
    drop_times(body);
    log += std::string(kind_name(stored.record.body)) + ' ' + to_canonical_json(body) + '\n';
  }
  return log;
}

/// The logs of a session and of all below it, a session before those below it.
std::string text_of_logs(Journal& journal, const SessionId& session) {
  std::string logs = text_of_log(read_records(journal, session).value());
  const auto below = journal.children(session).value();
  for (const SessionRow& child : below) logs += text_of_logs(journal, child.id);
  return logs;
}

/// The digest of the log of a session and of those below it. The folder of the source is no part of it.
std::string digest_of_logs(Journal& journal, const SessionId& session) {
  const std::string source = PRAXIS_SOURCE_DIR;
  std::string logs = text_of_logs(journal, session);
  for (std::size_t at = 0; (at = logs.find(source, at)) != std::string::npos;) logs.erase(at, source.size());
  constexpr std::size_t kBytes = 8;
  return digest_of(logs).hex(kBytes);
}

Played played(const Scenario& scenario) {
  if (std::getenv("PRAXIS_SHOW_SCENARIOS") != nullptr)
    std::cout << "flow " << scenario.name << " begins" << std::endl;
  if (scenario.play) return scenario.play(scenario);
  Setting setting;
  Stage stage(scenario, setting);
  std::vector<AgentResult> results = stage.play();
  return {setting.journal, stage.session(), std::move(results)};
}

/// One line of the baseline.
Json measured(const Scenario& scenario) {
  const auto [journal, session, results] = played(scenario);
  const auto records = read_records(*journal, session).value();
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
                    {"log", digest_of_logs(*journal, session)}};
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
  std::ranges::move(session_scenarios(), std::back_inserter(all));
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
      ADD_FAILURE() << "flow " << scenario.name << " has no baseline: make scenarios UPDATE=1";
      continue;
    }
    try {
      EXPECT_THAT(changes(before->second, measured(scenario)), IsEmpty())
          << "flow " << scenario.name << ": if this is wanted, make scenarios UPDATE=1; the commit says why";
    } catch (const std::exception& broken) {
      ADD_FAILURE() << "flow " << scenario.name << " cannot be played: " << broken.what();
    }
    baseline.erase(before);
  }
  EXPECT_TRUE(baseline.empty()) << baseline.begin()->first << " is a scenario no more";
}

/// What was said in a session, and the results of its calls, as lines in their order.
std::string conversation_of(const Played& played) {
  const Conversation whole = transcript(read_records(*played.journal, played.session).value()).value();
  std::string lines;
  for (const Message& message : whole.messages) {
    for (const Part& part : message.parts) {
      if (const auto* text = std::get_if<TextPart>(&part)) lines += text->text + '\n';
      if (const auto* result = std::get_if<ToolResultPart>(&part))
        lines += result->name + ": " + result->text + '\n';
    }
  }
  return lines;
}

/// The structured forms of the results of a session's calls, as lines in their order.
std::string values_of(const Played& played) {
  std::string lines;
  const auto records = read_records(*played.journal, played.session).value();
  for (const StoredRecord& stored : records) {
    const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
    const auto* tool = settled != nullptr ? std::get_if<ToolOutcome>(&settled->result) : nullptr;
    if (tool != nullptr && !tool->value.is_null()) lines += to_json_text(tool->value) + '\n';
  }
  return lines;
}

TEST(ScenarioBaseline, Flows_DoWhatTheyAreNamedAfter) {
  std::map<std::string, std::string> said;          // by scenario: the results of its calls, and its answers
  std::map<std::string, std::string> gave;          // by scenario: a line for each call that succeeded
  std::map<std::string, std::string> conversation;  // by scenario
  std::map<std::string, std::string> values;        // by scenario
  const auto note = [&](const std::vector<Scenario>& flows) {
    for (const Scenario& scenario : flows) {
      std::string& all = said[scenario.name];
      const Played flow = played(scenario);
      conversation[scenario.name] = conversation_of(flow);
      values[scenario.name] = values_of(flow);
      for (const AgentResult& result : flow.results) {
        for (const ActionResult& action : result.actions) {
          all += action.result + '\n';
          if (action.outcome == Outcome::kOk)
            gave[scenario.name] += action.tool + ": " + action.result + '\n';
        }
        all += result.text + '\n' + (result.error ? result.error->message + '\n' : "");
      }
    }
  };
  note(flow_scenarios());
  note(session_scenarios());
  EXPECT_THAT(gave["six_steps"], HasSubstr("add: 5\n"));
  EXPECT_THAT(said["memory"], AllOf(HasSubstr("Ada lives in Lisbon."), HasSubstr("nothing found")));
  EXPECT_THAT(said["coding"], HasSubstr("return a + b"));
  EXPECT_THAT(said["budget"], HasSubstr("the cost limit of the turn is reached"));
  EXPECT_THAT(said["tree"], HasSubstr("The clerk says Lisbon."));
  EXPECT_THAT(said["tree_approval"], HasSubstr("Stamped."));
  EXPECT_THAT(said["tree_budget"], HasSubstr("the cost limit of the turn is reached"));
  EXPECT_THAT(said["clone"], HasSubstr("three\nThree apples."));
  EXPECT_EQ(conversation["team"], "Write it\nA draft.\nContinue from the answer above.\nA better text.\n");
  EXPECT_THAT(said["fork"], HasSubstr("one\ntwo\ntwo"));
  EXPECT_THAT(said["resume_in_doubt"], HasSubstr("Outcome unknown"));
  EXPECT_THAT(said["resume"], HasSubstr("noted: milk\nnoted"));
  EXPECT_EQ(conversation["rewind"], "a\none\nb, but better\ntwo again\n");
  EXPECT_THAT(said["deadline"], HasSubstr("the time limit of 20 ms is reached"));
  EXPECT_THAT(said["late_tool"], HasSubstr("may or may not have"));
  EXPECT_THAT(said["late_repeatable_tool"], HasSubstr("work did not finish within 20 ms"));
  EXPECT_THAT(said["retries_spent"], HasSubstr("busy, attempt 2"));
  EXPECT_EQ(conversation["ask_user"], "go\nask_user: blue\nBlue it is.\n");
  EXPECT_THAT(said["hooks"], AllOf(HasSubstr("not noted"), HasSubstr("4"), HasSubstr("withheld")));
  EXPECT_EQ(gave["mcp"], "fix__sum: \n");
  EXPECT_EQ(values["mcp"], "{\"sum\":5}\n") << "what the server gave, which has no text";
  EXPECT_THAT(said["recorded_vendor"], HasSubstr("Noted: your city is Lisbon."));
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
