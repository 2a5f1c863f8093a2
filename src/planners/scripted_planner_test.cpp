#include "praxis/planners/scripted_planner.hpp"

#include <gtest/gtest.h>

#include "core/testing/fold.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis {
namespace {

Json plan_of(const char* json) { return parse_json(json).value(); }

ScriptedPlanner parsed(const char* json) {
  auto planner = ScriptedPlanner::parse(plan_of(json));
  if (!planner) throw std::logic_error(planner.error().message);
  return *planner;
}

std::string refusal(const char* json) {
  auto planner = ScriptedPlanner::parse(plan_of(json));
  return planner ? "accepted" : planner.error().message;
}

/// A session that follows a plan with the tools `read` and `write`.
struct Planned {
  explicit Planned(const char* json, Limits limits = {})
      : planner(parsed(json)), fold(agent(json, limits), planner) {}
  static AgentSpec agent(const char* json, Limits limits) {
    AgentSpec spec;
    spec.plan = plan_of(json);
    spec.limits = limits;
    spec.tools = {test_tool("read"), test_tool("write")};
    return spec;
  }
  ScriptedPlanner planner;
  Fold fold;
};

TEST(ModelPlanner, AsksTheModelUntilItHasAnswered) {
  State state;
  state.turn.emplace();
  const auto planned = [&] { return ModelPlanner{}.plan(PlannerState(state)); };
  EXPECT_TRUE(std::holds_alternative<AskModel>(planned()));
  state.turn->answer = Answer{FinishReason::kPause};
  EXPECT_TRUE(std::holds_alternative<AskModel>(planned()));
  state.turn->answer = Answer{};
  EXPECT_TRUE(std::holds_alternative<Conclude>(planned()));
}

TEST(ScriptedPlanner, RunsStepsInOrder_AndFeedsResultsForward) {
  Planned run(R"([{"id": "read", "tool": "read", "input": {"path": "${prompt}.txt"}},
                  {"message": "Got ${steps.read.value.size} bytes"},
                  {"id": "write", "tool": "write", "input": {"rows": "${steps.read.value.rows}", "last": "${steps.read.value.rows[1]}",
                                                              "price": "$$${steps.read.text}"}},
                  {"finish": "wrote ${steps.write.text}"}])");
  run.fold.begin("notes");
  EXPECT_EQ(run.fold.call("read").call.arguments, R"({"path":"notes.txt"})");
  run.fold.give("read", "5", plan_of(R"({"size": 5, "rows": [1, {"a": true}]})"));
  EXPECT_EQ(run.fold.call("write").call.arguments,
            R"({"rows":[1,{"a":true}],"last":{"a":true},"price":"$5"})");
  EXPECT_TRUE(is<Idle>(run.fold.give("write", "all")));
  EXPECT_TRUE(run.fold.result().success);
  EXPECT_EQ(run.fold.result().text, "wrote all");
  EXPECT_EQ(run.fold.messages()[3]->text(), "Got 5 bytes");
}

TEST(ScriptedPlanner, WithoutFinish_LastResultIsTheText) {
  Planned run(R"([{"tool": "read"}])");
  run.fold.begin("go");
  run.fold.give("step1", "the content");
  EXPECT_EQ(run.fold.result().reason, StopReason::kFinished);
  EXPECT_EQ(run.fold.result().text, "the content");
}

TEST(ScriptedPlanner, BatchRunsTogether_ResultsInCallOrder) {
  Planned run(
      R"([{"id": "both", "tools": [{"tool": "read", "input": {"n": 1}}, {"tool": "read", "input": {"n": 2}}]},
                  {"finish": "${steps.both.text} ${steps.both.value[1]} ${steps.both.ok}"}])");
  run.fold.begin("go");
  run.fold.give("both.1", "second", 22);
  run.fold.give("both.0", "first", 11);
  EXPECT_EQ(run.fold.result().text, "first\nsecond 22 true");
}

