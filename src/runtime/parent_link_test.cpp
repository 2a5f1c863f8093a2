// A sub-agent whose session above is not active in this process: all that it needs is a `ParentLink`.
#include "runtime/parent_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/session_actor.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::Contains;

/// Notes what a session above would get.
class DistantParent final : public ParentLink {
 public:
  explicit DistantParent(Journal& journal) {
    Append append;
    append.lease = lease_ = journal.create(SessionId{"lead"}, UnixMillis{1}).value();
    append.entries.push_back({"test", UnixMillis{1}, "{}"});
    journal.append(std::move(append), [](const auto& last) { EXPECT_TRUE(last); });
  }

  const Lease& lease() const override { return lease_; }
  SessionId root() const override { return SessionId{"root"}; }
  const std::vector<std::shared_ptr<const AgentDescription>>& approvers() const override {
    return approvers_;
  }
  Place place() override { return {3, "root/lead"}; }
  bool usable() const override { return usable_; }
  bool hears(bool /*deltas*/) const override { return true; }
  void tell(driver::ChildNews news) override {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
  }
  void overhear(std::shared_ptr<const Event> event) override {
    const std::lock_guard lock(mutex_);
    events_.emplace_back(event_name(event->body));
  }
  void forget_step(ParkId /*step*/, Task done) override { done(); }
  void reach_down(std::uint32_t height) override { height_ = height; }

  void give_up() { usable_ = false; }
  std::uint32_t height() const { return height_; }
  std::vector<driver::ChildNews> news() const {
    const std::lock_guard lock(mutex_);
    return news_;
  }
  std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  Lease lease_;
  const std::vector<std::shared_ptr<const AgentDescription>> approvers_;
  std::atomic<bool> usable_ = true;
  std::atomic<std::uint32_t> height_ = 0;
  mutable std::mutex mutex_;
  std::vector<driver::ChildNews> news_;
  std::vector<std::string> events_;
};

class ParentLinkTest : public Scripted {
 protected:
  ParentLinkTest() {
    services_->options.journal = journal_;
    services_->options.environment = system_environment();
    services_->options.executor = make_executor();
    services_->root_scope = std::make_shared<const Scope>();
    services_->inbox_watcher = std::make_shared<InboxWatcher>(services_);
  }
  Result<std::shared_ptr<SessionActor>> create_below(const std::shared_ptr<DistantParent>& parent) {
    const Agent agent = scripted(R"({"text": "found"})").id("research");
    return create_session(services_, agent.description(), {},
                          {parent, CallId{"c1"}, std::make_shared<const Scope>()});
  }

  std::shared_ptr<Services> services_ = std::make_shared<Services>();
};

TEST_F(ParentLinkTest, SubAgentReportsToASessionElsewhere) {
  const auto parent = std::make_shared<DistantParent>(*journal_);
  const auto child = create_below(parent);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(parent->height(), 1U);
  const auto turn = std::make_shared<EventQueue>(false);
  std::vector<Message> prompt;
  prompt.push_back(text_message(Role::kUser, "go"));
  (*child)->start_turn(std::move(prompt), turn);
  const auto result = turn->result();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "found");

  const auto records = read_records(*journal_, (*child)->id());
  ASSERT_TRUE(records) << records.error().message;
  const auto& created = std::get<records::SessionCreated>(records->front().record.body);
  EXPECT_EQ(created.parent, SessionId{"lead"});
  EXPECT_EQ(created.depth, 4U);
  EXPECT_EQ(created.path, "root/lead/research");
  const auto news = parent->news();
  ASSERT_EQ(news.size(), 2U);
  EXPECT_EQ(std::get<driver::ChildBegan>(news[0]).call, CallId{"c1"});
  EXPECT_EQ(std::get<driver::ChildEnded>(news[1]).settled.child, (*child)->id());
  EXPECT_THAT(parent->events(), Contains("turn.completed"));
}

TEST_F(ParentLinkTest, SessionAboveThatGaveUpGetsNoSubAgent) {
  const auto parent = std::make_shared<DistantParent>(*journal_);
  parent->give_up();
  const auto child = create_below(parent);
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kCancelled);
}

TEST_F(ParentLinkTest, LostLeaseOfTheSessionAboveKeepsTheSubAgentFromTheJournal) {
  const auto parent = std::make_shared<DistantParent>(*journal_);
  const auto child = create_below(parent);
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_TRUE(journal_->acquire(SessionId{"lead"}, true));  // another process takes it
  const auto turn = std::make_shared<EventQueue>(false);
  std::vector<Message> prompt;
  prompt.push_back(text_message(Role::kUser, "go"));
  (*child)->start_turn(std::move(prompt), turn);
  const auto result = turn->result();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kLeaseLost);
  const auto news = parent->news();
  ASSERT_FALSE(news.empty());
  EXPECT_TRUE(std::get<driver::ChildLost>(news.back()).fault);
}

}  // namespace
}  // namespace praxis::testing
