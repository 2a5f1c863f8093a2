// What turns wait for, and how long, by their records.
#include "app/waiting_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace praxis::app {
namespace {

using ::testing::ElementsAre;

class WaitingTimeTest : public ::testing::Test {
 protected:
  WaitingTimeTest() { at(1000, records::TurnStarted{.turn = TurnId("t1")}); }

  void at(std::int64_t time, const RecordBody& body) { waited_ += fold_.add(UnixMillis{time}, body); }
  void intend(std::int64_t time, const char* effect, EffectKind kind, const char* call = "",
              Millis delay = Millis{0}) {
    records::EffectIntended intent;
    intent.effect = EffectId(effect);
    intent.kind = kind;
    intent.call = CallId(call);
    intent.delay = delay;
    at(time, intent);
  }
  void settle(std::int64_t time, const char* effect) {
    records::EffectSettled settled;
    settled.effect = EffectId(effect);
    at(time, settled);
  }
  void park(std::int64_t time, const char* id, const char* call) {
    records::Parked parked;
    parked.step.id = ParkId(id);
    parked.step.call = CallId(call);
    at(time, parked);
  }
  void decide(std::int64_t time, const char* id) {
    records::Decided decided;
    decided.park = ParkId(id);
    at(time, decided);
  }
  /// Milliseconds for people, timers, sub-agents and retries.
  std::vector<std::int64_t> waited() const {
    std::vector<std::int64_t> all;
    for (const WaitsFor what : kAllWaits) all.push_back(waited_.of(what).count());
    return all;
  }

  WaitingFold fold_;
  WaitingTime waited_;
};

TEST_F(WaitingTimeTest, ModelsAndTools_AreNoWaiting) {
  intend(1000, "e1", EffectKind::kModel);
  settle(3000, "e1");
  intend(3000, "e2", EffectKind::kTool, "c1");
  settle(9000, "e2");
  at(9000, records::TurnSettled{});
  EXPECT_THAT(waited(), ElementsAre(0, 0, 0, 0));
}

TEST_F(WaitingTimeTest, ParkedStep_WaitsForPeopleUnlessAToolRuns) {
  park(1000, "p1", "c1");
  decide(6000, "p1");
  park(6000, "p2", "c2");
  intend(6500, "e1", EffectKind::kTool, "c1");
  settle(7500, "e1");
  decide(8000, "p2");
  at(9000, records::TurnSettled{});
  EXPECT_THAT(waited(), ElementsAre(6000, 0, 0, 0));
}

TEST_F(WaitingTimeTest, SubAgent_IsWaitedForFromItsStartToItsEnd) {
  intend(1000, "e1", EffectKind::kTool, "c1");
  at(1500, records::ChildSpawned{.child = SessionId("k"), .call = CallId("c1"), .agent = "a", .key = ""});
  at(4500, records::ChildSettled{.child = SessionId("k"), .usage = {}});
  settle(5000, "e1");
  EXPECT_THAT(waited(), ElementsAre(0, 0, 3000, 0));
}

TEST_F(WaitingTimeTest, TimersAndDelaysOfAttempts_AreWaitedFor) {
  intend(1000, "e1", EffectKind::kTimer);
  settle(4000, "e1");
  intend(4000, "e2", EffectKind::kModel, "", Millis{500});
  settle(6000, "e2");
  EXPECT_THAT(waited(), ElementsAre(0, 3000, 0, 500));
}

TEST_F(WaitingTimeTest, CallThatACrashCutOff_WaitsForTheAnswerAboutIt) {
  intend(1000, "e1", EffectKind::kTool, "c1");
  park(2000, "p1", "c1");
  decide(5000, "p1");
  EXPECT_THAT(waited(), ElementsAre(3000, 0, 0, 0));
}

TEST_F(WaitingTimeTest, BetweenTurns_NothingWaits) {
  park(1000, "p1", "c1");
  at(2000, records::TurnSettled{});
  EXPECT_FALSE(fold_.is_open());
  at(90'000, records::TurnStarted{.turn = TurnId("t2")});
  EXPECT_THAT(waited(), ElementsAre(1000, 0, 0, 0));
  EXPECT_EQ(to_json_text(waiting_json(waited_)),
            R"({"total_ms":1000,"people_ms":1000,"timers_ms":0,"sub_agents_ms":0,"retries_ms":0})");
}

}  // namespace
}  // namespace praxis::app
