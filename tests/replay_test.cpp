// Guarantees of the journal: every scenario's log replays without a difference, a changed agent or log is
// reported where it first matters, a fork can be made at every record and resumed, and a model is sent the
// same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "praxis/core/next.hpp"
#include "scenarios.hpp"
#include "wires.hpp"

namespace praxis::testing {
namespace {

std::vector<StoredRecord> records_of(Journal& journal, const SessionId& session) {
  auto records = read_records(journal, session);
  EXPECT_TRUE(records) << records.error().message;
  return records ? *std::move(records) : std::vector<StoredRecord>{};
}

void expect_no_divergence(const std::vector<StoredRecord>& records) {
  const auto report = replay(records);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->records, records.size());
  if (const auto& divergence = report->divergence) {
    ADD_FAILURE() << "record " << divergence->seq << ", " << divergence->field << ": " << divergence->expected
                  << " became " << divergence->found;
  }
}

class Replay : public ::testing::TestWithParam<Scenario> {
 protected:
  Replay() { stage_.play(); }

  std::vector<StoredRecord> records() { return records_of(stage_.journal(), stage_.session()); }
  std::string exported(const SessionId& session) {
    auto text = export_session(stage_.journal(), session);
    EXPECT_TRUE(text) << text.error().message;
    return text.value_or("");
  }

  Stage stage_{GetParam(), {}};
};

TEST_P(Replay, Log_ReplaysWithoutDivergence) {
  const auto log = records();
  expect_no_divergence(log);
  const auto report = replay(log, &stage_.agent().spec());
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->divergence) << "the same agent diverges";
}

TEST_P(Replay, ChangedAgent_DivergesAtTheFirstModelCall) {
  const auto log = records();
  const auto first = std::ranges::find_if(log, is_model_call);
  if (first == log.end()) GTEST_SKIP() << "asks no model";
  AgentSpec wordy = stage_.agent().spec();
  wordy.instructions = "You are wordy.";
  AgentSpec poor = stage_.agent().spec();
  poor.tools.pop_back();
  for (const auto& [agent, field] : {std::pair(wordy, "settings"), std::pair(poor, "tools")}) {
    const auto report = replay(log, &agent);
    ASSERT_TRUE(report && report->divergence) << field;
    EXPECT_EQ(report->divergence->seq, first->seq);
    EXPECT_EQ(report->divergence->field, field);
    EXPECT_NE(report->divergence->expected, report->divergence->found);
  }
}

TEST_P(Replay, ChangedResultInTheLog_DivergesAtTheNextModelCall) {
  auto log = records();
  std::set<CallId> within;  // calls whose results only a handler gets
  std::set<EffectId> untold;
  for (const StoredRecord& stored : log) {
    const auto* proposed = std::get_if<records::CallProposed>(&stored.record.body);
    if (proposed != nullptr) within.insert(proposed->call.id);
    const auto* intent = std::get_if<records::EffectIntended>(&stored.record.body);
    if (intent != nullptr && within.contains(intent->call)) untold.insert(intent->effect);
  }
  const auto is_result = [&](const StoredRecord& stored) {
    const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
    const auto* outcome = settled == nullptr ? nullptr : std::get_if<ToolOutcome>(&settled->result);
    return outcome != nullptr && !untold.contains(settled->effect);
  };
  const auto result = std::ranges::find_if(log, is_result);
  if (result == log.end()) GTEST_SKIP() << "no tool returns a result";
  const auto next = std::find_if(result, log.end(), is_model_call);
  if (next == log.end()) GTEST_SKIP() << "no model gets the result";
  std::get<ToolOutcome>(std::get<records::EffectSettled>(result->record.body).result).result.text += "!";
  const auto report = replay(log);
  ASSERT_TRUE(report && report->divergence);
  EXPECT_EQ(report->divergence->seq, next->seq);
  EXPECT_EQ(report->divergence->field, "history");
}

