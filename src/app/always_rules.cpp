#include "app/always_rules.hpp"

#include <algorithm>
#include <utility>

#include "app/call_text.hpp"
#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/policy_check.hpp"
#include "app/pretty_json.hpp"
#include "app/workspace.hpp"
#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::app {
namespace {

/// Whether the agent's own rules ask about the tool. Those of the configuration hold for a root and all below
/// it.
bool asks(const State& state, const std::string& tool) {
  const std::vector<PolicyRules> rules = rules_of(*state.agent);
  return std::ranges::any_of(rules, [&](const PolicyRules& each) {
    const bool is_own = &each == &rules.back() || (state.parent.empty() && !each.source.empty());
    return is_own && asks_about(each, tool);
  });
}

/// The files of the agents (this one and those above it) whose rules ask about the tool. Rules are remembered
/// by file.
Result<std::vector<std::string>> asking_files(Journal& journal, SessionId id, const std::string& tool) {
  std::vector<std::string> files;
  while (!id.empty()) {
    const auto records = read_records(journal, id);
    if (!records) return fail(records.error());
    const auto state = fold(*records);
    if (!state) return fail(state.error());
    const std::string file = json_string(state->agent->metadata, "agent_file");
    if (!file.empty() && asks(*state, tool)) files.push_back(file);
    id = state->parent;
  }
  if (!files.empty()) return files;
  return fail(usage_error("no agent file asks about \"" + tool + "\", so there is no rule to remember",
                          "--allow approves this one call"));
}

/// The call that a narrow rule was made from.
ToolCallPart call_of(const AlwaysRule& narrow) {
  ToolCallPart call;
  call.name = narrow.rule.tool;
  call.arguments = to_json_text(narrow.rule.arguments);
  return call;
}

}  // namespace

Result<AlwaysRule> always_rule_for(Journal& journal, const SessionId& session, const ParkedStep& step) {
  auto rule = narrow_rule_for(step);
  if (!rule) return fail(rule.error());
  auto files = asking_files(journal, session, step.tool);
  if (!files) return fail(files.error());
  return AlwaysRule{*std::move(rule), *std::move(files)};
}

std::string rule_to_edit(const AlwaysRule& always) {
  JsonObject rule = to_json(always.rule).get_object();
  rule["any_ending"] = always.rule.any_ending;
  return pretty_json(rule);
}

Result<AlwaysRule> edited_rule(const AlwaysRule& narrow, std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail(json.error());
  auto rule = call_rule_from_json(*json);
  if (!rule) return fail(rule.error());
  if (!allows(*rule, call_of(narrow)))
    return fail(usage_error("the rule would not allow this call, so it was not changed",
                            "\"any_ending\": true allows further words after those in \"argv\""));
  return AlwaysRule{*std::move(rule), narrow.files};
}

bool is_allowed(const std::vector<AlwaysRule>& saved, const AlwaysRule& narrow) {
  const ToolCallPart call = call_of(narrow);
  return std::ranges::any_of(
      saved, [&](const AlwaysRule& each) { return each.files == narrow.files && allows(each.rule, call); });
}

std::string rule_text(const AlwaysRule& always, std::size_t columns) {
  const std::string further = always.rule.any_ending ? ", also with more words at the end of \"argv\"" : "";
  std::string text = "Allow \"" + always.rule.tool +
                     "\" without asking whenever its arguments are exactly these" + further + ":\n";
  text += call_view(always.rule.tool, to_json_text(always.rule.arguments), columns, 0).text;
  for (const std::string& file : always.files) text += "  for the agent " + exact(file) + '\n';
  return text;
}

Status save_rule(const AlwaysRule& always) {
  const auto rules = remembered_rules();
  if (!rules)
    return fail(usage_error("there is no place for rules: neither HOME nor XDG_CONFIG_HOME is set"));
  if (auto made = make_rules_folder(); !made) return fail(made.error());
  for (const std::string& file : always.files) {
    if (auto added = rules->add(file, always.rule); !added) return fail(added.error());
  }
  return {};
}

}  // namespace praxis::app
