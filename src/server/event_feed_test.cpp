// What observers get when they join in the middle of a race that a client cannot bring about.
#include "server/event_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "journal/testing/forwarding_journal.hpp"
#include "praxis/models/stub_model.hpp"
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

  std::ptrdiff_t count(std::string_view name) const { return std::ranges::count(names(), name); }
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
};

/// Keeps the texts of answers: each piece as it is, a whole answer with a full stop before it.
class TextsSink final : public FeedSink {
 public:
  bool on_frame(const Frame& frame) override {
    const std::lock_guard lock(mutex_);
    if (const auto* piece = std::get_if<events::TextDelta>(&frame.event->body)) texts_.push_back(piece->text);
    if (const auto* whole = std::get_if<events::AssistantText>(&frame.event->body))
      texts_.push_back("." + whole->text);
    return true;
  }
  bool on_idle() override { return true; }
  void on_end() override {}
  bool has_room() const override { return true; }

  std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

/// Writes "First" and calls `echo`; then it writes "Second " when it may begin, and "part" when it may end.
class HeldModel final : public Model {
 public:
  explicit HeldModel(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {}; }
  MicroUsd price(const Usage&) const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<Held>(executor_, gates_); }

  /// Whether it was asked for the second answer.
  bool is_asked() const { return gates_->asked.is_open(); }
  void begin() { gates_->may_begin.open(); }
  void end() { gates_->may_end.open(); }

 private:
  struct Gates {
    praxis::testing::Gate asked, may_begin, may_end;
  };
  class Held final : public ModelSession {
   public:
    Held(std::shared_ptr<Executor> executor, std::shared_ptr<Gates> gates)
        : executor_(std::move(executor)), gates_(std::move(gates)) {}

    void start(const ModelRequest&, std::shared_ptr<ModelSink> sink, std::stop_token) override {
      if (!std::exchange(has_called_, true)) {
        ModelResponse first = stub_call("c1", "echo", JsonObject{{"text", "x"}});
        first.parts.insert(first.parts.begin(), TextPart{"First"});
        return sink->on_done(std::move(first));
      }
      gates_->asked.open();
      executor_->post_blocking([gates = gates_, sink = std::move(sink)] {
        gates->may_begin.wait();
        sink->on_delta(TextChunk{"Second ", 0});
        gates->may_end.wait();
        sink->on_delta(TextChunk{"part", 0});
        sink->on_done(stub_text("Second part"));
      });
    }

   private:
    const std::shared_ptr<Executor> executor_;
    const std::shared_ptr<Gates> gates_;
    bool has_called_ = false;
  };

  const std::string name_ = "test:held";
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Gates> gates_ = std::make_shared<Gates>();
};

/// A journal whose next answer to `changes` waits, once it was asked to.
class SlowToRead final : public praxis::testing::ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;

  void hold_next_read() { holds_ = true; }
  /// Likewise; but what the answer holds is what the journal held before the wait.
  void hold_next_answer() { holds_answer_ = true; }
  bool is_read() const { return reading_.is_open(); }
  void open() { door_.open(); }
  /// How many observers have asked where the journal ends, which they do just before they join.
  int asked() const { return asked_; }

  Result<std::uint64_t> last_position() override {
    auto position = ForwardingJournal::last_position();
    ++asked_;
    return position;
  }

  Result<std::vector<Change>> changes(std::uint64_t after, std::size_t limit) override {
    if (holds_.exchange(false)) {
      reading_.open();
      door_.wait();
    }
    auto changes = ForwardingJournal::changes(after, limit);
    if (changes && changes->empty() && holds_answer_.exchange(false)) {
      reading_.open();
      door_.wait();
    }
    return changes;
  }

 private:
  std::atomic<bool> holds_ = false, holds_answer_ = false;
  std::atomic<int> asked_ = 0;
  praxis::testing::Gate reading_, door_;
};