TEST(ScriptedPlanner, ForEach_MakesOneCallPerElement) {
  Planned run(R"([{"id": "list", "tool": "read"},
                  {"id": "each", "tool": "write", "for_each": "${steps.list.value}", "input": {"it": "${item.x}", "i": "${index}"}},
                  {"finish": "${steps.each.value}"}])");
  run.fold.begin("go");
  run.fold.give("list", "", plan_of(R"([{"x": "a"}, {"x": "b"}])"));
  EXPECT_EQ(run.fold.call("each.1").call.arguments, R"({"it":"b","i":1})");
  run.fold.give("each.0", "", 1);
  run.fold.give("each.1", "", 2);
  EXPECT_EQ(run.fold.result().text, "[1,2]");
}

TEST(ScriptedPlanner, ForEachOverAnEmptyArray_IsDoneAtOnce) {
  Planned run(R"([{"id": "each", "tool": "read", "for_each": []}, {"finish": "none: ${steps.each.value}"}])");
  run.fold.begin("go");
  EXPECT_EQ(run.fold.result().text, "none: []");
}

TEST(ScriptedPlanner, ForEachOverANonArray_FailsThePlan) {
  Planned run(R"([{"id": "each", "tool": "read", "for_each": "${prompt}"}])");
  run.fold.begin("go");
  EXPECT_EQ(run.fold.result().reason, StopReason::kPlanFailed);
  EXPECT_EQ(run.fold.result().error->message, "plan step \"each\": \"for_each\" needs an array");
}

TEST(ScriptedPlanner, FailedStep_StopsThePlanWithItsError) {
  Planned run(R"([{"id": "read", "tool": "read"}, {"tool": "write"}])");
  run.fold.begin("go");
  EXPECT_TRUE(is<Idle>(run.fold.fail_call("read", "no such file")));
  EXPECT_EQ(run.fold.result().reason, StopReason::kPlanFailed);
  EXPECT_EQ(run.fold.result().error->message, "plan step \"read\": read failed: no such file");
}

TEST(ScriptedPlanner, OnErrorContinue_MakesTheFailureVisibleToConditions) {
  const char* plan = R"([{"id": "read", "tool": "read", "on_error": "continue"},
                         {"when": "${steps.read.ok}", "finish": "fine"},
                         {"when": {"value": "${steps.read.text}", "matches": "^no .* file$"}, "finish": "missing"},
                         {"fail": "what is ${steps.read.text}?"}])";
  Planned missing(plan);
  missing.fold.begin("go");
  missing.fold.fail_call("read", "no such file");
  EXPECT_EQ(missing.fold.result().text, "missing");
  Planned other(plan);
  other.fold.begin("go");
  other.fold.fail_call("read", "disk on fire");
  EXPECT_EQ(other.fold.result().reason, StopReason::kPlanFailed);
  EXPECT_EQ(other.fold.result().error->message, "what is disk on fire?");
}

TEST(ScriptedPlanner, Conditions_TestValues) {
  const auto passes = [](const std::string& when) {
    Planned run(
        (R"([{"id": "a", "tool": "read"}, {"id": "skipped", "when": "${steps.a.value.zero}", "message": "x"},
                     {"when": )" +
         when + R"(, "finish": "yes"}, {"finish": "no"}])")
            .c_str());
    run.fold.begin("go");
    run.fold.give("a", "some text", plan_of(R"({"n": 3, "zero": 0, "list": ["x", 2], "empty": {}})"));
    return run.fold.result().text == "yes";
  };
  EXPECT_TRUE(passes(R"({"value": "${steps.a.value.n}", "equals": 3.0})"));
  EXPECT_FALSE(passes(R"({"value": "${steps.a.value.n}", "equals": "3"})"));
  EXPECT_TRUE(passes(R"({"value": "${steps.a.value.n}", "not_equals": 4})"));
  EXPECT_TRUE(passes(R"({"value": "${steps.a.text}", "contains": "me te"})"));
  EXPECT_TRUE(passes(R"({"value": "${steps.a.value.list}", "contains": 2})"));
  EXPECT_FALSE(passes(R"({"value": "${steps.a.value.list}", "contains": "y"})"));
  EXPECT_TRUE(passes(R"({"value": "${steps.a.value.more}", "exists": false})"));
  EXPECT_TRUE(passes(R"({"value": "${steps.skipped.text}", "exists": false})"));
  EXPECT_TRUE(passes(R"({"value": "${steps.a.value.zero}", "exists": true})"));
  EXPECT_FALSE(passes(R"("${steps.a.value.empty}")"));
  EXPECT_FALSE(passes(R"({"value": "${steps.a.text}", "matches": "^text"})"));
}

