// What observers get when they join in the middle of a race that a client cannot bring about.
#include "server/event_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "runtime/testing/scripted.hpp"

namespace praxis::server {
namespace {

using namespace std::chrono_literals;

/// Keeps the names of all events.
class NamesSink final : public FeedSink {
 public:
  bool on_frame(const Frame& frame) override {
    const std::lock_guard lock(mutex_);
    names_.emplace_back(event_name(frame.event->body));
    return true;
  }
  bool on_idle() override { return true; }
  void on_end() override {}
  bool has_room() const override { return true; }

  std::ptrdiff_t count(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::count(names_, name);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
};

class EventFeedTest : public praxis::testing::Scripted {
 protected:
  /// Waits until a condition holds; at most 10 seconds.
  template <class Condition>
  static bool becomes(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(2ms);
    return condition();
  }
};

TEST_F(EventFeedTest, WhoHasAnAnswerGetsNoPieceOfItAlsoBeforeItsEventsArePublished) {
  const auto acknowledge = journal_->hold_append(2);  // the one with the answer
  const auto feed = std::make_shared<EventFeed>(runtime_, journal_, runtime_->model_services().executor);
  feed->start();
  const auto early = std::make_shared<NamesSink>(), late = std::make_shared<NamesSink>();
  feed->subscribe({}, Position{}, early);
  std::jthread turn([&, agent = scripted(R"({"text":"Hello there.","chunk":4})")] {
    EXPECT_EQ(checked(runtime_->run_once(agent, "hi")).text, "Hello there.");
  });
  const auto gets = [&](const std::shared_ptr<NamesSink>& sink, std::string_view name) {
    return becomes([&] {
      EXPECT_TRUE(runtime_->emit("tests.look", nullptr));  // lets the feed read the journal
      return sink->count(name) > 0;
    });
  };
  EXPECT_TRUE(gets(early, "assistant.text"));
  feed->subscribe({}, Position{}, late);
  EXPECT_TRUE(gets(late, "tests.look"));
  // What waited for it to join is given before an event that comes after that.
  EXPECT_TRUE(runtime_->emit("tests.given", nullptr));
  EXPECT_TRUE(gets(late, "tests.given"));
  EXPECT_EQ(late->count("assistant.text"), 1);
  EXPECT_EQ(late->count("text.delta"), 0);
  EXPECT_EQ(late->count("turn.completed"), 1);
  acknowledge->open();
  turn.join();
  feed->stop();
}

}  // namespace
}  // namespace praxis::server