TEST_P(Replay, ForkAtEveryRecord_CanBeResumedAndKeepsTheOriginalUnchanged) {
  const std::string before = exported(stage_.session());
  const auto log = records();
  for (const StoredRecord& at : log) {
    SCOPED_TRACE("fork at record " + std::to_string(at.seq) + ", " + std::string(kind_name(at.record.body)));
    const auto fork = fork_session(stage_.journal(), stage_.environment(), stage_.session(), at.seq);
    ASSERT_TRUE(fork) << fork.error().message;
    const auto forked = fold(records_of(stage_.journal(), *fork));
    ASSERT_TRUE(forked) << forked.error().message;
    EXPECT_EQ(forked->seq, at.seq);
    const auto original = fold(log, at.seq);
    EXPECT_EQ(forked->conversation.history().digest(), original->conversation.history().digest());

    const AgentResult result = stage_.finish(*fork);
    EXPECT_TRUE(result.reason) << to_json_text(to_json(result));
    const auto carried = records_of(stage_.journal(), *fork);
    expect_no_divergence(carried);
    const auto state = fold(carried);
    ASSERT_TRUE(state);
    std::vector<Message> messages;
    for (const MessagePtr& message : state->conversation.history().messages()) messages.push_back(*message);
    EXPECT_TRUE(normalise(messages).repairs.empty());
  }
  EXPECT_EQ(exported(stage_.session()), before);
}

TEST_P(Replay, ForkInTheLastTurn_HasTheSameResultUnlessACallIsInDoubt) {
  const auto log = records();
  const auto ended = fold(log);
  ASSERT_TRUE(ended);
  const AgentResult original = result_of(*ended);
  if (original.reason == StopReason::kModelFailed) GTEST_SKIP() << "another attempt may succeed";
  for (const StoredRecord& at : log) {
    const auto state = fold(log, at.seq);
    const bool begun = state->turn && !state->turn->prompt.empty();
    if (!begun || state->turn->id != ended->marks.back().turn) continue;
    const auto fork = fork_session(stage_.journal(), stage_.environment(), stage_.session(), at.seq);
    ASSERT_TRUE(fork) << fork.error().message;
    const AgentResult result = stage_.finish(*fork);
    const bool doubtful = std::ranges::any_of(
        result.actions, [](const ActionResult& action) { return action.outcome == Outcome::kUnknown; });
    if (doubtful) continue;
    EXPECT_EQ(result.reason, original.reason) << "fork at record " << at.seq;
    EXPECT_EQ(result.text, original.text) << "fork at record " << at.seq;
  }
}

TEST_P(Replay, ExportedAndImported_IsTheSameAndReplays) {
  const std::string text = exported(stage_.session());
  const auto other = memory_journal();
  const auto imported = import_session(*other, text);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(*imported, stage_.session());
  const auto again = export_session(*other, *imported);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, text);
  expect_no_divergence(records_of(*other, *imported));
}

INSTANTIATE_TEST_SUITE_P(Property, Replay, ::testing::ValuesIn(scenarios()),
                         [](const auto& scenario) { return scenario.param.name; });

TEST(PropertyReplay, SessionWithoutRecords_IsRefusedWithAReason) {
  Stage stage(scenarios().front(), {});
  const SessionId empty("01EMPTY");
  const auto lease = stage.journal().create(empty, {});
  ASSERT_TRUE(lease);
  stage.journal().release(*lease);
  const auto fork = fork_session(stage.journal(), stage.environment(), empty);
  ASSERT_FALSE(fork);
  EXPECT_NE(fork.error().message.find("no records"), std::string::npos) << fork.error().message;
  EXPECT_THROW(stage.finish(empty), std::runtime_error) << "the imported session is opened like any other";
}

// ---- what a model is sent

class Request : public ::testing::TestWithParam<Scenario> {};

TEST_P(Request, RenderedAgainFromTheLog_IsTheSameBytes) {
  std::shared_ptr<TappedModel> tap;
  Setting setting;
  setting.wrap = [&tap](std::shared_ptr<Model> model) {
    return tap = std::make_shared<TappedModel>(std::move(model));
  };
  Stage stage(GetParam(), std::move(setting));
  stage.play();
  if (!tap) GTEST_SKIP() << "asks no model";
  const auto log = records_of(stage.journal(), stage.session());
  const auto again = requests_of(log, *stage.agent().description());
  ASSERT_EQ(again.size(), tap->sent.size());
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i], tap->sent[i]) << "request " << i;
}

INSTANTIATE_TEST_SUITE_P(Property, Request, ::testing::ValuesIn(scenarios()),
                         [](const auto& scenario) { return scenario.param.name; });

}  // namespace
}  // namespace praxis::testing