TEST(ScriptedPlanner, UnknownReferenceAtRunTime_NamesStepAndReference) {
  Planned run(
      R"([{"id": "read", "tool": "read"}, {"id": "write", "tool": "write", "input": {"x": "${steps.read.value.title}"}}])");
  run.fold.begin("go");
  run.fold.give("read", "", plan_of(R"({"name": 1})"));
  EXPECT_EQ(run.fold.result().reason, StopReason::kPlanFailed);
  EXPECT_EQ(
      run.fold.result().error->message,
      "plan step \"write\": ${steps.read.value.title} is not there; the results so far hold no such value");
}

TEST(ScriptedPlanner, AskAndSleepSteps_AreCarriedOut) {
  Planned run(
      R"([{"id": "name", "ask": "Which file, ${prompt}?"}, {"sleep_ms": 100}, {"finish": "use ${steps.name.text}"}])");
  EXPECT_TRUE(is<Wait>(run.fold.begin("friend")));
  EXPECT_EQ(run.fold.state().parked.begin()->second.prompt, "Which file, friend?");
  run.fold.decide(ApprovalVerb::kAnswer, "b.txt");
  EXPECT_EQ(run.fold.turn().effect->delay, Millis{100});
  run.fold.fire_timer();
  EXPECT_EQ(run.fold.result().text, "use b.txt");
}

TEST(ScriptedPlanner, MessageWindow_DoesNotChangeTheAnswer) {
  Limits limits;
  limits.max_messages = 4;
  Planned run(
      R"([{"tool": "read"}, {"tool": "read"}, {"tool": "read"}, {"finish": "${prompt} ${steps.step1.text}"}])",
      limits);
  run.fold.begin("goal");
  for (const char* id : {"step1", "step2", "step3"}) run.fold.give(id, id);
  EXPECT_EQ(run.fold.result().text, "goal step1");
}

TEST(ScriptedPlanner, SurvivesACrashAtAnyStep) {
  Planned run(R"([{"id": "a", "tool": "read"}, {"sleep_ms": 5}, {"finish": "${steps.a.text}"}])");
  run.fold.begin("go");
  run.fold.recover();
  run.fold.decide(ApprovalVerb::kAnswer, "as seen by a user");
  run.fold.recover();
  run.fold.fire_timer();
  EXPECT_EQ(run.fold.result().text, "as seen by a user");
}

TEST(ScriptedPlanner, InvalidPlans_AreRefusedBeforeTheRun) {
  EXPECT_EQ(refusal("{}"), "a plan is an array of at least one step");
  EXPECT_EQ(refusal("[]"), "a plan is an array of at least one step");
  EXPECT_EQ(refusal(R"([{"finish": "x"}, 3])"),
            "plan step 2: a step is a table, such as {tool = \"file_read\", input = {...}}");
  EXPECT_EQ(refusal(R"([{"id": "read", "toool": "x"}])"),
            "plan step 1 (\"read\"): unknown key \"toool\"; did you mean \"tool\"?");
  EXPECT_EQ(refusal(R"([{"id": "a"}])"),
            "plan step 1 (\"a\"): it needs one of tool, tools, message, ask, sleep_ms, finish and fail");
  EXPECT_EQ(refusal(R"([{"tool": "a", "message": "b"}])"),
            "plan step 1 (\"step1\"): it has both \"tool\" and \"message\"; split it in two");
  EXPECT_EQ(refusal(R"([{"message": "b", "input": {}}])"),
            "plan step 1 (\"step1\"): \"input\" goes with \"tool\" only");
  EXPECT_EQ(refusal(R"([{"id": "a b", "finish": ""}])"),
            "plan step 1: \"id\" must be 1 to 48 letters, digits, '_' or '-'");
  EXPECT_EQ(refusal(R"([{"id": "a", "ask": "?"}, {"id": "a", "ask": "?"}])"),
            "plan step 2: the id \"a\" is taken by an earlier step");
  EXPECT_EQ(refusal(R"([{"sleep_ms": -1}])"),
            "plan step 1 (\"step1\"): \"sleep_ms\" must be a non-negative integer (milliseconds)");
  EXPECT_EQ(refusal(R"([{"tool": "a", "on_error": "ignore"}])"),
            "plan step 1 (\"step1\"): \"on_error\" must be \"stop\" or \"continue\"");
  EXPECT_EQ(refusal(R"([{"tool": "a", "input": 1}])"),
            "plan step 1 (\"step1\"): \"input\" must be a table of arguments");
  EXPECT_EQ(refusal(R"([{"tools": []}])"),
            "plan step 1 (\"step1\"): \"tools\" must be an array of {tool, input}");
  EXPECT_EQ(refusal(R"([{"tools": [{"tool": "a", "inputs": {}}]}])"),
            "plan step 1 (\"step1\"): \"tools\" has an unknown key \"inputs\"; did you mean \"input\"?");
  EXPECT_EQ(refusal(R"([{"tool": "a", "for_each": "x${prompt}"}])"),
            "plan step 1 (\"step1\"): \"for_each\" must be an array or one placeholder such as "
            "\"${steps.list.value}\"");
}