/// A journal that fails to read logs, as often as a test wants.
class FailsToRead final : public praxis::testing::ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;

  void fail_reads(int count) { failures_ = count; }
  /// The log of this session cannot be read any more.
  void break_log(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    broken_ = session;
  }
  int left() const { return failures_; }

  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    if (session == broken_ || failures_ > 0) {
      if (session != broken_) --failures_;
      return fail(ErrorCode::kJournal, ErrorKind::kIo, "the disk failed");
    }
    return ForwardingJournal::read(session, from, limit);
  }

 private:
  std::atomic<int> failures_ = 0;
  std::mutex mutex_;
  SessionId broken_;
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
  /// Lets the feed, which `sink` observes, read the journal, and runs a whole turn before the reading goes
  /// on.
  void answer_while_reading(SlowToRead& slow, const NamesSink& sink) {
    EXPECT_TRUE(becomes([&] {
      EXPECT_TRUE(runtime_->emit("tests.look", nullptr));
      return sink.count("tests.look") > 0;
    }));
    slow.hold_next_read();
    EXPECT_TRUE(becomes([&] { return slow.is_read(); }));
    // The feed has heard of all events when a later subscription has.
    std::atomic<bool> told = false;
    const auto later = runtime_->on("turn.completed", [&](const Event&) { told = true; });
    EXPECT_EQ(checked(runtime_->run_once(scripted(R"({"text":"Hello there.","chunk":4})"), "hi")).text,
              "Hello there.");
    EXPECT_TRUE(becomes([&] { return told.load(); }));
  }
  /// Begins a turn with the model. Returns what is true once all have heard of the first piece of the second
  /// answer; the feed is among them if it has started.
  std::jthread turn_of(const std::shared_ptr<HeldModel>& model) {
    return turn_in(session_of(Agent().model(model).use(praxis::testing::echo_tool()).runtime(runtime_)));
  }
  std::jthread turn_in(Session session) {
    later_ = runtime_->on("text.delta", [this](const Event&) { is_written_ = true; });
    return std::jthread([session = std::move(session)]() mutable {
      EXPECT_EQ(checked(session.send_user_message("hi").report()).text, "Second part");
    });
  }
  bool is_written() const { return is_written_; }

 private:
  std::optional<Subscription> later_;
  std::atomic<bool> is_written_ = false;
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

TEST_F(EventFeedTest, PieceThatIsPublishedWhileTheJournalIsRead_ComesBeforeTheWholeAnswer) {
  const auto slow = std::make_shared<SlowToRead>(journal_);
  const auto feed = std::make_shared<EventFeed>(runtime_, slow, runtime_->model_services().executor);
  feed->start();
  const auto sink = std::make_shared<NamesSink>();
  feed->subscribe({}, Position{}, sink);
  answer_while_reading(*slow, *sink);
  slow->open();
  EXPECT_TRUE(becomes([&] { return sink->count("turn.completed") > 0; }));
  std::vector<std::string> names = sink->names();
  std::erase_if(names,
                [](const std::string& name) { return name != "text.delta" && name != "assistant.text"; });
  EXPECT_THAT(names, ::testing::ElementsAre("text.delta", "text.delta", "text.delta", "assistant.text"));
  feed->stop();
}

TEST_F(EventFeedTest, WhoComesBetweenTheLastPieceAndItsRecordGetsTheAnswerWhole) {
  const auto slow = std::make_shared<SlowToRead>(journal_);
  const redact::Redaction redaction(redact::Scope{}, std::make_shared<const Redactor>(), "");
  const auto feed = std::make_shared<EventFeed>(runtime_, slow, runtime_->model_services().executor, nullptr,
                                                [redaction](const SessionId&) { return redaction; });
  feed->start();
  const auto early = std::make_shared<NamesSink>(), late = std::make_shared<NamesSink>();
  feed->subscribe({}, Position{}, early);
  answer_while_reading(*slow, *early);
  const int asked = slow->asked();
  feed->subscribe({}, Position{}, late);
  EXPECT_TRUE(becomes([&] { return slow->asked() > asked; }));
  slow->open();
  for (const auto& sink : {early, late}) {
    EXPECT_TRUE(becomes([&] { return sink->count("turn.completed") > 0; }));
    EXPECT_EQ(sink->count("assistant.text"), 1);
  }
  EXPECT_GT(early->count("text.delta"), 0);
  EXPECT_EQ(late->count("text.delta"), 0) << "what was held back is not the answer";
  feed->stop();
}

