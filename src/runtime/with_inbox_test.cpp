// An inbox that is no part of the journal: requests reach the owner of a session through it.
#include "praxis/journal/with_inbox.hpp"

#include <gmock/gmock.h>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

/// A queue in memory that knows nothing of sessions or leases.
class Queue final : public Inbox {
 public:
  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back({messages_.size() + 1, to, now, std::move(body)});
    outcomes_.emplace_back();
    return messages_.back().id;
  }
  Result<std::vector<InboxMessage>> messages(InboxId after) override {
    return unanswered([&](const InboxMessage& message) { return message.id > after; });
  }
  Result<std::vector<InboxMessage>> messages_for(const SessionId& session, InboxId after) override {
    return unanswered(
        [&](const InboxMessage& message) { return message.id > after && message.session == session; });
  }
  Status answer(const Lease&, InboxId message, std::string outcome) override {
    const std::lock_guard lock(mutex_);
    outcomes_.at(message - 1) = std::move(outcome);
    return {};
  }
  Result<std::optional<std::string>> outcome(InboxId message) override {
    const std::lock_guard lock(mutex_);
    return outcomes_.at(message - 1);
  }

 private:
  template <class Wanted>
  std::vector<InboxMessage> unanswered(Wanted wanted) {
    const std::lock_guard lock(mutex_);
    std::vector<InboxMessage> found;
    for (const InboxMessage& message : messages_) {
      if (!outcomes_[message.id - 1] && wanted(message)) found.push_back(message);
    }
    return found;
  }

  std::mutex mutex_;
  std::vector<InboxMessage> messages_;
  std::vector<std::optional<std::string>> outcomes_;
};

class WithInboxTest : public Scripted {
 protected:
  WithInboxTest() {
    RuntimeOptions options;
    options.journal = with_inbox(journal_, queue_);
    runtime_ = Runtime::create(std::move(options));
  }
  Result<InboxId> post(const Session& session, std::string text) {
    return post_request(*queue_, runtime_->environment(),
                        Commands{{CommandVerb::kAnnotate, session.session_id(), std::move(text)}});
  }

  const std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

TEST_F(WithInboxTest, CommandFromTheQueue_IsRecordedAndAnswered) {
  Session session = session_of(scripted(R"({"text": "hi"})"));
  ASSERT_TRUE(session.ask("go"));
  const auto message = post(session, "seen");
  ASSERT_TRUE(message);
  const auto answer = wait_for_delivery(*queue_, *message, 20s);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(std::holds_alternative<Delivered>(*answer));
  EXPECT_EQ(session.comment(), "seen");
  EXPECT_TRUE(journal_->inbox().messages()->empty()) << "the journal's own inbox is not used";
}

TEST_F(WithInboxTest, CommandThatCannotBeRecorded_StaysUnanswered) {
  Session session = session_of(scripted(R"({"text": "hi"})"));
  ASSERT_TRUE(session.ask("go"));
  journal_->fail_append(1);
  const auto message = post(session, "lost");
  ASSERT_TRUE(message);
  const auto answer = wait_for_delivery(*queue_, *message, 500ms);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(std::holds_alternative<Queued>(*answer));
}

}  // namespace
}  // namespace praxis::testing
