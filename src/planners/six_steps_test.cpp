// The six steps: each decision alone, then whole turns driven by the test.
#include "planners/six_steps.hpp"

#include <gtest/gtest.h>

#include "core/testing/fold.hpp"
#include "praxis/planners/make_planner.hpp"
#include "praxis/planners/six_step_planner.hpp"

namespace praxis {
namespace {

using namespace six_steps;

Json plan_of_kind(std::string kind = "six_steps") { return JsonObject{{"kind", std::move(kind)}}; }

AgentSpec six_step_agent(std::vector<ToolSpec> tools = {test_tool("fork", true), test_tool("look_up")}) {
  AgentSpec spec;
  spec.model = "test:model";
  spec.plan = plan_of_kind();
  spec.tools = std::move(tools);
  return spec;
}

// Single decisions, on a state built by the test.

/// A result in the form that the step `clarify` leaves.
StepResult verdict(std::string question) {
  const bool ambiguous = !question.empty();
  return {{}, "clarify", true, "", JsonObject{{"ambiguous", ambiguous}, {"question", std::move(question)}}};
}
StepResult divided(JsonArray questions) {
  return {{}, "sub_questions", true, "", JsonObject{{"questions", std::move(questions)}}};
}
StepResult conclusion(std::string answer, std::string question = {}) {
  const bool uncertain = !question.empty();
  return {
      {},
      "conclude",
      true,
      "",
      JsonObject{{"answer", std::move(answer)}, {"uncertain", uncertain}, {"question", std::move(question)}}};
}
StepResult misfit(std::string purpose, std::string text) {
  return {{}, std::move(purpose), false, std::move(text), nullptr};
}
StepResult said(std::string text) { return {{}, "message", true, std::move(text), nullptr}; }
StepResult answered(std::string text) { return {{}, "ask", true, std::move(text), nullptr}; }
StepResult declined() { return {{}, "ask", false, "", nullptr}; }
StepResult worked(std::string text) { return {{}, "answer", true, std::move(text), nullptr}; }
StepResult looked_up() { return {CallId{"c1"}, "look_up", true, "found", nullptr}; }

struct Situation {
  explicit Situation(std::vector<StepResult> results, AgentSpec agent = six_step_agent()) {
    state.agent = std::make_shared<const AgentSpec>(std::move(agent));
    state.turn.emplace();
    state.turn->id = TurnId{"t1"};
    state.turn->results = std::move(results);
  }
  Progress progress() const { return progress_of(PlannerState(state), settings); }
  SixSteps settings{.information_rounds = 0, .main_work = false};
  State state;
};

/// A short description of a step.
struct Told {
  std::string operator()(const AskModel&) const { return "work"; }
  std::string operator()(const UseTools& step) const {
    std::string text = "call";
    for (const ToolCallPart& call : step.calls) text += " " + call.id.str() + call.arguments;
    return text;
  }
  std::string operator()(const AddMessage& step) const { return "say " + step.text; }
  std::string operator()(const AskPerson& step) const { return "ask " + step.prompt; }
  std::string operator()(const Consult& step) const { return "consult " + step.question.purpose; }
  std::string operator()(const Sleep&) const { return "sleep"; }
  std::string operator()(const Conclude& step) const { return "end " + step.text; }
};
std::string told(const PlanStep& step) { return std::visit(Told{}, step); }
std::string told(const std::optional<PlanStep>& step) { return step ? told(*step) : "done"; }

TEST(SixSteps, Clarify_AsksWhileTheRequestIsAmbiguous) {
  const std::vector<std::pair<std::vector<StepResult>, std::string>> cases{
      {{}, "consult clarify"},
      {{verdict("")}, "done"},
      {{verdict("Whose?")}, "say Whose?"},
      {{verdict("Whose?"), said("Whose?")}, "ask Whose?"},
      {{verdict("Whose?"), said("Whose?"), answered("Ada's")}, "consult clarify"},
      {{verdict("Whose?"), said("Whose?"), answered("Ada's"), verdict("")}, "done"},
      {{verdict("Whose?"), said("Whose?"), answered("Ada's"), verdict("Where?")}, "say Where?"},
      {{misfit("clarify", "It is clear.")}, "done"},
      {{misfit("clarify", "")}, "done"},
      {{verdict(""), divided({}), looked_up(), worked("x")}, "done"},
  };
  for (const auto& [results, expected] : cases) {
    EXPECT_EQ(told(clarify(Situation(results).progress())), expected) << results.size();
  }
}

TEST(SixSteps, Clarify_StopsAfterThreeAnswersEvenIfTheRequestStaysAmbiguous) {
  std::vector<StepResult> results;
  for (const char* question : {"Whose?", "Where?", "When?"}) {
    EXPECT_EQ(told(clarify(Situation(results).progress())), "consult clarify");
    results.insert(results.end(), {verdict(question), said(question), answered("I see")});
  }
  EXPECT_EQ(told(clarify(Situation(results).progress())), "done");
}

TEST(SixSteps, Clarify_DeclinedByTheUser_EndsTheTurnWithTheOpenQuestion) {
  std::vector<StepResult> results{verdict("Whose?"), said("Whose?"), declined()};
  const std::string farewell = "I stopped here, because I would have needed an answer to this: Whose?";
  EXPECT_EQ(told(clarify(Situation(results).progress())), "say " + farewell);
  results.push_back(said(farewell));
  EXPECT_EQ(told(clarify(Situation(results).progress())), "end " + farewell);
}

TEST(SixSteps, Complete_IsADecisionOfItsOwnWithItsOwnRounds) {
  const auto missing = [](std::string question) {
    return StepResult{{},
                      "information",
                      true,
                      "",
                      JsonObject{{"missing", !question.empty()}, {"question", std::move(question)}}};
  };
  std::vector<StepResult> results{verdict("Whose?"), said("Whose?"), answered("Ada's"), verdict("")};
  Situation at(results);
  EXPECT_EQ(told(complete(at.progress())), "done") << "no rounds: the first form of the plan";
  at.settings.information_rounds = 2;
  EXPECT_EQ(told(complete(at.progress())), "consult information");
  for (const char* question : {"How many?", "Which day?"}) {
    at.state.turn->results.push_back(missing(question));
    EXPECT_EQ(told(complete(at.progress())), "say " + std::string(question));
    at.state.turn->results.push_back(said(question));
    EXPECT_EQ(told(complete(at.progress())), "ask " + std::string(question));
    at.state.turn->results.push_back(answered("8"));
  }
  EXPECT_EQ(told(complete(at.progress())), "done") << "two rounds, the question of step 1 apart";
  EXPECT_EQ(told(clarify(at.progress())), "done");
}

TEST(SixSteps, SettingsAreBoundsAndPrompts) {
  Situation at({});
  at.settings.clarify_prompt = "Is it clear?";
  const auto step = clarify(at.progress());
  ASSERT_TRUE(step);
  EXPECT_EQ(std::get<Consult>(*step).question.prompt, "Is it clear?");
  at.settings.clarify_rounds = at.settings.sub_questions = 0;
  EXPECT_EQ(told(clarify(at.progress())), "done");
  EXPECT_EQ(told(find_sub_questions(at.progress())), "done");
}

TEST(SixSteps, WorkInParallel_IncludesTheRequestItself) {
  Situation at({verdict(""), divided({"Which cake?", "Which games?"})});
  at.settings.main_work = true;
  at.settings.main_work_prompt = "Do the rest of:";
  const auto step = work_in_parallel(at.progress());
  ASSERT_TRUE(step);
  const auto& calls = std::get<UseTools>(*step).calls;
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[2].arguments, R"({"prompt":"Do the rest of:\n- Which cake?\n- Which games?"})");
}

TEST(SixSteps, FindSubQuestions_RunsOnceAndOnlyForAnAgentThatCanFork) {
  EXPECT_EQ(told(find_sub_questions(Situation({verdict("")}).progress())), "consult sub_questions");
  EXPECT_EQ(told(find_sub_questions(Situation({verdict(""), divided({})}).progress())), "done");
  const Situation alone({verdict("")}, six_step_agent({test_tool("look_up")}));
  EXPECT_EQ(told(find_sub_questions(alone.progress())), "done");
}

TEST(SixSteps, WorkInParallel_ForksAllAtOnceUnderUniqueIds) {
  const std::vector<StepResult> two{verdict(""), divided({"Which cake?", "", "Which games?"})};
  EXPECT_EQ(told(work_in_parallel(Situation(two).progress())),
            R"(call t1-sub2{"prompt":"Which cake?"} t1-sub3{"prompt":"Which games?"})");
  EXPECT_EQ(told(work_in_parallel(Situation({verdict(""), divided({})}).progress())), "done");
  EXPECT_EQ(told(work_in_parallel(Situation({misfit("sub_questions", "None.")}).progress())), "done");
  EXPECT_EQ(told(work_in_parallel(Situation({divided({"Which cake?"}), looked_up()}).progress())), "done");
}

TEST(SixSteps, WorkOnRequest_ContinuesUntilTheModelHasAnswered) {
  Situation at({verdict(""), divided({})});
  EXPECT_EQ(told(work_on_request(at.progress())), "work");
  at.state.turn->answer = Answer{FinishReason::kPause};
  EXPECT_EQ(told(work_on_request(at.progress())), "work");
  at.state.turn->answer = Answer{};
  EXPECT_EQ(told(work_on_request(at.progress())), "done");
}

TEST(SixSteps, Conclude_SummarisesAndAsksAtMostOnce) {
  const std::vector<std::pair<std::vector<StepResult>, std::string>> cases{
      {{worked("w")}, "consult conclude"},
      {{worked("w"), conclusion("a")}, "say a"},
      {{worked("w"), conclusion("a"), said("a")}, "end a"},
      {{worked("w"), conclusion("w")}, "end w"},
      {{worked("w"), conclusion("a", "Red?")}, "say Red?"},
      {{worked("w"), conclusion("a", "Red?"), said("Red?")}, "ask Red?"},
      {{worked("w"), conclusion("a", "Red?"), said("Red?"), answered("yes")}, "consult conclude"},
      {{worked("w"), conclusion("a", "Red?"), said("Red?"), answered("yes"), conclusion("b", "Sure?")},
       "say b"},
      {{worked("w"), conclusion("a", "Red?"), said("Red?"), declined()}, "say a\n\nThis stayed open: Red?"},
      {{worked("w"), misfit("conclude", "Just so.")}, "say Just so."},
      {{worked("w"), misfit("conclude", "{\"answer\": \"Ju")}, "end w"},
      {{worked("w"), misfit("conclude", "")}, "end w"},
      {{worked("w"), conclusion("")}, "end w"},
      {{worked("w"), conclusion("a"), worked("v")}, "consult conclude"},
  };
  for (const auto& [results, expected] : cases) {
    EXPECT_EQ(told(conclude(Situation(results).progress())), expected);
  }
}

TEST(SixSteps, ChangedRequest_RestartsTheStepsWithinBounds) {
  std::vector<StepResult> results{verdict(""), divided({"Which cake?"}), looked_up()};
  Situation changed(results);
  changed.state.turn->modified_at = 3;
  EXPECT_EQ(told(clarify(changed.progress())), "consult clarify");
  EXPECT_EQ(told(find_sub_questions(changed.progress())), "consult sub_questions");
  EXPECT_EQ(told(work_in_parallel(changed.progress())), "done");

  for (std::size_t i = 1; i < 2U * SixSteps{}.clarify_rounds; ++i) results.push_back(verdict(""));
  for (std::size_t i = 1; i < kMaxDivisions; ++i) results.push_back(divided({}));
  Situation often(results);
  often.state.turn->modified_at = static_cast<std::uint32_t>(results.size());
  EXPECT_EQ(told(clarify(often.progress())), "done");
  EXPECT_EQ(told(find_sub_questions(often.progress())), "done");
}

// Reading a plan.

TEST(SixStepPlanner, PlanOfAnotherKind_IsRefusedByName) {
  EXPECT_TRUE(SixStepPlanner::parse(plan_of_kind()));
  EXPECT_EQ(SixStepPlanner::parse(plan_of_kind("seven_steps")).error().message,
            "unknown kind of plan \"seven_steps\"; write \"six_steps\", \"reflect\" or an array of steps");
  EXPECT_EQ(SixStepPlanner::parse(JsonObject{{"kind", "six_steps"}, {"steps", 6}}).error().message,
            "a plan of the kind \"six_steps\" has no key \"steps\"");
}

TEST(SixStepPlanner, PlanSpellsOutItsSettings) {
  SixSteps settings;
  settings.information_rounds = 1;
  settings.conclude_prompt = "Sum up.";
  EXPECT_EQ(to_json_text(six_steps_plan(settings)),
            R"({"kind":"six_steps","clarify_rounds":3,"information_rounds":1,"sub_questions":4,)"
            R"("main_work":true,"conclude_prompt":"Sum up."})");
  EXPECT_TRUE(SixStepPlanner::parse(six_steps_plan(settings)));
  const auto mistyped = SixStepPlanner::parse(JsonObject{{"kind", "six_steps"}, {"clarify_round", 1}});
  ASSERT_FALSE(mistyped);
  EXPECT_EQ(
      mistyped.error().message,
      "a plan of the kind \"six_steps\" has no key \"clarify_round\"; did you mean \"clarify_rounds\"?");
}

TEST(SixStepPlanner, AgentWithSixSteps_GetsThePlannerAndNeedsAModel) {
  AgentSpec spec = six_step_agent();
  const auto planner = make_planner(spec);
  ASSERT_TRUE(planner) << planner.error().message;
  EXPECT_NE(dynamic_cast<SixStepPlanner*>(planner->get()), nullptr);
  EXPECT_TRUE(needs_model(spec));
  spec.plan = JsonArray{JsonObject{{"finish", "x"}}};
  EXPECT_FALSE(needs_model(spec));
}

// Whole turns.

struct SixStepTurn {
  explicit SixStepTurn(AgentSpec spec = six_step_agent()) : fold(std::move(spec), planner) {}
  /// The purpose of the side query in progress; empty while the model works.
  std::string asked() const {
    const auto& effect = fold.turn().effect;
    return effect && effect->consult ? effect->consult->purpose : "";
  }
  std::string parked() const { return fold.state().parked.begin()->second.prompt; }
  void clear(std::string_view expected = "clarify") {
    ASSERT_EQ(asked(), expected);
    fold.answer(says(R"({"ambiguous": false, "question": ""})"));
  }
  void divide(const std::string& questions) {
    ASSERT_EQ(asked(), "sub_questions");
    fold.answer(says(R"({"questions": )" + questions + "}"));
  }
  void sum_up(const std::string& answer) {
    ASSERT_EQ(asked(), "conclude");
    fold.answer(says(R"({"uncertain": false, "question": "", "answer": ")" + answer + "\"}"));
  }
  SixStepPlanner planner = *SixStepPlanner::parse(plan_of_kind());
  Fold fold;
};

