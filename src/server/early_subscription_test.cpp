// A client that starts a turn gets each piece of it, however late its reader is there.
#include "server/early_subscription.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/testing/scripted.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::ElementsAre;
using namespace testing;

/// Keeps the names of the events of an answer, until its turn has ended.
class AnswerSink final : public FeedSink {
 public:
  bool on_frame(const Frame& frame) override {
    names_.emplace_back(event_name(frame.event->body));
    if (!ends_turn(frame.event->body)) return true;
    std::erase_if(names_, [](const std::string& name) {
      return name != "session.created" && name != "text.delta" && name != "assistant.text";
    });
    ended_.set_value();
    return false;
  }
  bool on_idle() override { return true; }
  void on_end() override {}
  bool has_room() const override { return true; }

  std::vector<std::string> names() {
    EXPECT_EQ(ended_.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
    return names_;
  }

 private:
  std::vector<std::string> names_;
  std::promise<void> ended_;
};

class EarlySubscriptionTest : public praxis::testing::Scripted {
 protected:
  EarlySubscriptionTest() { feed_->start(); }
  ~EarlySubscriptionTest() override { feed_->stop(); }
  /// Runs a turn of a new session to its end, and waits until a later subscription has heard so.
  void run(const SessionId& id) {
    std::promise<void> heard;
    const auto later = runtime_->on("turn.completed", [&](const Event&) { heard.set_value(); });
    Conversation start;
    start.id = id.str();
    const auto agent = scripted(R"({"text":"Hello there.","chunk":4})");
    auto session = runtime_->create_session(agent, start);
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(checked(session->ask("hi")).text, "Hello there.");
    EXPECT_EQ(heard.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  }
  /// Waits until the feed has given everything that was published before.
  void settle() {
    const auto all = std::make_shared<AnswerSink>();
    feed_->subscribe({}, Position{}, all);
    EXPECT_FALSE(all->names().empty());
  }

  const std::shared_ptr<EventFeed> feed_ =
      std::make_shared<EventFeed>(runtime_, journal_, runtime_->model_services().executor);
};

TEST_F(EarlySubscriptionTest, ReaderThatComesAfterTheTurnGetsEachPieceOfIt) {
  const SessionId id("early");
  EarlySubscription early(feed_);
  ASSERT_TRUE(early.begin({.session = id}));
  run(id);
  settle();
  const auto sink = std::make_shared<AnswerSink>();
  early.give_to(sink);
  EXPECT_THAT(sink->names(), ElementsAre("text.delta", "text.delta", "text.delta", "assistant.text"));
}

TEST_F(EarlySubscriptionTest, WithoutAReaderItEndsWithTheNextEvent) {
  {
    EarlySubscription early(feed_);
    ASSERT_TRUE(early.begin({}));
    EXPECT_EQ(feed_->observers(), 1U);
  }
  run(SessionId("other"));
  settle();
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (feed_->observers() > 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(feed_->observers(), 0U);
}

/// A reader that owns its subscription, as the answer of a client does.
class OwningSink final : public FeedSink {
 public:
  explicit OwningSink(std::shared_ptr<EventFeed> feed) : early(std::move(feed)) {}
  bool on_frame(const Frame& frame) override { return !ends_turn(frame.event->body); }
  bool on_idle() override { return true; }
  void on_end() override {}
  bool has_room() const override { return true; }
  EarlySubscription early;
};

TEST_F(EarlySubscriptionTest, ReaderThatOwnsItIsFreedAfterItsLastEvent) {
  const SessionId id("early");
  auto sink = std::make_shared<OwningSink>(feed_);
  ASSERT_TRUE(sink->early.begin({.session = id}));
  sink->early.give_to(sink);
  const std::weak_ptr<OwningSink> left = std::exchange(sink, nullptr);
  EXPECT_FALSE(left.expired()) << "the feed keeps it";
  run(id);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!left.expired() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(left.expired());
}

class ServedStarts : public ServerTest {
 protected:
  ServedStarts() {
    script("pieces", R"({"text":"Hello there.","chunk":1})");
    agent("pieces", "[policy.redact]\nevents = \"off\"\n");
  }
  static std::ptrdiff_t count(const std::string& text, std::string_view part) {
    std::ptrdiff_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

TEST_F(ServedStarts, EachDoorGivesEachPieceOfTheTurnThatItStarts) {
  start();
  const Answer design = call("GET", "/agent/stream?agent=pieces&prompt=hi");
  EXPECT_EQ(count(design.body, R"("type":"text-delta")"), 12) << design.body;
  const Answer chat = call("POST", "/v1/chat/completions",
                           R"({"model":"pieces","stream":true,"messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(count(chat.body, R"("content":)"), 12) << chat.body;
  const Answer response = call("POST", "/v1/responses", R"({"model":"pieces","input":"hi","stream":true})");
  EXPECT_EQ(count(response.body, "event: response.output_text.delta\n"), 12) << response.body;
  const Answer ui = call(
      "POST", "/api/ai/chat",
      R"({"id":"c","agent":"pieces","messages":[{"role":"user","parts":[{"type":"text","text":"hi"}]}]})");
  EXPECT_EQ(count(ui.body, R"("type":"text-delta")"), 12) << ui.body;
  const Answer ag_ui = call(
      "POST", "/api/agui/pieces",
      R"({"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"hi"}],"state":{},"tools":[],"context":[]})");
  EXPECT_EQ(count(ag_ui.body, R"("type":"TEXT_MESSAGE_CONTENT")"), 12) << ag_ui.body;
}

}  // namespace
}  // namespace praxis::server
