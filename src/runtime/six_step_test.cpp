// An agent that works in six steps, with scripted models, sub-agents and users.
#include <algorithm>

#include "praxis/planners/six_step_planner.hpp"
#include "praxis/tools/fork_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

constexpr std::string_view kClear = R"({"text": "{\"ambiguous\": false, \"question\": \"\"}"})";
constexpr std::string_view kWhose = R"({"text": "{\"ambiguous\": true, \"question\": \"Whose birthday?\"}"})";
constexpr std::string_view kWhere = R"({"text": "{\"ambiguous\": true, \"question\": \"Where?\"}"})";
constexpr std::string_view kNoSubQuestions = R"({"text": "{\"questions\": []}"})";
constexpr std::string_view kTwoSubQuestions =
    R"({"text": "{\"questions\": [\"Which cake?\", \"Which games?\"]}"})";
constexpr std::string_view kWork = R"({"text": "Cake and tag."})";
constexpr std::string_view kSure =
    R"({"text": "{\"answer\": \"A party with cake.\", \"uncertain\": false, \"question\": \"\"}"})";
constexpr std::string_view kUnsure =
    R"({"text": "{\"answer\": \"A party.\", \"uncertain\": true, \"question\": \"Is Friday fine?\"}"})";
/// What the copies of the agent answer to the sub-questions.
constexpr std::string_view kCopies = R"({"asked": "Which cake?", "text": "Chocolate"}
{"asked": "Which games?", "text": "Tag"})";
/// Copies that call a tool first; the second line of the script is what they say then.
constexpr std::string_view kCopiesLookUp =
    R"({"asked": "Which cake?", "tool_calls": [{"name": "cakes", "arguments": {"text": "x"}}]}
{"asked": "Which games?", "tool_calls": [{"name": "games", "arguments": {"text": "x"}}]})";

class SixStepTest : public Scripted {
 protected:
  SixStepTest() { use_patient_runtime(); }

  Agent planner(const std::vector<std::string_view>& lines, std::string_view copies = kCopies) {
    std::string script(copies);
    for (const std::string_view line : lines) script += '\n' + std::string(line);
    Agent agent = scripted(script);
    return agent.id("planner").use(fork_tool()).plan(JsonObject{{"kind", "six_steps"}});
  }

  /// Gives one answer after the other to the questions of the turn; reopens the session in a new runtime for
  /// each.
  AgentResult carried_through(const std::vector<std::string_view>& lines,
                              const std::vector<Approval>& approvals) {
    auto session = runtime_->create_session(planner(lines).runtime(nullptr));
    auto result = session->ask("Plan a birthday");
    for (const Approval& approval : approvals) {
      if (!result || result->pending.size() != 1) break;
      start_new_process();
      session = runtime_->open_session(result->session, planner(lines).runtime(nullptr));
      if (!session) break;
      result = session->resume({{result->pending.front().id, approval}}).report();
    }
    EXPECT_TRUE(session) << session.error().message;
    if (result) return *result;
    ADD_FAILURE() << result.error().message;
    return {};
  }
  static std::vector<std::string> said(const History& history) {
    std::vector<std::string> texts;
    for (const MessagePtr& message : history.messages()) texts.push_back(message->text());
    return texts;
  }
};

TEST_F(SixStepTest, PlainRequest_IsAnsweredWithoutAQuestion) {
  Session session = session_of(planner({kClear, kNoSubQuestions, kWork, kSure}));
  const auto result = session.ask("Plan a birthday");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->success) << (result->error ? result->error->message : "");
  EXPECT_EQ(result->text, "A party with cake.");
  EXPECT_EQ(said(session.history()),
            (std::vector<std::string>{"Plan a birthday", "Cake and tag.", "A party with cake."}));
}

TEST_F(SixStepTest, SecondDecisionHasItsOwnQuestionAndTheMainWorkIsParallel) {
  const std::string lines =
      R"({"asked": "Which cake?", "text": "Chocolate"}
{"asked": "Which games?", "text": "Tag"}
{"asked": "Others work on the following parts", "text": "Balloons."}
{"text": "{\"ambiguous\": false, \"question\": \"\"}"}
{"text": "{\"missing\": true, \"question\": \"How many guests?\"}"}
{"text": "{\"missing\": false, \"question\": \"\"}"}
)" + std::string(kTwoSubQuestions) +
      '\n' + std::string(kWork) + '\n' + std::string(kSure);
  Agent agent = scripted(lines);
  agent.id("planner").use(fork_tool()).plan(six_steps_plan());
  Session session = session_of(agent);
  auto waiting = session.send_user_message("Plan a birthday").report();
  ASSERT_TRUE(waiting);
  ASSERT_EQ(waiting->pending.size(), 1U);
  EXPECT_EQ(waiting->pending.front().prompt, "How many guests?");
  const auto result = session.resume({{waiting->pending.front().id, answer("Eight")}}).report();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "A party with cake.");
  ASSERT_EQ(result->actions.size(), 3U);
  EXPECT_EQ(result->actions[0].step, result->actions[2].step) << "one batch";
  const auto turns = said(session.history());
  EXPECT_EQ(std::ranges::count(turns, "Cake and tag."), 1);
}