TEST_F(EventFeedTest, WhoMissedTheEndOfAnAnswer_GetsTheNextOneFromItsBeginning) {
  const auto feed = std::make_shared<EventFeed>(runtime_, journal_, runtime_->model_services().executor);
  feed->start();
  const auto model = std::make_shared<HeldModel>(runtime_->model_services().executor);
  const std::jthread turn = turn_of(model);
  model->begin();
  EXPECT_TRUE(becomes([&] { return is_written(); }));
  const auto late = std::make_shared<TextsSink>();
  feed->subscribe({}, Position{}, late);
  EXPECT_TRUE(becomes([&] { return late->texts().size() == 2; }));
  model->end();
  EXPECT_TRUE(becomes([&] { return late->texts().size() == 4; }));
  EXPECT_THAT(late->texts(), ::testing::ElementsAre(".First", "Second ", "part", ".Second part"));
  feed->stop();
}

TEST_F(EventFeedTest, WhoJoinsWhileTheJournalIsRead_GetsAnOpenAnswerAfterTheRecordsBeforeIt) {
  const auto slow = std::make_shared<SlowToRead>(journal_);
  const auto feed = std::make_shared<EventFeed>(runtime_, slow, runtime_->model_services().executor);
  feed->start();
  const auto early = std::make_shared<TextsSink>(), late = std::make_shared<TextsSink>();
  EXPECT_TRUE(feed->join({}, early));
  slow->hold_next_answer();
  EXPECT_TRUE(runtime_->emit("tests.look", nullptr));
  EXPECT_TRUE(becomes([&] { return slow->is_read(); }));
  const auto model = std::make_shared<HeldModel>(runtime_->model_services().executor);
  const std::jthread turn = turn_of(model);
  model->begin();
  EXPECT_TRUE(becomes([&] { return is_written(); }));
  const int asked = slow->asked();
  feed->subscribe({}, Position{}, late);
  EXPECT_TRUE(becomes([&] { return slow->asked() > asked; }));
  slow->open();
  EXPECT_TRUE(becomes([&] { return late->texts().size() == 2; }));
  model->end();
  for (const auto& sink : {early, late}) {
    EXPECT_TRUE(becomes([&] { return sink->texts().size() == 4; }));
    EXPECT_THAT(sink->texts(), ::testing::ElementsAre(".First", "Second ", "part", ".Second part"));
  }
  feed->stop();
}

TEST_F(EventFeedTest, WhoJoinsWhileThePieceIsPublishedThatWasNotWatched_GetsIt) {
  struct Door {
    std::atomic<bool> holds = false;
    praxis::testing::Gate entered, release;
  };
  const auto door = std::make_shared<Door>();  // shared, because the feed may be in it when the test ends
  const redact::Redaction redaction(redact::Scope{}, std::make_shared<const Redactor>(), "");
  const auto feed = std::make_shared<EventFeed>(runtime_, journal_, runtime_->model_services().executor,
                                                nullptr, [door, redaction](const SessionId&) {
                                                  if (door->holds.exchange(false)) {
                                                    door->entered.open();
                                                    door->release.wait();
                                                  }
                                                  return redaction;
                                                });
  feed->start();
  const auto model = std::make_shared<HeldModel>(runtime_->model_services().executor);
  const std::jthread turn = turn_of(model);
  EXPECT_TRUE(becomes([&] { return model->is_asked(); }));
  door->holds = true;
  model->begin();
  EXPECT_TRUE(door->entered.wait_briefly());
  const auto sink = std::make_shared<TextsSink>();
  EXPECT_TRUE(feed->join({}, sink));
  door->release.open();
  model->end();
  EXPECT_TRUE(becomes([&] { return !sink->texts().empty() && sink->texts().back() == ".Second part"; }));
  std::string pieces;
  for (const std::string& text : sink->texts()) pieces += text.starts_with('.') ? "" : text;
  EXPECT_EQ(pieces, "Second part");
  feed->stop();
}

TEST_F(EventFeedTest, RecordInTheMiddleOfAnAnswer_ShowsNothingThatIsHeldBack) {
  const redact::Redaction redaction(
      std::make_shared<const Redactor>(std::vector<std::string>{"Second part"}));
  const auto feed = std::make_shared<EventFeed>(runtime_, journal_, runtime_->model_services().executor,
                                                nullptr, [redaction](const SessionId&) { return redaction; });
  feed->start();
  const auto sink = std::make_shared<TextsSink>();
  const auto names = std::make_shared<NamesSink>();
  EXPECT_TRUE(feed->join({}, sink));
  EXPECT_TRUE(feed->join({}, names));
  const auto model = std::make_shared<HeldModel>(runtime_->model_services().executor);
  Session session = session_of(Agent().model(model).use(praxis::testing::echo_tool()).runtime(runtime_));
  const std::jthread turn = turn_in(session);
  model->begin();
  EXPECT_TRUE(becomes([&] { return is_written(); }));
  session.annotate("looks good");
  EXPECT_TRUE(becomes([&] { return names->count("session.intervened") > 0; }));
  model->end();
  EXPECT_TRUE(becomes([&] { return names->count("turn.completed") > 0; }));
  std::string pieces;
  for (const std::string& text : sink->texts()) pieces += text.starts_with('.') ? "" : text;
  EXPECT_EQ(pieces, "[key]");
  EXPECT_EQ(sink->texts().back(), ".[key]");
  feed->stop();
}

