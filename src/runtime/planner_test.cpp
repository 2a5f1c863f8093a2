// Strategies that a program supplies: its planner, its reflector and its executor of tool calls.
#include <gmock/gmock.h>

#include "praxis/planners/model_planner.hpp"
#include "praxis/planners/reflect_planner.hpp"
#include "praxis/tools/kv_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kAnswerTwice = R"({"text": "first"}
{"text": "second"})";

/// Looks something up, asks the model about it, asks the user, and writes a note.
class Researcher final : public Planner {
 public:
  PlanStep plan(const PlannerState& state) const override {
    const auto results = state.results();
    switch (results.size()) {
      case 0: {
        UseTools both = use_tool("echo", JsonObject{{"text", state.request() + " one"}});
        both.calls.push_back(use_tool("echo", JsonObject{{"text", "two"}}).calls.front());
        return both;
      }
      case 2:
        return Consult{
            {"judge", "Which is better: " + results[0].text + " or " + results[1].text + "?", nullptr}};
      case 3:
        return AskPerson{"Shall I take \"" + results[2].text + "\"?"};
      case 4:
        return AddMessage{"The user says " + results[3].text};
      default:
        return Conclude{StopReason::kFinished, "taken: " + results[2].text, std::nullopt};
    }
  }
};

/// Objects to every answer that does not contain the word that it wants.
class WantsWord final : public Reflector {
 public:
  explicit WantsWord(std::string word) : word_(std::move(word)) {}
  std::optional<PlanStep> reflect(const PlannerState& state) const override {
    const StepResult& last = state.results().back();
    if (last.tool != "answer" || last.text.find(word_) != std::string::npos) return std::nullopt;
    return AddMessage{"Say " + word_ + ".", Role::kUser};
  }

 private:
  std::string word_;
};

template <class Plan>
class Lambda final : public Planner {
 public:
  explicit Lambda(Plan plan) : plan_(std::move(plan)) {}
  PlanStep plan(const PlannerState& state) const override { return plan_(state); }

 private:
  Plan plan_;
};
template <class Plan>
std::shared_ptr<const Planner> planner_from(Plan plan) {
  return std::make_shared<const Lambda<Plan>>(std::move(plan));
}

class PlannerTest : public Scripted {
 protected:
  /// An agent that `planner` leads.
  Agent led_by(std::shared_ptr<const Planner> planner, std::string_view script = R"({"text": "one"})") {
    planner_ = planner;
    Agent agent = scripted(script);
    return agent.use(echo_tool()).planner(std::move(planner), "mine");
  }
};

TEST_F(PlannerTest, PlannerOfTheHostDecidesEveryStep) {
  const Agent agent = led_by(std::make_shared<const Researcher>());
  Session session = session_of(agent);
  const AgentResult waiting = checked(session.ask("find"));
  ASSERT_EQ(waiting.pending.size(), 1U);
  EXPECT_EQ(waiting.pending[0].prompt, "Shall I take \"one\"?");
  const AgentResult done = checked(session.resume({{waiting.pending[0].id, answer("yes")}}).result());
  EXPECT_EQ(done.text, "taken: one");
  ASSERT_EQ(done.actions.size(), 2U);
  EXPECT_NE(done.actions[0].call, done.actions[1].call) << "calls without an id get one";
  EXPECT_EQ(result_for(session.history(), done.actions[0].call.str()).text, "find one");
  EXPECT_EQ(session.history().messages().back()->text(), "The user says yes");
}

TEST_F(PlannerTest, PlannerContinuesInAnotherProcess) {
  for (const bool suspend : {false, true}) {
    RuntimeOptions options;
    options.suspend_when_waiting = suspend;
    options.journal = journal_;
    runtime_ = Runtime::create(options);
    SessionId id;
    {
      auto session = runtime_->create_session(led_by(std::make_shared<const Researcher>()).runtime(nullptr));
      ASSERT_TRUE(session);
      id = session->session_id();
      ASSERT_EQ(checked(session->ask("find")).pending.size(), 1U);
    }
    start_new_process();
    const Agent again = led_by(std::make_shared<const Researcher>());
    EXPECT_EQ(checked(again.resume(id, {{ParkId{"p1"}, answer("yes")}})).text, "taken: one");
  }
}

TEST_F(PlannerTest, LogOfAPlannerNeedsThatPlanner) {
  const Agent agent = led_by(std::make_shared<const Researcher>());
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("find"));
  const auto records = *read_records(*journal_, session.session_id());
  const auto without = replay(records);
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("\"mine\""));
  const auto other = replay(records, nullptr, std::make_shared<const ModelPlanner>());
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->divergence);
  const Agent foreign = Agent(agent.spec()).runtime(runtime_);
  EXPECT_FALSE(foreign.run("find")) << "a description alone has no planner";
}

TEST_F(PlannerTest, PlannerThatThrowsEndsTheTurn) {
  const Agent agent =
      led_by(planner_from([](const PlannerState&) -> PlanStep { throw std::runtime_error("lost"); }));
  const auto failed = agent.run("go");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the planner \"mine\" threw: lost");
  EXPECT_EQ(json_text(failed.error().detail(), "reason"), "plan_failed");
}