TEST_F(SixStepTest, AmbiguousRequest_WaitsForEachAnswerAcrossProcesses) {
  const AgentResult result = carried_through({kWhose, kWhere, kClear, kNoSubQuestions, kWork, kSure},
                                             {answer("Ada's"), answer("At home")});
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.text, "A party with cake.");
  const auto state = fold(*read_records(*journal_, result.session));
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(said(state->conversation.history()),
            (std::vector<std::string>{"Plan a birthday", "Whose birthday?", "Ada's", "Where?", "At home",
                                      "Cake and tag.", "A party with cake."}));
}

TEST_F(SixStepTest, DeclinedQuestion_EndsTheTurnSuccessfully) {
  const AgentResult result = carried_through({kWhose}, {reject("It is a surprise")});
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.text, "I stopped here, because I would have needed an answer to this: Whose birthday?");
}

TEST_F(SixStepTest, SubQuestions_AreWorkedOnByCopiesWithoutThePlan) {
  Session session = session_of(planner({kClear, kTwoSubQuestions, kWork, kSure}));
  std::vector<std::string> below;
  for (const Event& event : session.send_user_message("Plan a birthday")) {
    if (event.agent.depth == 1) below.emplace_back(event_name(event.body));
  }
  EXPECT_EQ(std::ranges::count(below, "turn.started"), 2);
  EXPECT_EQ(std::ranges::count(below, "turn.completed"), 2);
  EXPECT_EQ(std::ranges::count(below, "model.requested"), 2) << "a copy answers at once, without six steps";
  EXPECT_EQ(session.last_result().text, "A party with cake.");
  EXPECT_GT(session.last_result().usage_children.total(), 0);
  const History history = session.history();
  EXPECT_EQ(result_for(history, "t1-sub2").text, "Chocolate");
  EXPECT_EQ(result_for(history, "t1-sub3").text, "Tag");
}

TEST_F(SixStepTest, SubQuestions_RunInParallel) {
  BlockedTool cakes, games;
  Agent agent = planner({kClear, kTwoSubQuestions, kWork, kSure}, kCopiesLookUp);
  Session session = session_of(agent.use(cakes.tool("cakes", true)).use(games.tool("games", true)));
  auto run = session.send_user_message("Plan a birthday");
  EXPECT_TRUE(cakes.entered->wait_briefly() && games.entered->wait_briefly());
  cakes.release->open();
  games.release->open();
  EXPECT_TRUE(run.report()->success);
}

TEST_F(SixStepTest, SteeringInTheMiddle_ReachesTheWorkAndIsAnsweredBeforeTheEnd) {
  BlockedTool shop;
  Agent agent = planner({kClear, kNoSubQuestions, R"({"tool_calls": [{"name": "shop"}]})", kWork, kSure});
  agent.use(shop.tool("shop", true));
  Session session = session_of(agent);
  auto run = session.send_user_message("Plan a birthday");
  shop.entered->wait();
  run.steer("No sugar");
  shop.release->open();
  const auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "A party with cake.");
  EXPECT_EQ(said(session.history())[3], "No sugar");
}

TEST_F(SixStepTest, ChangedRequest_RestartsWithTheFirstStep) {
  BlockedTool shop;
  Agent agent = planner({kClear, kNoSubQuestions, R"({"tool_calls": [{"name": "shop"}]})", kClear,
                         kNoSubQuestions, kWork, kSure});
  Session session = session_of(agent.use(shop.tool("shop", true)));
  auto run = session.send_user_message("Plan a funeral");
  shop.entered->wait();
  ASSERT_TRUE(runtime_->command({{CommandVerb::kModify, session.session_id(), "Plan a birthday"}}));
  shop.release->open();
  const auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "A party with cake.");
  EXPECT_EQ(result->model_calls.size(), 7U);
}

