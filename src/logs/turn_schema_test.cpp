#include "logs/turn_schema.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace praxis {
namespace {

/// A log of records as they come; each schema is the name of its turn.
class TurnSchema : public ::testing::Test {
 protected:
  void begin(const std::string& turn, bool has_schema = true) {
    add(records::TurnStarted{TurnId{turn}, has_schema ? Json(turn) : Json(nullptr)});
  }
  void say(MessageSource source = MessageSource::kUser) {
    add(records::MessageAppended{std::make_shared<const Message>(text_message(Role::kUser, "Hi")), source});
  }
  void end(const std::string& turn, StopReason reason) {
    add(records::TurnSettled{TurnId{turn}, reason, {}, {}});
  }
  void play(const std::string& turn, StopReason reason) {
    begin(turn);
    say();
    end(turn, reason);
  }
  void rewind(const std::string& turn) { add(records::Intervened{CommandVerb::kRewind, turn, nullptr}); }
  void add(RecordBody body) { records_.push_back({records_.size() + 1, {UnixMillis{1}, std::move(body)}}); }

  Json after(NextTurn next) const { return schema_of_next_turn(records_, next); }
  Json of_message() const { return after(NextTurn::kMessage); }
  Json of_conversation() const { return after(NextTurn::kConversation); }

  std::vector<StoredRecord> records_;
};

TEST_F(TurnSchema, OfAnEmptyLogIsNull) {
  EXPECT_EQ(of_message(), Json(nullptr));
  EXPECT_EQ(of_conversation(), Json(nullptr));
}

TEST_F(TurnSchema, OfATurnThatFailed_IsKeptByBoth) {
  play("t1", StopReason::kMaxSteps);
  EXPECT_EQ(of_message(), Json("t1"));
  EXPECT_EQ(of_conversation(), Json("t1"));
}

TEST_F(TurnSchema, OfATurnThatSucceeded_IsKeptByMessages) {
  play("t1", StopReason::kFinished);
  EXPECT_EQ(of_message(), Json("t1"));
  EXPECT_EQ(of_conversation(), Json(nullptr));
}

TEST_F(TurnSchema, IsNotThatOfAMessageAddedSince) {
  play("t1", StopReason::kMaxSteps);
  say();
  EXPECT_EQ(of_conversation(), Json(nullptr));
  EXPECT_EQ(of_message(), Json("t1"));
}

TEST_F(TurnSchema, OfTurnsWithoutAMessageOfTheCaller_ChangesNothingForMessages) {
  play("t1", StopReason::kFinished);
  for (const MessageSource source : {MessageSource::kQueue, MessageSource::kSteer}) {
    begin("t2", false);
    say(source);
    end("t2", StopReason::kMaxSteps);
    EXPECT_EQ(of_message(), Json("t1"));
    EXPECT_EQ(of_conversation(), Json(nullptr)) << "it continues that turn";
  }
}

TEST_F(TurnSchema, OfATurnThatWasContinued_Stays) {
  play("t1", StopReason::kMaxSteps);
  begin("t2");
  end("t2", StopReason::kMaxSteps);
  EXPECT_EQ(of_conversation(), Json("t2"));
  EXPECT_EQ(of_message(), Json("t1"));
}

TEST_F(TurnSchema, OfTurnsThatARewindRemoved_DoesNotCount) {
  play("t1", StopReason::kMaxSteps);
  play("t2", StopReason::kFinished);
  play("t3", StopReason::kMaxSteps);
  rewind("t3");
  EXPECT_EQ(of_message(), Json("t2"));
  EXPECT_EQ(of_conversation(), Json(nullptr));
  play("t4", StopReason::kMaxSteps);
  rewind("t2");
  EXPECT_EQ(of_message(), Json("t1"));
  EXPECT_EQ(of_conversation(), Json("t1")) << "as if the later ones had never been";
  say();
  EXPECT_EQ(of_conversation(), Json(nullptr));
}

TEST_F(TurnSchema, IsReadFromTheEndOfTheLog) {
  const auto journal = memory_journal();
  Append append;
  append.lease = journal->create(SessionId{"s"}, UnixMillis{1}).value();
  const std::string settled(kind_name(records::TurnSettled{}));
  for (int i = 0; i < 200; ++i) append.entries.push_back({settled, UnixMillis{1}, "unreadable"});
  const auto add_entry = [&](const RecordBody& body) {
    std::vector<RecordBlob> blobs;
    append.entries.push_back({std::string(kind_name(body)), UnixMillis{1}, encode_record(body, blobs)});
  };
  add_entry(records::TurnStarted{TurnId{"t1"}, Json("t1")});
  for (int i = 0; i < 100; ++i) append.entries.push_back({"other", UnixMillis{1}, "{}"});
  add_entry(records::TurnSettled{TurnId{"t1"}, StopReason::kMaxSteps, {}, {}});
  const std::uint64_t last = append.entries.size();
  journal->append(std::move(append), [](const Result<std::uint64_t>& seq) { EXPECT_TRUE(seq); });
  const auto read = [&](NextTurn next) {
    return read_schema_of_next_turn(*journal, SessionId{"s"}, last, next);
  };
  const auto found = read(NextTurn::kConversation);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, Json("t1"));
  EXPECT_FALSE(read(NextTurn::kMessage)) << "that needs the records before";
}

}  // namespace
}  // namespace praxis