TEST(ScriptedPlanner, References_AreCheckedBeforeTheRun) {
  EXPECT_EQ(refusal(R"([{"id": "read", "tool": "a"}, {"finish": "${steps.raed.text}"}])"),
            "plan step 2 (\"step2\"): ${steps.raed.text}: no earlier step is called \"raed\"; did you mean "
            "\"read\"?");
  EXPECT_EQ(
      refusal(R"([{"id": "read", "tool": "a"}, {"finish": "${steps.read.txt}"}])"),
      "plan step 2 (\"step2\"): ${steps.read.txt}: a step has ok, text and value; did you mean \"text\"?");
  EXPECT_EQ(refusal(R"([{"finish": "${promt}"}])"),
            "plan step 1 (\"step1\"): ${promt} is unknown; did you mean \"prompt\"?");
  EXPECT_EQ(refusal(R"([{"finish": "${item}"}])"),
            "plan step 1 (\"step1\"): ${item} is known in the input of a step with \"for_each\" only");
  EXPECT_EQ(refusal(R"([{"finish": "${steps}"}])"),
            "plan step 1 (\"step1\"): ${steps} names no step; write ${steps.<id>.text}");
  EXPECT_EQ(refusal(R"([{"finish": "a ${prompt"}])"),
            "plan step 1 (\"step1\"): a placeholder is not closed: \"${prompt\" (write $$ for a literal $)");
  for (const char* path : {"", ".", "a..b", "[0]", "a[", "a[x]", "a[0", "a[0]b", "a[-1]", "a."}) {
    EXPECT_NE(refusal((R"([{"finish": "${)" + std::string(path) + "}\"}]").c_str())
                  .find("is not a valid reference"),
              std::string::npos)
        << path;
  }
}

TEST(ScriptedPlanner, Conditions_AreCheckedBeforeTheRun) {
  const auto when = [](const std::string& json) {
    return refusal((R"([{"finish": "", "when": )" + json + "}]").c_str());
  };
  EXPECT_NE(when("true").find("needs a placeholder"), std::string::npos);
  EXPECT_NE(when(R"("yes")").find("exactly one placeholder"), std::string::npos);
  EXPECT_NE(when(R"({"value": "${prompt}"})").find("needs one of equals"), std::string::npos);
  EXPECT_NE(when(R"({"value": "${prompt}", "equal": 1})").find("did you mean \"equals\"?"),
            std::string::npos);
  EXPECT_NE(when(R"({"value": "${prompt}", "equals": 1, "contains": 1})").find("more than one test"),
            std::string::npos);
  EXPECT_NE(when(R"({"value": "${prompt}", "exists": 1})").find("true or false"), std::string::npos);
  EXPECT_NE(when(R"({"value": "${prompt}", "matches": "("})").find("not a valid regular expression"),
            std::string::npos);
}

}  // namespace
}  // namespace praxis