TEST_F(SixStepTest, ChangedRequest_WithdrawsTheQuestionThatWaits) {
  Session session = session_of(planner({kWhose, kClear, kNoSubQuestions, kWork, kSure}));
  const auto waiting = session.ask("Plan a funeral");
  ASSERT_TRUE(waiting) << waiting.error().message;
  ASSERT_EQ(waiting->pending.size(), 1U);
  Gate done;
  const auto watching = session.on("turn.completed", [&](const Event&) { done.open(); });
  ASSERT_TRUE(runtime_->command({{CommandVerb::kModify, session.session_id(), "Plan a birthday"}}));
  ASSERT_TRUE(done.wait_briefly());
  EXPECT_EQ(session.last_result().text, "A party with cake.");
  EXPECT_TRUE(session.last_result().pending.empty());
}

TEST_F(SixStepTest, ChangedRequest_StopsTheCopiesThatWorkOnTheOldOne) {
  BlockedTool cakes, games;
  Agent agent = planner({kClear, kTwoSubQuestions, kClear, kNoSubQuestions, kWork, kSure}, kCopiesLookUp);
  agent.use(cakes.tool("cakes", true)).use(games.tool("games", true));
  Session session = session_of(agent);
  auto run = session.send_user_message("Plan a funeral");
  ASSERT_TRUE(cakes.entered->wait_briefly() && games.entered->wait_briefly());
  ASSERT_TRUE(runtime_->command({{CommandVerb::kModify, session.session_id(), "Plan a birthday"}}));
  EXPECT_TRUE(cakes.left->wait_briefly() && games.left->wait_briefly());
  cakes.release->open();
  games.release->open();
  const auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "A party with cake.");
  EXPECT_NE(result_for(session.history(), "t1-sub2").text.find("cancelled"), std::string::npos);
  EXPECT_EQ(result->model_calls.size(), 6U);
}

TEST_F(SixStepTest, ChangedRequest_BeginsNoCopyThatWaitsForAPlace) {
  BlockedTool cakes;
  Agent agent = planner({kClear, kTwoSubQuestions, kClear, kNoSubQuestions, kWork, kSure}, kCopiesLookUp);
  agent.use(cakes.tool("cakes", true)).limits(limit(&Limits::max_parallel_tools, 1U));
  Session session = session_of(agent);
  auto run = session.send_user_message("Plan a funeral");
  ASSERT_TRUE(cakes.entered->wait_briefly());
  ASSERT_TRUE(runtime_->command({{CommandVerb::kModify, session.session_id(), "Plan a birthday"}}));
  EXPECT_TRUE(cakes.left->wait_briefly());
  cakes.release->open();
  const auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "A party with cake.");
  EXPECT_NE(result_for(session.history(), "t1-sub3").text.find("changed the request"), std::string::npos);
  EXPECT_EQ(journal_->sessions(0)->size(), 2U);
}

TEST_F(SixStepTest, UncertainAnswer_AsksOnceAndIsSummarizedAgain) {
  const AgentResult asked =
      carried_through({kClear, kNoSubQuestions, kWork, kUnsure, kSure}, {answer("Yes")});
  EXPECT_EQ(asked.text, "A party with cake.");
  const AgentResult left_open = carried_through({kClear, kNoSubQuestions, kWork, kUnsure}, {reject("")});
  EXPECT_TRUE(left_open.success);
  EXPECT_EQ(left_open.text, "A party.\n\nThis stayed open: Is Friday fine?");
}

TEST_F(SixStepTest, RuntimeThatGoesAwayWhileCopiesWork_FindsThemAgain) {
  const std::vector<std::string_view> lines{kClear, kTwoSubQuestions, kWork, kSure};
  const auto looking_up = [&](Tool cakes) {
    Tool games = echo_tool("games");
    cakes.definition.idempotent = games.definition.idempotent = true;
    return planner(lines, kCopiesLookUp).runtime(nullptr).use(std::move(cakes)).use(std::move(games));
  };
  BlockedTool slow;
  auto session = runtime_->create_session(looking_up(slow.tool("cakes", false)));
  ASSERT_TRUE(session) << session.error().message;
  auto run = session->send_user_message("Plan a birthday");
  slow.entered->wait();
  start_new_process();
  slow.release->open();
  const auto result = looking_up(echo_tool("cakes")).runtime(runtime_).resume(session->session_id());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "A party with cake.");
  EXPECT_EQ(journal_->sessions(0)->size(), 3U);
}

}  // namespace
}  // namespace praxis::testing