TEST_F(EventFeedTest, RecordThatCannotBeReadForAWhile_IsGivenLaterInItsPlace) {
  const auto journal = std::make_shared<FailsToRead>(journal_);
  const auto feed = std::make_shared<EventFeed>(runtime_, journal, runtime_->model_services().executor);
  feed->start();
  const auto live = std::make_shared<NamesSink>(), late = std::make_shared<NamesSink>(),
             exact = std::make_shared<NamesSink>();
  feed->subscribe({}, Position{}, live);
  EXPECT_TRUE(becomes([&] {
    EXPECT_TRUE(runtime_->emit("tests.look", nullptr));
    return live->count("tests.look") > 0;
  }));
  journal->fail_reads(2);
  EXPECT_EQ(checked(runtime_->run_once(scripted(R"({"text":"Hello there."})"), "hi")).text, "Hello there.");
  EXPECT_TRUE(becomes([&] { return live->count("turn.completed") > 0; }));
  journal->fail_reads(2);
  feed->subscribe({}, Position{}, late);
  EXPECT_TRUE(becomes([&] { return late->count("turn.completed") > 0; }));
  EXPECT_EQ(journal->left(), 0);
  feed->subscribe({}, Position{}, exact);
  EXPECT_TRUE(becomes([&] { return exact->count("turn.completed") > 0; }));
  const auto of_log = [](const NamesSink& sink) {
    std::vector<std::string> names = sink.names();
    std::erase_if(names, [](const std::string& name) {
      return name == "tests.look" || name == "text.delta" || name == "agent.status";
    });
    return names;
  };
  EXPECT_EQ(live->count("message.added"), 1);
  EXPECT_THAT(of_log(*live), ::testing::ContainerEq(of_log(*exact)));
  EXPECT_THAT(of_log(*late), ::testing::ContainerEq(of_log(*exact)));
  feed->stop();
}

TEST_F(EventFeedTest, LogThatCannotBeRead_KeepsNothingFromObserversOfOthers) {
  const auto journal = std::make_shared<FailsToRead>(journal_);
  const auto feed = std::make_shared<EventFeed>(runtime_, journal, runtime_->model_services().executor);
  feed->start();
  const auto broken = checked(runtime_->run_once(scripted(R"({"text":"Lost."})"), "hi")).session;
  journal->break_log(broken);
  const auto sink = std::make_shared<NamesSink>();
  feed->subscribe({}, Position{}, sink);
  EXPECT_EQ(checked(runtime_->run_once(scripted(R"({"text":"Hello."})"), "hi")).text, "Hello.");
  EXPECT_TRUE(becomes([&] { return sink->count("turn.completed") > 0; }));
  EXPECT_EQ(sink->count("turn.completed"), 1);
  feed->stop();
}

TEST_F(EventFeedTest, EndedSubscription_IsNoLongerCountedAndGetsNothing) {
  const auto feed = std::make_shared<EventFeed>(runtime_, journal_, runtime_->model_services().executor);
  feed->start();
  const auto ended = std::make_shared<NamesSink>(), stays = std::make_shared<NamesSink>();
  Task end = feed->subscribe({}, Position{}, ended);
  feed->subscribe({}, Position{}, stays);
  end();
  EXPECT_EQ(feed->observers(), 1U);
  EXPECT_EQ(checked(runtime_->run_once(scripted(R"({"text":"Hello."})"), "hi")).text, "Hello.");
  EXPECT_TRUE(becomes([&] { return stays->count("turn.completed") > 0; }));
  EXPECT_EQ(ended->count("turn.completed"), 0);
  end();
  EXPECT_EQ(feed->observers(), 1U);
}

}  // namespace
}  // namespace praxis::server