TEST(SixStepPlanner, ClearRequest_TakesFourModelCallsAndAsksNoQuestion) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.clear();
  turn.divide("[]");
  EXPECT_EQ(turn.asked(), "");
  turn.fold.answer(says("Cake and games."));
  turn.sum_up("A party with cake and games.");
  EXPECT_EQ(turn.fold.result().reason, StopReason::kFinished);
  EXPECT_EQ(turn.fold.result().text, "A party with cake and games.");
  EXPECT_EQ(turn.fold.result().model_calls.size(), 4U);
  EXPECT_EQ(turn.fold.messages().back()->text(), "A party with cake and games.");
}

TEST(SixStepPlanner, AnswerOfTheUser_FollowsTheQuestionInTheConversation) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.fold.answer(says(R"({"ambiguous": true, "question": "For whom?"})"));
  EXPECT_EQ(turn.parked(), "For whom?");
  turn.fold.decide(ApprovalVerb::kAnswer, "For Ada");
  turn.clear();
  const auto& messages = turn.fold.messages();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1]->role, Role::kAssistant);
  EXPECT_EQ(messages[1]->text(), "For whom?");
  EXPECT_EQ(messages[2]->role, Role::kUser);
  EXPECT_EQ(messages[2]->text(), "For Ada");
}

