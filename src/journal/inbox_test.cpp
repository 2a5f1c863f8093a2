// Inboxes: messages to a session from processes that do not own it.
#include <gtest/gtest.h>

#include <thread>

#include "journal/testing/any_journal.hpp"
#include "journal/testing/journals.hpp"

namespace praxis {
namespace {

using testing::append_now;
using testing::append_of;
using testing::ChildProcess;
using testing::kind_of;
using testing::kOther;
using testing::kSession;
using testing::make_session;
using testing::open_journal;
using testing::say;

std::string bodies(const Result<std::vector<InboxMessage>>& messages) {
  std::string found;
  for (const auto& message : *messages) found += message.body + ";";
  return found;
}

class InboxTest : public testing::AnyJournalTest {
 protected:
  /// Posts `count` messages from several threads, which then share syncs.
  void post_many(std::size_t count) {
    constexpr std::size_t kThreads = 50;
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (auto i = thread; i < count; i += kThreads)
          EXPECT_TRUE(journal_->inbox().post(kSession, "x", {5}));
      });
    }
  }
  /// Answers all unanswered messages of the session in one append; returns their ids.
  std::vector<InboxId> answer_all() {
    auto append = append_of(lease_, 0, {});
    std::vector<InboxId> ids;
    for (InboxId after = 0;; after = ids.back()) {
      const auto page = *journal_->inbox().messages_for(kSession, after);
      if (page.empty()) break;
      for (const auto& message : page) {
        ids.push_back(message.id);
        append.answers.push_back({message.id, "ok"});
      }
    }
    EXPECT_TRUE(append_now(*journal_, append));
    return ids;
  }

  const Lease lease_ = make_session(*journal_, kSession);
  const Lease other_ = make_session(*journal_, kOther);
};
INSTANTIATE_TEST_SUITE_P(Kinds, InboxTest, testing::kAllJournals, testing::journal_name);

TEST_P(InboxTest, Message_IsReturnedUntilAnswered) {
  const std::string odd("{\"a\":1} \0 \xff", 11);
  const auto first = *journal_->inbox().post(kSession, odd, {-7});
  const auto second = *journal_->inbox().post(kOther, "two", {8});
  EXPECT_LT(first, second);
  const auto messages = *journal_->inbox().messages();
  ASSERT_EQ(messages.size(), 2);
  EXPECT_EQ(messages[0].id, first);
  EXPECT_EQ(messages[0].session, kSession);
  EXPECT_EQ(messages[0].time.value, -7);
  EXPECT_EQ(messages[0].body, odd);
  EXPECT_EQ(messages[1].session, kOther);
  EXPECT_EQ(journal_->inbox().outcome(first), std::nullopt);

  ASSERT_TRUE(journal_->inbox().answer(lease_, first, "done \xff"));
  EXPECT_EQ(journal_->inbox().outcome(first), "done \xff");
  EXPECT_EQ(bodies(journal_->inbox().messages()), "two;");
  EXPECT_EQ(bodies(journal_->inbox().messages_for(kSession)), "");
  EXPECT_EQ(journal_->inbox().outcome(second), std::nullopt);
  EXPECT_EQ(kind_of(journal_->inbox().outcome(second + 1)), "not_found");
}

TEST_P(InboxTest, Messages_AreReadFromAGivenId) {
  const auto first = *journal_->inbox().post(kSession, "1", {5});
  ASSERT_TRUE(journal_->inbox().post(kOther, "2", {5}));
  const auto third = *journal_->inbox().post(kSession, "3", {5});
  EXPECT_EQ(bodies(journal_->inbox().messages(first)), "2;3;");
  EXPECT_EQ(bodies(journal_->inbox().messages(third)), "");
  EXPECT_EQ(bodies(journal_->inbox().messages_for(kSession)), "1;3;");
  EXPECT_EQ(bodies(journal_->inbox().messages_for(kSession, first)), "3;");
  EXPECT_EQ(bodies(journal_->inbox().messages_for(SessionId("missing"))), "");
  ASSERT_TRUE(journal_->inbox().answer(lease_, third, ""));
  EXPECT_GT(*journal_->inbox().post(kSession, "4", {5}), third);
  EXPECT_EQ(bodies(journal_->inbox().messages(third)), "4;");
}

TEST_P(InboxTest, ManyMessages_AreReturnedInPages) {
  post_many(kInboxPage + 20);
  const auto page = *journal_->inbox().messages();
  ASSERT_EQ(page.size(), kInboxPage);
  EXPECT_EQ(journal_->inbox().messages(page.back().id)->size(), 20);
  EXPECT_EQ(journal_->inbox().messages_for(kSession)->size(), kInboxPage);
  EXPECT_EQ(journal_->inbox().messages_for(kSession, page.back().id)->size(), 20);
}

