// Six steps within a budget, and with Python: the status of every node, and what all of them used together.
#include <gmock/gmock.h>

#include "praxis/planners/six_step_planner.hpp"
#include "praxis/runtime/testing.hpp"
#include "praxis/tools/fork_tool.hpp"
#include "runtime/testing/scripted.hpp"
#include "runtime/testing/unsandboxed_python.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A line of a script. Its model call uses `tokens` tokens, which cost a thousandth of a dollar each.
std::string costing(std::int64_t tokens, JsonObject line) {
  line.emplace(
      "usage",
      JsonObject{{"input", tokens - 1}, {"output", 1}, {"cost_usd", static_cast<double>(tokens) / 1000}});
  return to_json_text(std::move(line)) + '\n';
}
std::string costing(std::int64_t tokens, std::string_view text) {
  return costing(tokens, JsonObject{{"text", text}});
}
Usage usage_of(std::int64_t tokens, std::int64_t calls) {
  return {.input = tokens - calls, .output = calls, .cost = {tokens * 1000}};
}

constexpr std::string_view kConclusion = R"({"answer": "A party.", "uncertain": false, "question": ""})";

class SixStepTreeTest : public Scripted {
 protected:
  /// What the copies and the planner itself say: each call uses another power of two, so that a sum names its
  /// parts. The copies use 8, 16 and 32 tokens.
  static std::string party(std::string_view work) {
    return costing(32, JsonObject{{"asked", "Others work on the following parts"}, {"text", "Balloons"}}) +
           costing(8, JsonObject{{"asked", "Which cake?"}, {"text", "Chocolate"}}) +
           costing(16, JsonObject{{"asked", "Which games?"}, {"text", "Tag"}}) +
           costing(2, R"({"ambiguous": false, "question": ""})") +
           costing(4, R"({"missing": false, "question": ""})") +
           costing(64, R"({"questions": ["Which cake?", "Which games?"]})") + std::string(work) +
           costing(512, kConclusion);
  }
  Agent planner(const std::string& script, Limits limits) {
    return scripted(script).id("planner").use(fork_tool()).plan(six_steps_plan()).limits(limits);
  }
  AgentResult run_turn(const Agent& agent) {
    Session session = session_of(agent);
    AgentResult result = checked(session.send_user_message("Plan a birthday").report());
    live_ = runtime_->agent_tree();
    JournalTree tree(journal_);
    EXPECT_TRUE(tree.refresh());
    recorded_ = tree.nodes();
    return result;
  }
  /// The status and the tokens of each node, the root first. The live tree and that of the journal agree.
  std::vector<std::string> nodes() const {
    const auto lines = [](const std::vector<AgentNode>& nodes) {
      std::vector<std::string> all;
      for (const AgentNode& node : nodes)
        all.push_back(std::to_string(node.depth) + ' ' + std::string(to_string(node.status)) + ' ' +
                      std::to_string(node.usage.total()) + " of " + std::to_string(node.subtree.total()));
      return all;
    };
    EXPECT_EQ(lines(live_), lines(recorded_));
    return lines(live_);
  }
  /// Runs the party within `limits`, which the answer of the first copy exceeds.
  void expect_spent(const Limits& limits, StopReason reason, std::string_view used) {
    use_runtime(repeatable_options());  // one copy after the other
    const AgentResult result = run_turn(planner(party(costing(256, "Cake and tag.")), limits));
    EXPECT_EQ(result.reason, reason);
    EXPECT_FALSE(result.success);
    ASSERT_TRUE(result.error);
    EXPECT_THAT(result.error->message, HasSubstr(used));
    EXPECT_THAT(nodes(),
                ElementsAre("0 error 70 of 78", "1 completed 8 of 8", "1 error 0 of 0", "1 error 0 of 0"));
    EXPECT_EQ(result.usage, usage_of(70, 3));
    EXPECT_EQ(result.usage_children, usage_of(8, 1));
    EXPECT_EQ(result.usage_total, usage_of(78, 4));
  }

  std::vector<AgentNode> live_, recorded_;
};