TEST(SixStepPlanner, Model_WorksWithItsToolsUntilItAnswersWithoutThem) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.clear();
  turn.divide(R"(["Which cake?", "Which games?"])");
  turn.fold.give("t1-sub3", "Tag");
  turn.fold.give("t1-sub2", "Chocolate");
  turn.fold.answer(calls({tool_call("c1", "look_up")}));
  turn.fold.give("c1", "a shop");
  turn.fold.answer(says("Done."));
  turn.sum_up("All set.");
  EXPECT_EQ(turn.fold.result().text, "All set.");
}

TEST(SixStepPlanner, SteeringAfterTheWork_IsHandledBeforeTheConclusion) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.clear();
  turn.divide("[]");
  turn.fold.answer(says("Cake."));
  turn.fold.command(CommandVerb::kSteer, "And balloons");
  turn.sum_up("Cake.");
  EXPECT_EQ(turn.asked(), "");
  turn.fold.answer(says("Cake and balloons."));
  turn.sum_up("Cake, balloons.");
  EXPECT_EQ(turn.fold.result().text, "Cake, balloons.");
}

TEST(SixStepPlanner, ChangedRequest_RestartsTheStepsWhenRunningCallsHaveEnded) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.clear();
  turn.divide(R"(["Which cake?", "Which games?"])");
  turn.fold.give("t1-sub3", "Tag");
  EXPECT_TRUE(turn.planner.outdated(PlannerState(turn.fold.state())).empty());
  EXPECT_TRUE(is<Wait>(turn.fold.command(CommandVerb::kModify, "Plan a funeral")));
  EXPECT_EQ(turn.planner.outdated(PlannerState(turn.fold.state())), std::vector{CallId{"t1-sub2"}});
  turn.fold.give("t1-sub2", "Chocolate");
  EXPECT_TRUE(turn.planner.outdated(PlannerState(turn.fold.state())).empty());
  turn.clear();
  turn.divide(R"(["Which flowers?"])");
  turn.fold.give("t1-sub6", "Lilies");
  turn.fold.answer(says("Lilies."));
  turn.sum_up("A funeral with lilies.");
  EXPECT_EQ(turn.fold.result().text, "A funeral with lilies.");
}