TEST_P(InboxTest, Post_IsBounded) {
  EXPECT_EQ(kind_of(journal_->inbox().post(SessionId("missing"), "x", {5})), "not_found");
  EXPECT_TRUE(journal_->inbox().post(kOther, std::string(kMaxInboxBytes, 'x'), {5}));
  const auto long_one = journal_->inbox().post(kOther, std::string(kMaxInboxBytes + 1, 'x'), {5});
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().code, ErrorCode::kInput);
  EXPECT_NE(long_one.error().message.find("262145 bytes"), std::string::npos) << long_one.error().message;

  const auto first = *journal_->inbox().post(kSession, "x", {5});
  post_many(kMaxInboxWaiting - 1);
  const auto refused = journal_->inbox().post(kSession, "x", {5});
  EXPECT_EQ(kind_of(refused), "full");
  EXPECT_TRUE(refused.error().retriable);
  EXPECT_TRUE(journal_->inbox().post(kOther, "x", {5})) << "another session's inbox has room";
  ASSERT_TRUE(journal_->inbox().answer(lease_, first, "ok"));
  EXPECT_TRUE(journal_->inbox().post(kSession, "x", {5})) << "an answer makes room";
}

TEST_P(InboxTest, OnlyTheOwner_CanAnswerAndOnlyOnce) {
  const auto message = *journal_->inbox().post(kSession, "x", {5});
  EXPECT_EQ(kind_of(journal_->inbox().answer({kSession, lease_.token + 1}, message, "no")), "lease_lost");
  EXPECT_EQ(kind_of(journal_->inbox().answer(other_, message, "no")), "not_found") << "for another session";
  EXPECT_EQ(kind_of(journal_->inbox().answer(lease_, message + 1, "no")), "not_found");
  EXPECT_EQ(kind_of(journal_->inbox().answer({SessionId("missing"), 1}, message, "no")), "not_found");
  const auto next = *journal_->acquire(kSession, true);
  EXPECT_EQ(kind_of(journal_->inbox().answer(lease_, message, "no")), "lease_lost") << "a former owner";
  const auto long_one = journal_->inbox().answer(next, message, std::string(kMaxInboxBytes + 1, 'x'));
  EXPECT_TRUE(!long_one && long_one.error().code == ErrorCode::kInput);
  EXPECT_EQ(journal_->inbox().outcome(message), std::nullopt);

  EXPECT_TRUE(journal_->inbox().answer(next, message, "yes"));
  EXPECT_EQ(kind_of(journal_->inbox().answer(next, message, "again")), "conflict");
  EXPECT_EQ(journal_->inbox().outcome(message), "yes");
}

TEST_P(InboxTest, AnswersOfAnAppend_AreStoredWithItsEntriesOrNotAtAll) {
  const auto first = *journal_->inbox().post(kSession, "1", {5});
  const auto second = *journal_->inbox().post(kSession, "2", {5});
  const auto foreign = *journal_->inbox().post(kOther, "3", {5});
  auto append = append_of(lease_, 0, {"steered"});
  append.answers = {{first, "steered"}, {foreign, "not mine"}};
  EXPECT_EQ(kind_of(append_now(*journal_, append)), "not_found");
  append.answers = {{first, "steered"}, {first, "twice"}};
  EXPECT_EQ(kind_of(append_now(*journal_, append)), "conflict");
  append.answers = {{first, "steered"}};
  append.expected_seq = 9;
  EXPECT_EQ(kind_of(append_now(*journal_, append)), "conflict");
  EXPECT_EQ(bodies(journal_->inbox().messages()), "1;2;3;");
  EXPECT_EQ(journal_->read(kSession)->size(), 0);

  append.expected_seq = 0;
  append.answers = {{first, "steered"}, {second, "too"}};
  EXPECT_EQ(append_now(*journal_, append), 1);
  EXPECT_EQ(journal_->inbox().outcome(first), "steered");
  EXPECT_EQ(journal_->inbox().outcome(second), "too");
  EXPECT_EQ(bodies(journal_->inbox().messages()), "3;");
  append.expected_seq = 1;
  EXPECT_EQ(kind_of(append_now(*journal_, append)), "conflict") << "executed once";
  EXPECT_EQ(journal_->read(kSession)->size(), 1);
}

TEST_P(InboxTest, OldAnswers_AreForgottenInTheOrderOfAnswering) {
  const auto late = *journal_->inbox().post(kOther, "answered last", {5});
  post_many(kInboxOutcomesKept);
  const auto ids = answer_all();
  ASSERT_EQ(ids.size(), kInboxOutcomesKept);
  EXPECT_EQ(journal_->inbox().outcome(ids[0]), "ok");
  ASSERT_TRUE(journal_->inbox().answer(other_, late, "at last"));
  EXPECT_EQ(journal_->inbox().outcome(late), "at last");
  EXPECT_EQ(kind_of(journal_->inbox().outcome(ids[0])), "not_found");
  EXPECT_EQ(kind_of(journal_->inbox().answer(lease_, ids[0], "again")), "not_found");
  EXPECT_EQ(journal_->inbox().outcome(ids[1]), "ok");
}