TEST_F(SixStepTreeTest, WithinItsBudget_EveryNodeCompletesAndTheTotalsAreTheirs) {
  Limits limits = limit(&Limits::max_tokens, std::int64_t{10'000});
  limits.max_usd = MicroUsd{10'000'000};
  const AgentResult result = run_turn(planner(party(costing(256, "Cake and tag.")), limits));
  EXPECT_EQ(result.text, "A party.");
  EXPECT_EQ(result.reason, StopReason::kFinished);
  EXPECT_THAT(nodes(), ElementsAre("0 completed 838 of 894", "1 completed 8 of 8", "1 completed 16 of 16",
                                   "1 completed 32 of 32"));
  EXPECT_EQ(result.usage, usage_of(838, 5));
  EXPECT_EQ(result.usage_children, usage_of(56, 3));
  EXPECT_EQ(result.usage_total, usage_of(894, 8));
}

TEST_F(SixStepTreeTest, SpentTokens_EndTheTurnWithTheLimitAndAtMostOneAnswerMore) {
  expect_spent(limit(&Limits::max_tokens, std::int64_t{75}), StopReason::kTokenLimit,
               "78 tokens used, the limit is 75");
}

TEST_F(SixStepTreeTest, SpentMoney_EndsTheTurnWithTheLimitAndAtMostOneAnswerMore) {
  expect_spent(limit(&Limits::max_usd, MicroUsd{75'000}), StopReason::kCostLimit,
               "the cost limit of the turn is reached");
}

/// The work is Python code that forks; its forks use 1024 and 2048 tokens.
class SixStepPythonTest : public SixStepTreeTest {
 protected:
  Agent coder(std::string_view code, const Limits& limits) {
    const Json call{{"id", "py"}, {"name", "python"}, {"arguments", {{"code", code}}}};
    const std::string script =
        costing(1024, JsonObject{{"asked", "In the north?"}, {"text", "Rain"}}) +
        costing(2048, JsonObject{{"asked", "In the south?"}, {"text", "Sun"}}) +
        party(costing(128, JsonObject{{"tool_calls", JsonArray{call}}}) + costing(256, "Cake in the south."));
    PolicyRules rules;
    rules.allow = {"python"};
    return planner(script, limits).use(unsandboxed_python()).use(echo_tool()).policy(rules);
  }
  /// What the code printed; or its error.
  std::string printed(const AgentResult& result) const {
    return result_for(agent_state(journal_, result.session)->history, "py").text;
  }
};

TEST_F(SixStepPythonTest, ForksOfTheWork_CompleteAndCountInTheTotals) {
  const AgentResult result =
      run_turn(coder("print(wait([fork('In the north?'), fork('In the south?')]))\n"
                     "print(call('echo', text='noted'))",
                     limit(&Limits::max_tokens, std::int64_t{10'000})));
  EXPECT_EQ(result.text, "A party.");
  EXPECT_EQ(printed(result), "['Rain', 'Sun']\nnoted\n");
  EXPECT_THAT(nodes(),
              ElementsAre("0 completed 966 of 4094", "1 completed 8 of 8", "1 completed 16 of 16",
                          "1 completed 32 of 32", "1 completed 1024 of 1024", "1 completed 2048 of 2048"));
  EXPECT_EQ(result.usage, usage_of(966, 6));
  EXPECT_EQ(result.usage_children, usage_of(3128, 5));
  EXPECT_EQ(result.usage_total, usage_of(4094, 11));
}

TEST_F(SixStepPythonTest, ForkThatSpendsTheBudget_IsTheLastOne) {
  const AgentResult result =
      run_turn(coder("print(wait(fork('In the north?')))\n"
                     "try:\n  wait(fork('In the south?'))\n"
                     "except ToolError as error:\n  print('refused:', error)",
                     limit(&Limits::max_tokens, std::int64_t{260})));
  EXPECT_EQ(result.reason, StopReason::kTokenLimit);
  ASSERT_TRUE(result.error);
  EXPECT_THAT(result.error->message, HasSubstr("1278 tokens used, the limit is 260"));
  EXPECT_THAT(printed(result), ::testing::AllOf(HasSubstr("Rain\nrefused: "), HasSubstr("(token_limit)")));
  EXPECT_THAT(nodes(), ElementsAre("0 error 198 of 1278", "1 completed 8 of 8", "1 completed 16 of 16",
                                   "1 completed 32 of 32", "1 completed 1024 of 1024", "1 error 0 of 0"));
  EXPECT_EQ(result.usage_total, usage_of(1278, 8));
}

}  // namespace
}  // namespace praxis::testing