TEST(SixStepPlanner, ChangeDuringASideQuery_DiscardsItsAnswer) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.fold.command(CommandVerb::kModify, "Plan a party for Ada");
  turn.fold.answer(says(R"({"ambiguous": true, "question": "For whom?"})"));
  EXPECT_TRUE(turn.fold.state().parked.empty());
  turn.clear();
}

TEST(SixStepPlanner, RequestChangedTooOften_IsNoLongerClarified) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  for (std::size_t i = 0; i < 2U * SixSteps{}.clarify_rounds; ++i) {
    EXPECT_EQ(turn.asked(), "clarify");
    turn.fold.command(CommandVerb::kModify, "Plan something else");
    turn.clear();
  }
  turn.divide("[]");
}

TEST(SixStepPlanner, AnswersInTheWrongForm_GiveAPlainTurn) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.fold.answer(says("Clear as day."));
  turn.fold.answer(says(R"({"questions": ["1", "2", "3", "4", "5"]})"));
  turn.fold.answer(says("Cake."));
  turn.fold.answer(says("Cake, that is all.", FinishReason::kStop));
  EXPECT_EQ(turn.fold.result().text, "Cake, that is all.");
}

TEST(SixStepPlanner, FailureOfTheModel_IsNamedWithItsStep) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.fold.fail_model(make_error(ErrorCode::kModel, "no such model"));
  EXPECT_EQ(turn.fold.result().reason, StopReason::kModelFailed);
  EXPECT_EQ(turn.fold.result().error->message, "asking the model for \"clarify\" failed: no such model");
}

TEST(SixStepPlanner, TurnWithoutAMessage_IsAnError) {
  SixStepTurn turn;
  turn.fold.apply(records::TurnStarted{TurnId{"t1"}});
  turn.fold.run();
  EXPECT_EQ(turn.fold.result().reason, StopReason::kPlanFailed);
  EXPECT_EQ(turn.fold.result().error->message, "six steps need a request, and nothing was said");
}

TEST(SixStepPlanner, SurvivesACrashAtAnyStep) {
  SixStepTurn turn;
  turn.fold.begin("Plan a party");
  turn.fold.recover();
  turn.fold.answer(says(R"({"ambiguous": true, "question": "For whom?"})"));
  turn.fold.recover();
  turn.fold.decide(ApprovalVerb::kAnswer, "For Ada");
  turn.fold.recover();
  turn.clear();
  turn.fold.recover();
  turn.divide(R"(["Which cake?"])");
  turn.fold.recover();
  turn.fold.give("t1-sub5", "Chocolate");
  turn.fold.recover();
  turn.fold.answer(says("Cake."));
  turn.fold.recover();
  turn.sum_up("Cake.");
  EXPECT_EQ(turn.fold.result().text, "Cake.");
}

}  // namespace
}  // namespace praxis
