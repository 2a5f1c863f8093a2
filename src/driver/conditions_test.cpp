// Rules about times and numbers of calls: the driver judges them when a call starts, by the records so far.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/testing/rig.hpp"
#include "praxis/base/dates.hpp"

namespace praxis::driver {
namespace {

AgentSpec with_rule(const char* rule) {
  AgentSpec agent = echoing();
  agent.policy = JsonObject{{"allow", JsonArray{"*"}}, {"rules", JsonArray{parse_json(rule).value()}}};
  return agent;
}

TEST(Conditions, CallsOfOneBatch_AreCountedOneAfterTheOther) {
  Rig rig(with_rule(R"({"id":"few","allow":["echo"],"at_most":{"calls":2}})"));
  rig.ask();
  rig.answer(calls({tool_call("a", "echo"), tool_call("b", "echo"), tool_call("c", "echo")}));
  EXPECT_EQ(rig.count<StartTool>(), 2U);
  const CallState* const last = rig.driver->state().find_call(CallId{"c"});
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->phase, CallState::Phase::kSettled);
  EXPECT_THAT(last->result->text, ::testing::HasSubstr("at most 2 times"));
}

TEST(Conditions, Time_IsThatOfTheRecordBeforeTheCall) {
  const auto starts_at = [](const char* time) {
    Rig rig(with_rule(R"({"id":"night","ask":["echo"],"during":{"from":"18:00","zone":"UTC"}})"));
    rig.now.wall = from_iso8601(time).value();
    rig.ask();
    rig.answer(calls({tool_call("a", "echo")}));
    EXPECT_EQ(rig.driver->state().parked.empty(), rig.count<StartTool>() == 1);
    return rig.count<StartTool>() == 1;
  };
  EXPECT_TRUE(starts_at("2026-03-02T17:59:59Z"));
  EXPECT_FALSE(starts_at("2026-03-02T18:00:00Z"));
}

TEST(Conditions, RulesOfAnAgentAbove_Hold) {
  AgentSpec agent = echoing();
  agent.bounds = JsonArray{
      JsonObject{{"allow", JsonArray{"*"}},
                 {"rules", JsonArray{parse_json(R"({"id":"r","deny":["*"],"after":{"calls":1}})").value()}}}};
  Rig rig(std::move(agent));
  rig.ask();
  rig.answer(calls({tool_call("a", "echo"), tool_call("b", "echo")}));
  EXPECT_EQ(rig.count<StartTool>(), 1U);
}

}  // namespace
}  // namespace praxis::driver
