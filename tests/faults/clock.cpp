// A wall clock that jumps during whole sessions, while the monotonic clock runs evenly. Time is virtual: one
// thread, no waiting. A restart drops the runtime, opens the journal again and gives the monotonic clock
// another origin.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "base/testing/manual_executor.hpp"
#include "praxis/base/dates.hpp"
#include "runtime/testing/scripted.hpp"
#include "scenarios.hpp"

#include "fault.hpp"

namespace praxis::faults {
namespace {

using namespace std::chrono_literals;

constexpr Millis kLook{61'000};  // upper bound for noticing an expiry
constexpr std::int64_t kDay = 24 * 3'600'000;
// Typical values of wrong clocks.
constexpr std::int64_t kTimes[] = {0,
                                   1,
                                   -1,
                                   -kDay,
                                   1'700'000'000'000,
                                   2'147'483'647'999,
                                   2'147'483'648'000,
                                   4'294'967'296'000,
                                   253'402'300'799'999,
                                   253'402'300'800'000,
                                   -62'167'219'200'001,
                                   281'474'976'710'656,
                                   4'000'000'000'000'000,
                                   -4'000'000'000'000'000};

/// A wall clock that advances with virtual time from any value it is set to.
class Clocks final : public Environment {
 public:
  Clocks(std::shared_ptr<ManualExecutor> executor, std::uint64_t seed, std::int64_t wall)
      : executor_(std::move(executor)), random_(seed), origin_(static_cast<std::int64_t>(random_() >> 12)) {
    put(wall);
  }

  UnixMillis now() override { return {base_ + since_start()}; }
  std::chrono::nanoseconds monotonic() override {
    return std::chrono::nanoseconds(origin_) + executor_->now();
  }
  std::uint64_t random() override { return random_(); }

  void put(std::int64_t wall) { base_ = wall - since_start(); }
  void jump(Random& random) {
    switch (random.below(6)) {
      case 0:
        return put(kTimes[random.below(std::size(kTimes))]);
      case 1:
        return put(now().value);  // stays
      default:
        constexpr std::int64_t kSteps[] = {1, 1000, 3'600'000, kDay, 400 * kDay};
        const std::int64_t step = kSteps[random.below(std::size(kSteps))];
        put(now().value + (random.once_in(2) ? step : -step));
    }
  }

 private:
  std::int64_t since_start() const { return std::chrono::duration_cast<Millis>(executor_->now()).count(); }

  const std::shared_ptr<ManualExecutor> executor_;
  Random random_;
  const std::int64_t origin_;
  std::int64_t base_ = 0;
};

/// The kind of a run, and its times.
struct Story {
  enum class Kind : std::uint8_t { kSleeps, kRetries, kTool, kDeadline, kWaits };
  Kind kind = Kind::kSleeps;
  /// The two pauses in order; or the limit and the duration that exceeds it.
  Millis first{0}, second{0};
  bool restarts = false;
};

Story story_of(Random& random) {
  Story story;
  story.kind = static_cast<Story::Kind>(random.below(5));
  story.first = Millis(1 + random.below(4'000));
  story.second = Millis(1 + random.below(4'000));
  story.restarts = random.once_in(2);
  return story;
}

/// Simulates one process.
class ClockedLife {
 public:
  ClockedLife(std::shared_ptr<Journal> journal, const Story& story, std::uint64_t seed, std::int64_t wall)
      : clocks(std::make_shared<Clocks>(executor, seed, wall)), story_(story) {
    RuntimeOptions options;
    options.journal = std::move(journal);
    options.environment = clocks;
    options.executor = executor;
    runtime = Runtime::create(std::move(options));
    agent = make_agent();
  }
  ~ClockedLife() {
    session.reset();
    agent = Agent();
    runtime.reset();
    executor->run_ready();
  }
  ClockedLife(const ClockedLife&) = delete;
  ClockedLife& operator=(const ClockedLife&) = delete;

  const std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>();
  const std::shared_ptr<Clocks> clocks;
  std::shared_ptr<Runtime> runtime;
  Agent agent;
  std::optional<Session> session;

 private:
  Agent make_agent() const {
    Agent made = scripted_or_planned();
    Limits limits;
    if (story_.kind == Story::Kind::kDeadline) limits.timeout = story_.first;
    if (story_.kind == Story::Kind::kSleeps) limits.timeout = Millis(1);  // sleep does not count
    if (story_.kind == Story::Kind::kWaits) limits.max_wait = story_.first;
    return made.id("clock").limits(limits).use(slow_tool());
  }

  Agent scripted_or_planned() const {
    const std::int64_t first = story_.first.count(), second = story_.second.count();
    Agent made;
    switch (story_.kind) {
      case Story::Kind::kSleeps:
        return made.plan(JsonArray{JsonObject{{"sleep_ms", first}}, JsonObject{{"message", "then"}},
                                   JsonObject{{"sleep_ms", second}}, JsonObject{{"finish", "awake"}}});
      case Story::Kind::kDeadline:
        return scripted(R"({"error": {"status": 503, "message": "busy", "retry_after_ms": )" +
                        std::to_string(first + 10 * second) + "}}\n{\"text\": \"late\"}");
      case Story::Kind::kWaits:
        return made.plan(JsonArray{JsonObject{{"ask", "Well?"}, {"on_error", "continue"}},
                                   JsonObject{{"finish", "went on"}}});
      case Story::Kind::kRetries:
        return scripted(R"({"error": {"status": 503, "message": "busy", "retry_after_ms": )" +
                        std::to_string(first) +
                        "}}\n"
                        R"({"error": {"status": 429, "message": "slow", "retry_after_ms": )" +
                        std::to_string(second) + "}}\n{\"text\": \"awake\"}");
      case Story::Kind::kTool:
        return scripted(R"({"tool_calls": [{"name": "slow", "arguments": {"ms": )" + std::to_string(second) +
                        "}}]}\n{\"text\": \"awake\"}");
    }
    std::unreachable();
  }

  Agent scripted(const std::string& script) const {
    return Agent("script:clock").model(script_model(script, "clock", executor).value());
  }

  /// A tool that takes as long as its argument says, regardless of its limit.
  Tool slow_tool() const {
    Tool tool = testing::host_tool("slow", [clock = executor.get()](ToolContext&, const Json& arguments) {
      clock->advance(Millis(json_int(arguments, "ms")));
      return Result<ToolOutput>(testing::says("slept"));
    });
    tool.definition.timeout = story_.first;
    tool.definition.idempotent = true;
    return tool;
  }

  const Story story_;
};

class Trial {
 public:
  explicit Trial(std::uint64_t seed) : random_(seed), story_(story_of(random_)) {
    begin(kTimes[random_.below(std::size(kTimes))]);
  }

  void run() {
    life_->session = must(life_->runtime->create_session(life_->agent));
    id_ = life_->session->session_id();
    run_ = life_->session->send_user_message("go");
    if (story_.kind == Story::Kind::kWaits) {
      wait_for_nobody();
    } else {
      let_time_pass();
    }
    check_log();
    check_ids();
    check_texts();
    check_second_session();
  }

 private:
  void begin(std::int64_t wall) {
    run_.reset();
    life_ = nullptr;
    life_ = std::make_unique<ClockedLife>(journal_, story_, random_(), wall);
  }

  SessionStatus status() const { return life_->session->status(); }
  bool is_over() const {
    return status() != SessionStatus::kRunning && status() != SessionStatus::kAwaitingUser;
  }

  /// Simulates a new process, with another monotonic clock and any wall clock.
  void restart(std::int64_t wall) {
    begin(wall);
    life_->session = must(life_->runtime->open_session(id_, life_->agent));
    run_ = life_->session->resume();
    life_->executor->run_ready();
  }

  void let_time_pass() {
    const std::uint64_t restart_at = story_.restarts ? random_.below(8) : ~std::uint64_t{0};
    life_->executor->run_ready();
    for (std::uint64_t step = 0; step < 400 && !is_over(); ++step) {
      if (random_.once_in(2)) life_->clocks->jump(random_);
      life_->executor->advance(Millis(1 + random_.below(700)));
      check_lease();
      if (step == restart_at && !is_over())
        restart(random_.once_in(2) ? life_->clocks->now().value : kTimes[random_.below(std::size(kTimes))]);
    }
    EXPECT_TRUE(is_over()) << to_string(status());
    const AgentResult result = life_->session->last_result();
    const bool timed = story_.kind == Story::Kind::kDeadline;
    ASSERT_TRUE(result.reason);
    if (timed && story_.restarts && result.text == "late") return;  // by a wall clock that ran ahead
    EXPECT_EQ(*result.reason, timed ? StopReason::kTimeLimit : StopReason::kFinished)
        << to_json_text(to_json(result));
    EXPECT_EQ(result.text, timed ? "" : "awake");
  }

  /// A parked step counts as denied once the wall clock says so, and not before.
  void wait_for_nobody() {
    life_->executor->run_ready();
    ASSERT_EQ(status(), SessionStatus::kAwaitingUser);
    const auto pending = life_->session->last_result().pending;
    ASSERT_EQ(pending.size(), 1U);
    const UnixMillis expires = pending[0].expires;
    for (std::uint64_t round = 1 + random_.below(4); round > 0; --round) {
      const std::uint64_t spread = random_.once_in(2) ? 10'000 : 400 * kDay;
      const std::int64_t early = 2 * kLook.count() + static_cast<std::int64_t>(random_.below(spread));
      life_->clocks->put(expires.value - early);
      if (story_.restarts && random_.once_in(3)) restart(expires.value - early);
      life_->executor->advance(kLook);
      ASSERT_EQ(status(), SessionStatus::kAwaitingUser) << "denied " << early << " ms early";
      check_lease();
    }
    const std::int64_t late = random_.once_in(2) ? 0 : static_cast<std::int64_t>(random_.below(400 * kDay));
    if (story_.restarts) {
      restart(expires.value + late);
    } else {
      life_->clocks->put(expires.value + late);
      life_->executor->advance(kLook);
    }
    EXPECT_TRUE(is_over()) << "still waiting " << late << " ms late";
    EXPECT_FALSE(life_->session->decide(pending[0].id, answer("now")));
    const AgentResult result = life_->session->last_result();
    EXPECT_EQ(result.text, "went on") << to_json_text(to_json(result));
  }

  /// No other process gets the session while this one owns it, at any time.
  void check_lease() {
    const auto stolen = journal_->acquire(id_, false);
    if (stolen) throw std::runtime_error("the lease was given away");
    EXPECT_EQ(stolen.error().kind(), ErrorKind::kLeaseHeld);
  }

  void check_log() {
    life_->executor->advance(kLook);  // no timer is left that could fire again
    const auto records = read_records(*journal_, id_);
    ASSERT_TRUE(records) << records.error().message;
    const auto report = replay(*records);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->divergence) << report->divergence->field << " at " << report->divergence->seq;
    std::map<EffectId, int> settled;
    std::uint64_t seq = 0;
    const records::EffectIntended* intent = nullptr;
    for (const StoredRecord& stored : *records) {
      EXPECT_EQ(stored.seq, ++seq);
      if (const auto* intended = std::get_if<records::EffectIntended>(&stored.record.body)) intent = intended;
      const auto* done = std::get_if<records::EffectSettled>(&stored.record.body);
      if (done == nullptr || intent == nullptr || done->effect != intent->effect) continue;
      settled[done->effect] += done->outcome == Outcome::kOk ? 1 : 0;
      EXPECT_LE(settled[done->effect], 1) << done->effect.str();
      check_duration(*intent, *done);
    }
    EXPECT_TRUE(std::holds_alternative<records::TurnSettled>(records->back().record.body));
  }

  /// Checks the duration of an effect against the monotonic clock.
  void check_duration(const records::EffectIntended& intent, const records::EffectSettled& done) const {
    if (intent.kind == EffectKind::kTimer) {
      // After a restart the wall clock says how much of it is left, and it may say anything.
      const Millis whole = done.outcome == Outcome::kOk ? intent.delay : story_.first;
      if (intent.attempt == 1) {
        EXPECT_EQ(done.duration, whole);
      } else {
        EXPECT_LE(done.duration, whole);
      }
    }
    if (intent.kind == EffectKind::kModel) {
      const bool is_cut = story_.kind == Story::Kind::kDeadline && done.outcome != Outcome::kOk;
      EXPECT_EQ(done.duration, is_cut && intent.attempt > 1 ? story_.first : intent.delay) << intent.attempt;
    }
    if (intent.kind == EffectKind::kTool && done.by.empty()) {
      EXPECT_EQ(done.outcome == Outcome::kOk, story_.second < story_.first) << done.duration.count();
      EXPECT_EQ(done.duration, std::min(story_.first, story_.second));
    }
  }

  void check_ids() {
    std::set<std::string> ids;
    for (int i = 0; i < 50; ++i) {
      if (random_.once_in(3)) life_->clocks->jump(random_);
      const std::string id = life_->clocks->new_id();
      EXPECT_EQ(id.size(), 26U);
      EXPECT_TRUE(ids.insert(id).second) << id << " twice";
    }
  }

  /// Checks times as text, and the exported log.
  void check_texts() {
    for (int i = 0; i < 8; ++i) {
      life_->clocks->jump(random_);
      const UnixMillis now = life_->clocks->now();
      const std::string text = to_iso8601(now);
      EXPECT_EQ(text.size(), 24U) << text;
      const bool is_told = now.value >= -62'135'596'800'000 && now.value <= 253'402'300'799'999;
      EXPECT_TRUE(!is_told || from_iso8601(text) == now) << text;
    }
    EXPECT_TRUE(parse_json(to_json_text(to_json(life_->session->last_result()))));
    const auto text = export_session(*journal_, id_);
    ASSERT_TRUE(text) << text.error().message;
    const testing::MemoryFolder folder;
    const bool on_disk = random_.once_in(8);
    const auto elsewhere = on_disk ? sqlite_journal(folder / "j").value() : memory_journal();
    const auto imported = import_session(*elsewhere, *text);
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(export_session(*elsewhere, *imported).value(), *text);
  }

  /// The listing is ordered by creation, not by the clock's values.
  void check_second_session() {
    life_->clocks->jump(random_);
    const auto second = life_->runtime->create_session(life_->agent);
    ASSERT_TRUE(second) << second.error().message;
    const auto rows = journal_->sessions();
    ASSERT_EQ(rows->size(), 2U);
    EXPECT_EQ(rows->front().id, second->session_id());
    EXPECT_EQ(find_session(*journal_, "last").value(), second->session_id());
  }

  Random random_;
  const Story story_;
  const std::shared_ptr<Journal> journal_ = memory_journal();
  std::unique_ptr<ClockedLife> life_;
  SessionId id_;
  std::optional<praxis::Run> run_;
};

}  // namespace

Fault clock_fault() {
  return {"clock",
          "the wall clock jumps, the monotonic clock changes its origin with a restart",
          "timers fire once and on time, limits and leases are unaffected, parked steps expire by the "
          "wall clock, the log replays",
          1'000,
          20'000,
          [] { return [](std::uint64_t seed) { Trial(seed).run(); }; }};
}

}  // namespace praxis::faults
