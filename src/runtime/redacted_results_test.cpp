// Secrets in the results of tools: with `[policy.redact]`, `results`, neither the model nor the journal gets
// them.
#include <gmock/gmock.h>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSecret = "AKIAZ7VRSQ5TJN2XMPLB";
constexpr std::string_view kCallThenText =
    R"({"tool_calls": [{"id": "c1", "name": "keys", "arguments": {}}]}
{"text": "done"})";

class RedactedResults : public Scripted {
 protected:
  /// An agent with these rules that plays `script`.
  Agent agent_with(Json policy, std::string_view script) {
    AgentSpec spec;
    spec.policy = std::move(policy);
    auto model = script_model(script, "test", runtime_->model_services().executor);
    if (!model) throw std::invalid_argument(model.error().message);
    return Agent(std::move(spec)).model(*model).runtime(runtime_);
  }
  /// The same with a tool `keys`, which gives `output` once.
  Agent with_keys(Json policy, Result<ToolOutput> output) {
    return agent_with(std::move(policy), kCallThenText)
        .use(host_tool("keys", [output = std::move(output)](ToolContext&, const Json&) { return output; }));
  }
  static Json redacting(std::string_view level) {
    return JsonObject{{"redact", JsonObject{{"results", level}}}};
  }
  /// All bytes of the journal after a turn.
  std::string journal_after(Agent agent) {
    Session session = session_of(agent);
    const auto result = session.ask("go");
    EXPECT_TRUE(result) << result.error().message;
    return journal_bytes();
  }
  static std::string line() { return "aws_access_key_id = " + std::string(kSecret); }
};

TEST_F(RedactedResults, TextValueAndError_HoldNoSecret) {
  ToolOutput value = says("see value");
  value.value = JsonObject{{"line", line()}};
  const std::vector<Result<ToolOutput>> outputs{says(line()), value,
                                                fail(ErrorCode::kTool, "refused: " + line())};
  for (const auto& output : outputs) {
    EXPECT_THAT(journal_after(with_keys(redacting("balanced"), output)),
                AllOf(Not(HasSubstr(kSecret)), HasSubstr("[REDACTED:aws")));
  }
}

TEST_F(RedactedResults, WithoutTheRule_AreExact) {
  EXPECT_THAT(journal_after(with_keys(nullptr, says(line()))), HasSubstr(kSecret));
}

TEST_F(RedactedResults, HookThatChangesTheRules_CannotSwitchItOff) {
  for (const Json& policy : {Json(nullptr), to_json(asking({"other"})), redacting("off")}) {
    Agent agent = with_keys(redacting("balanced"), says(line()));
    agent.on_before_turn([policy](const HookContext&, AgentSpec& spec) { spec.policy = policy; });
    EXPECT_THAT(journal_after(agent), AllOf(Not(HasSubstr(kSecret)), HasSubstr("[REDACTED:aws")));
  }
}

TEST_F(RedactedResults, RuleOfTheAgentAbove_HoldsBelow) {
  const std::string_view script =
      R"({"tool_calls": [{"id": "w", "name": "work", "arguments": {"prompt": "go"}}]}
{"text": "done"})";
  const auto tree = [&](Json policy) {
    const Agent leaf = with_keys(redacting("off"), says(line()));
    return agent_with(std::move(policy), script).use(leaf.as_tool("work", "Does the work"));
  };
  EXPECT_THAT(journal_after(tree(redacting("balanced"))),
              AllOf(Not(HasSubstr(kSecret)), HasSubstr("[REDACTED:aws")));
  EXPECT_THAT(journal_after(tree(nullptr)), HasSubstr(kSecret)) << "the rule of the leaf";
}

}  // namespace
}  // namespace praxis::testing
