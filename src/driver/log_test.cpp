#include "driver/log.hpp"

#include <gtest/gtest.h>

#include "core/testing/fold.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis::driver {
namespace {

void add_record(Log& log, RecordBody body) { log.add(UnixMillis{5}, std::move(body), {}); }

RecordBody said(const std::string& text) {
  return records::MessageAppended{std::make_shared<const Message>(text_message(Role::kUser, text))};
}

/// A session in its first turn.
State first_turn(const std::string& prompt) {
  const ModelPlanner planner;
  AgentSpec agent;
  agent.id = "a";
  agent.model = "test:model";
  Fold fold(std::move(agent), planner);
  fold.begin(prompt);
  return fold.state();
}

TEST(Log, FirstAppendNamesTheSession) {
  Log log({SessionId{"s1"}, 3}, 0);
  add_record(log, said("hello"));
  const Append append = log.begin_append(first_turn("hello"), SessionStatus::kRunning);
  EXPECT_EQ(append.lease.token, 3U);
  EXPECT_EQ(append.expected_seq, 0U);
  EXPECT_EQ(append.row.agent, "a");
  EXPECT_EQ(append.row.model, "test:model");
  EXPECT_EQ(append.row.status, "running");
  EXPECT_EQ(append.row.title, "hello");
  ASSERT_EQ(append.entries.size(), 1U);
  EXPECT_EQ(append.entries[0].kind, "message_appended");
  EXPECT_EQ(append.entries[0].time, UnixMillis{5});
}

TEST(Log, LaterAppendNamesItsPlaceOnly) {
  Log log({SessionId{"s1"}, 1}, 7);
  add_record(log, records::Compacted{1, "max_messages"});
  const Append append = log.begin_append(first_turn("hello"), SessionStatus::kRunning);
  EXPECT_EQ(append.expected_seq, 7U);
  EXPECT_FALSE(append.row.agent);
  EXPECT_FALSE(append.row.title);
}

TEST(Log, TitleIsCutBetweenCharacters) {
  Log log({SessionId{"s1"}, 1}, 0);
  const std::string text = std::string(79, 'x') + "\xC3\xA4";
  add_record(log, said(text));
  EXPECT_EQ(log.begin_append(first_turn(text), SessionStatus::kRunning).row.title, std::string(79, 'x'));
}

TEST(Log, TitleIsWhatTheUserWrote) {
  Log log({SessionId{"s1"}, 1}, 0);
  Message message = text_message(Role::kUser, "hello");
  message.parts.emplace_back(TextPart{"\n\nFrom memory: a note", nullptr});
  add_record(log, records::MessageAppended{std::make_shared<const Message>(std::move(message))});
  EXPECT_EQ(log.begin_append(first_turn("hello"), SessionStatus::kRunning).row.title, "hello");
}

TEST(Log, RecordAddedDuringAnAppendWaitsForTheNext) {
  Log log({SessionId{"s1"}, 1}, 2);
  add_record(log, said("one"));
  log.wait(11);
  log.begin_append(first_turn("one"), SessionStatus::kRunning);
  EXPECT_TRUE(log.appending());
  EXPECT_TRUE(log.is_empty());
  add_record(log, said("two"));
  log.wait(12);
  const Log::Carried carried = log.end_append(3);
  EXPECT_FALSE(log.appending());
  EXPECT_EQ(log.durable(), 3U);
  ASSERT_EQ(carried.records.size(), 1U);
  EXPECT_EQ(carried.waiters, std::vector<Token>{11});
  EXPECT_FALSE(log.is_empty());
  EXPECT_EQ(log.take_waiters(), std::vector<Token>{12});
}

TEST(Log, FailedAppendLeavesThePlace) {
  Log log({SessionId{"s1"}, 1}, 2);
  add_record(log, said("one"));
  log.begin_append(first_turn("one"), SessionStatus::kRunning);
  EXPECT_EQ(log.end_append(fail(ErrorCode::kJournal, "full")).records.size(), 1U);
  EXPECT_EQ(log.durable(), 2U);
  EXPECT_TRUE(log.untouched());
}

TEST(Log, AnswerAloneIsAppended) {
  Log log({SessionId{"s1"}, 1}, 2);
  log.add(InboxAnswer{4, "no"});
  EXPECT_FALSE(log.is_empty());
  const Append append = log.begin_append(first_turn("one"), SessionStatus::kRunning);
  EXPECT_TRUE(append.entries.empty());
  ASSERT_EQ(append.answers.size(), 1U);
  EXPECT_EQ(append.answers[0].message, 4U);
}

TEST(Log, ParkedStepIsHeldUntilItIsAppended) {
  Log log({SessionId{"s1"}, 1}, 2);
  ParkedStep step;
  step.id = ParkId{"p1"};
  add_record(log, records::Parked{step});
  EXPECT_TRUE(log.holds(ParkId{"p1"}));
  EXPECT_FALSE(log.holds(ParkId{"p2"}));
  log.begin_append(first_turn("one"), SessionStatus::kRunning);
  EXPECT_FALSE(log.holds(ParkId{"p1"}));
}

TEST(Log, FirstRecordIsALoneBirthUntilAnythingJoinsIt) {
  const auto born = [] { return records::SessionCreated{}; };
  Log joined({SessionId{"s1"}, 1}, 0);
  EXPECT_EQ(joined.lone_birth(), nullptr);
  add_record(joined, born());
  ASSERT_NE(joined.lone_birth(), nullptr);
  EXPECT_EQ(joined.lone_birth()->time, UnixMillis{5});
  add_record(joined, said("hello"));
  EXPECT_EQ(joined.lone_birth(), nullptr);

  Log awaited({SessionId{"s1"}, 1}, 0);
  add_record(awaited, born());
  awaited.wait(11);
  EXPECT_EQ(awaited.lone_birth(), nullptr) << "a caller waits until it is durable";
}

TEST(Log, AbandonedLogReturnsPendingRecords) {
  Log log({SessionId{"s1"}, 1}, 2);
  add_record(log, said("one"));
  log.wait(9);
  const Log::Carried dropped = log.abandon();
  EXPECT_EQ(dropped.records.size(), 1U);
  EXPECT_EQ(dropped.waiters, std::vector<Token>{9});
  EXPECT_TRUE(log.is_empty());
}

}  // namespace
}  // namespace praxis::driver