TEST_F(PlannerTest, PlanThatAsksAModelNeedsOne) {
  planner_ = planner_from([](const PlannerState&) -> PlanStep { return AskModel{}; });
  const auto no_model = Agent().runtime(runtime_).planner(planner_).run("go");
  ASSERT_FALSE(no_model);
  EXPECT_EQ(no_model.error().message, "the plan asks a model, and agent \"agent\" has none");
}

TEST_F(PlannerTest, StepWithoutCallsEndsTheTurn) {
  const auto no_call =
      led_by(planner_from([](const PlannerState&) -> PlanStep { return UseTools{}; })).run("go");
  ASSERT_FALSE(no_call);
  EXPECT_EQ(no_call.error().message, "a step of the plan uses tools, but names no call");
}

TEST_F(PlannerTest, ViewHasWhatThePlannerNeeds) {
  const auto seen = std::make_shared<std::vector<std::string>>();  // the replay plans again
  Agent agent = scripted("").use(kv_tool()).limits(limit(&Limits::max_tool_calls, 3U));
  agent.policy({.allow = {"kv"}, .deny = {}, .ask = {}});
  agent.planner(planner_ = planner_from([seen](const PlannerState& state) -> PlanStep {
                  if (state.results().empty())
                    return use_tool("kv", JsonObject{{"op", "put"}, {"key", "colour"}, {"value", "red"}});
                  const auto& notes = state.memory("kv").entries;
                  *seen = {state.prompt(),
                           std::to_string(state.step()),
                           std::to_string(*state.budget().tool_calls),
                           state.budget().tokens ? "limited" : "unlimited",
                           notes.contains("colour") ? "noted" : "forgot",
                           state.conversation().messages().front()->text(),
                           state.agent().id};
                  return Conclude{};
                }));
  ASSERT_TRUE(agent.run("go"));
  EXPECT_THAT(*seen, ElementsAre("go", "1", "2", "unlimited", "noted", "go", "agent"));
}

TEST_F(PlannerTest, ReflectorLetsTheModelAnswerAgain) {
  const auto reflector = std::make_shared<const WantsWord>("second");
  planner_ = std::make_shared<const ReflectPlanner>(std::make_shared<const ModelPlanner>(), reflector);
  const Agent agent = scripted(kAnswerTwice).reflector(reflector);
  Session session = session_of(agent);
  EXPECT_EQ(checked(session.ask("go")).text, "second");
  ASSERT_EQ(session.turns().size(), 4U);
  EXPECT_EQ(session.turns()[2].message->role, Role::kUser);
  EXPECT_EQ(session.turns()[2].message->text(), "Say second.");
}

TEST_F(PlannerTest, ModelReviewsItsOwnWork) {
  const Agent agent = scripted(R"({"text": "draft"}
{"text": "{\"done\": false, \"note\": \"Name the city.\"}"}
{"text": "Paris"}
{"text": "{\"done\": true, \"note\": \"\"}"})")
                          .plan(JsonObject{{"kind", "reflect"}});
  Session session = session_of(agent);
  const AgentResult result = checked(session.ask("Which?"));
  EXPECT_EQ(result.text, "Paris");
  EXPECT_EQ(result.model_calls.size(), 4U);
  EXPECT_EQ(result.model_calls[1].purpose, "reflect");
  ASSERT_EQ(session.turns().size(), 4U) << "reviews are no part of the conversation";
  EXPECT_EQ(session.turns()[2].message->text(), "Review: Name the city.");
}

TEST_F(PlannerTest, ReviewsAreBounded) {
  const Agent agent = scripted(R"({"text": "draft"}
{"text": "{\"done\": false, \"note\": \"More.\"}"}
{"text": "final"})")
                          .plan(JsonObject{{"kind", "reflect"}, {"rounds", 1}});
  EXPECT_EQ(checked(agent.run("go")).text, "final");
  const auto mistyped = scripted("").plan(JsonObject{{"kind", "reflect"}, {"round", 1}}).run("go");
  ASSERT_FALSE(mistyped);
  EXPECT_THAT(mistyped.error().message, HasSubstr("did you mean \"rounds\"?"));
}

TEST_F(PlannerTest, ExecutorRunsTheCallsInPlaceOfTheHandlers) {
  std::vector<std::string> ran;
  Agent agent = scripted(R"({"tool_calls": [{"id": "c1", "name": "echo", "arguments": {"text": "hi"}}]}
{"tool_calls": [{"id": "c2", "name": "echo", "arguments": {}}]}
{"text": "done"})");
  agent.use(echo_tool()).executor([&](ToolContext& context, const Tool& tool, const Json& arguments) {
    ran.push_back(context.call.str() + " " + tool.definition.name);
    auto output = tool.handler(context, arguments);
    if (output) output->text += " from elsewhere";
    return output;
  });
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("go"));
  EXPECT_THAT(ran, ElementsAre("c1 echo")) << "arguments that do not fit never reach the executor";
  EXPECT_EQ(result_for(session.history(), "c1").text, "hi from elsewhere");
}

}  // namespace
}  // namespace praxis::testing