TEST_P(InboxTest, Done_MayPostAndAnswer) {
  std::promise<std::optional<std::string>> outcome;
  journal_->append(append_of(lease_, 0, {"1"}), [&](Result<std::uint64_t>) {
    const auto message = journal_->inbox().post(kSession, "x", {5});
    EXPECT_TRUE(journal_->inbox().answer(lease_, *message, "from within"));
    outcome.set_value(*journal_->inbox().outcome(*message));
  });
  EXPECT_EQ(outcome.get_future().get(), "from within");
}

class SharedInboxTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "j";
};

TEST_F(SharedInboxTest, AnotherProcess_PostsWhileTheOwnerWorksAndGetsItsAnswer) {
  {
    open_journal(path_);
  }
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  ChildProcess sender([&](int out) {
    char byte;
    if (read(go[0], &byte, 1) != 1) _exit(1);
    const auto journal = open_journal(path_);
    for (const std::string body : {"steer", "stop"}) {
      const auto message = journal->inbox().post(kSession, body, {7});
      if (!message) say(out, message.error().message);
      auto outcome = journal->inbox().outcome(*message);
      while (outcome && !*outcome) outcome = journal->inbox().outcome(*message);
      say(out, **outcome);
    }
    say(out, kind_of(journal->inbox().answer({kSession, 1}, 1, "not my lease")));
  });
  const auto journal = open_journal(path_);
  const auto lease = make_session(*journal, kSession);
  ASSERT_EQ(write(go[1], "x", 1), 1);
  std::uint64_t seq = 0;
  InboxId after = 0;
  while (after < 2) {
    ASSERT_TRUE(append_now(*journal, append_of(lease, seq++, {"at work"})));
    const auto arrived = *journal->inbox().messages(after);
    for (const auto& message : arrived) {
      EXPECT_EQ(message.session, kSession);
      ASSERT_TRUE(journal->inbox().answer(lease, message.id, "did " + message.body));
      after = message.id;
    }
  }
  EXPECT_EQ(sender.line(), "did steer");
  EXPECT_EQ(sender.line(), "did stop");
  EXPECT_EQ(sender.line(), "lease_lost");
  close(go[0]);
  close(go[1]);
}

TEST_F(SharedInboxTest, MessageOfAKilledSender_WaitsForTheNextOwner) {
  ChildProcess sender([this](int out) {
    const auto journal = open_journal(path_);
    journal->release(make_session(*journal, kSession));
    say(out, std::to_string(*journal->inbox().post(kSession, "approve p1", {7})));
    pause();
  });
  ASSERT_EQ(sender.line(), "1");
  sender.kill();
  {
    const auto reader = open_journal(path_, {.read_only = true});
    EXPECT_EQ(bodies(reader->inbox().messages()), "approve p1;");
    EXPECT_EQ(reader->inbox().outcome(1), std::nullopt);
    EXPECT_EQ(kind_of(reader->inbox().post(kSession, "x", {5})), "read_only");
    EXPECT_EQ(kind_of(reader->inbox().answer({kSession, 1}, 1, "x")), "read_only");
  }
  const auto journal = open_journal(path_);
  const auto lease = *journal->acquire(kSession);
  EXPECT_EQ(bodies(journal->inbox().messages_for(kSession)), "approve p1;");
  auto append = append_of(lease, 0, {"decided"});
  append.answers = {{1, "approved"}};
  ASSERT_TRUE(append_now(*journal, append));
  EXPECT_EQ(open_journal(path_)->inbox().outcome(1), "approved");
}

TEST_F(SharedInboxTest, OwnerKilledAtAnyMoment_CarriesEveryMessageOutOnce) {
  constexpr std::size_t kMessages = 60;
  {
    const auto sender = open_journal(path_);
    sender->release(make_session(*sender, kSession));
    for (std::size_t i = 0; i < kMessages; ++i) {
      ASSERT_TRUE(sender->inbox().post(kSession, std::to_string(i), {5}));
    }
  }
  const auto carry_out = [this](int out) {
    const auto journal = open_journal(path_);
    const auto lease = *journal->acquire(kSession);
    auto seq = journal->session(kSession)->entries;
    const auto waiting = *journal->inbox().messages_for(kSession);
    for (const auto& message : waiting) {
      auto append = append_of(lease, seq++, {message.body});
      append.answers = {{message.id, "done"}};
      if (!append_now(*journal, std::move(append))) _exit(1);
      say(out, message.body);
    }
  };
  for (std::size_t owners = 0; !open_journal(path_)->inbox().messages()->empty(); ++owners) {
    ASSERT_LT(owners, kMessages);
    ChildProcess owner(carry_out);
    for (std::size_t lines = 0; lines < 1 + owners % 7; ++lines) owner.line();
  }
  const auto entries = *open_journal(path_)->read(kSession);
  ASSERT_EQ(entries.size(), kMessages);
  for (std::size_t i = 0; i < kMessages; ++i) EXPECT_EQ(entries[i].body, std::to_string(i));
}

}  // namespace
}  // namespace praxis
