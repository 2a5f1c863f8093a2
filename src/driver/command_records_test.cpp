#include "driver/command_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/testing/fold.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

/// A session of an agent with the tool `pay`, whose argument is an integer.
class CommandRecords : public ::testing::Test {
 protected:
  static AgentSpec paying() {
    AgentSpec agent;
    agent.model = "test:model";
    ToolSpec pay = test_tool("pay");
    pay.definition.parameters =
        *parse_json(R"({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]})");
    agent.tools = {pay};
    return agent;
  }
  /// Parks a step of this kind as `p1`.
  static State parked(ParkKind kind, Json schema = nullptr) {
    State state;
    state.id = SessionId{"s1"};
    state.agent = std::make_shared<const AgentSpec>(paying());
    ParkedStep step;
    step.id = ParkId{"p1"};
    step.kind = kind;
    step.tool = "pay";
    step.schema = std::move(schema);
    state.parked[step.id] = step;
    return state;
  }
  static std::string refusal(const State& state, const Approval& approval, const std::string& park = "p1") {
    const auto records = approval_records(state, {{ParkId{park}, approval}}, by_library());
    return records ? "" : records.error().message;
  }
  static std::string refusal(const State& state, CommandVerb verb, bool over = false) {
    const auto records = request_records(state, Commands{{verb, state.id, "text"}}, over);
    return records ? "" : records.error().message;
  }
};

TEST_F(CommandRecords, ApprovalNamesItsStepAndAuthor) {
  const State state = parked(ParkKind::kApproval);
  const auto records = approval_records(state, {{ParkId{"s1/p1"}, reject("too much")}}, person_by_library());
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(records->size(), 1U);
  const auto& decided = std::get<records::Decided>(records->front());
  EXPECT_EQ(decided.park, ParkId{"p1"});
  EXPECT_EQ(decided.verb, ApprovalVerb::kReject);
  EXPECT_EQ(decided.text, "too much");
  EXPECT_EQ(decided.author, person_by_library());
}

TEST_F(CommandRecords, ApprovalOfAnotherStepIsRefused) {
  const State state = parked(ParkKind::kApproval);
  EXPECT_THAT(refusal(state, approve(), "p2"), HasSubstr("nothing is parked as \"p2\""));
  EXPECT_THAT(refusal(state, approve(), "s2/p1"), HasSubstr("is not a step of session s1"));
  const Approvals twice{{ParkId{"p1"}, approve()}, {ParkId{"s1/p1"}, approve()}};
  EXPECT_THAT(approval_records(state, twice, by_library()).error().message, HasSubstr("is decided twice"));
}

TEST_F(CommandRecords, ApprovalHasToFitTheKindOfTheStep) {
  EXPECT_THAT(refusal(parked(ParkKind::kApproval), answer("yes")),
              HasSubstr("\"answer\" is not one of them"));
  EXPECT_THAT(refusal(parked(ParkKind::kQuestion), approve()), HasSubstr("\"allow\" is not one of them"));
  EXPECT_EQ(refusal(parked(ParkKind::kQuestion), answer("yes")), "");
}

TEST_F(CommandRecords, EditedArgumentsHaveToFitTheTool) {
  const State state = parked(ParkKind::kApproval);
  EXPECT_EQ(refusal(state, edit(R"({"sum": 1})")), "");
  EXPECT_THAT(refusal(state, edit("{sum")), HasSubstr("are not valid JSON"));
  EXPECT_THAT(refusal(state, edit(R"({"sum": 1, "sum": 2})")), HasSubstr("\"sum\""));
  EXPECT_THAT(refusal(state, edit(R"({"sum": "all"})")), HasSubstr("do not fit \"pay\": /sum "));
}

TEST_F(CommandRecords, AnswerHasToFitTheSchemaOfTheQuestion) {
  const State number = parked(ParkKind::kQuestion, JsonObject{{"type", "integer"}});
  EXPECT_EQ(refusal(number, answer("7")), "");
  EXPECT_THAT(refusal(number, answer("seven")), HasSubstr("must be JSON"));
  EXPECT_THAT(refusal(number, answer("\"seven\"")), HasSubstr("does not fit"));
  EXPECT_EQ(refusal(parked(ParkKind::kQuestion, JsonObject{{"type", "string"}}), answer("seven")), "");
}

TEST_F(CommandRecords, CommandThatTheSessionCannotCarryOutIsRefused) {
  State state;
  state.id = SessionId{"s1"};
  EXPECT_THAT(refusal(state, CommandVerb::kInterrupt), HasSubstr("has no turn in progress to stop"));
  EXPECT_THAT(refusal(state, CommandVerb::kUnpause), HasSubstr("is not paused"));
  EXPECT_EQ(refusal(state, CommandVerb::kPause), "");
  state.paused = true;
  EXPECT_THAT(refusal(state, CommandVerb::kPause), HasSubstr("is already paused"));
  EXPECT_EQ(refusal(state, CommandVerb::kUnpause), "");
  EXPECT_THAT(refusal(state, CommandVerb::kSteer, true), HasSubstr("ends with the call that created it"));
  EXPECT_EQ(refusal(state, CommandVerb::kAnnotate, true), "") << "a comment is possible after the end";
  state.deleted = true;
  EXPECT_THAT(refusal(state, CommandVerb::kAnnotate), HasSubstr("is already deleted"));
}

TEST_F(CommandRecords, RefusedCommandRefusesThoseOfTheSameRequest) {
  State state;
  state.id = SessionId{"s1"};
  const Commands commands{{CommandVerb::kAnnotate, state.id, "careful"}, {CommandVerb::kUnpause, state.id}};
  EXPECT_FALSE(request_records(state, commands, false));
  EXPECT_TRUE(check_target(commands));
  EXPECT_FALSE(
      check_target({{CommandVerb::kPause, SessionId{"s1"}}, {CommandVerb::kPause, SessionId{"s2"}}}));
}

TEST_F(CommandRecords, ChangedRequestWithdrawsTheQuestionOfAPlanner) {
  State state = parked(ParkKind::kQuestion);
  const Command modify{CommandVerb::kModify, state.id, "something else", person_by_library()};
  const auto records = command_records(state, modify);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(std::get<records::Intervened>(records[0]).author, person_by_library());
  EXPECT_EQ(std::get<records::Decided>(records[1]).verb, ApprovalVerb::kReject);
  state.parked.begin()->second.call = CallId{"c1"};  // the question of a tool call
  EXPECT_EQ(command_records(state, modify).size(), 1U);
}

TEST_F(CommandRecords, IdOfAStepIsSplitAtItsLastSlash) {
  EXPECT_EQ(split_id(ParkId{"p1"}), (std::pair{SessionId{}, ParkId{"p1"}}));
  EXPECT_EQ(split_id(ParkId{"s1/p1"}), (std::pair{SessionId{"s1"}, ParkId{"p1"}}));
}

}  // namespace
}  // namespace praxis
