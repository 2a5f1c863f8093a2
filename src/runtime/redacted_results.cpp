#include "runtime/redacted_results.hpp"

#include <algorithm>

#include "redact/redact_rules.hpp"

namespace praxis {
namespace {

RedactRules rules_of(const Json& policy) {
  const Json& table = json_at(policy, "redact");
  if (table.is_null()) return {};
  return redact_rules_from_json(table).value_or(
      RedactRules{.results = RedactLevel::kStrict, .personal = true});
}

}  // namespace

redact::Redaction redaction_of_results(const AgentSpec& agent) {
  RedactRules rules = rules_of(agent.policy);
  if (const JsonArray* const above = agent.bounds.if_array()) {
    for (const Json& policy : *above) rules = stricter(rules, rules_of(policy));
  }
  if (rules.results <= RedactLevel::kOff) return {};
  // Without a key for the tokens: a resume, in another process, must give the same ones.
  return redact::redaction(rules.results, rules.personal, nullptr, "");
}

void remove_secrets(Result<ToolOutput>& output, const redact::Redaction& redaction) {
  if (redaction.is_off()) return;
  if (!output) return redaction.redact(output.error());
  output->text = redaction.json_text(std::move(output->text));
  redaction.redact(output->value);
}

}  // namespace praxis
