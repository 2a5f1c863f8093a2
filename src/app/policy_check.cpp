#include "app/policy_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "app/hints.hpp"
#include "app/open_runtime.hpp"
#include "app/plain_text.hpp"
#include "app/project.hpp"
#include "app/toml_document.hpp"
#include "app/transcript.hpp"
#include "policy/conditions.hpp"
#include "policy/filters.hpp"
#include "policy/flow.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/base/dates.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::app {
namespace {

constexpr std::int64_t kMostCallsBefore = 1'000'000;

/// What the tool is for each set of rules that looks at where values come from.
std::vector<std::string> declarations(const std::vector<PolicyRules>& rules, const ToolDefinition& tool) {
  std::vector<std::string> lines;
  for (const PolicyRules& layer : rules) {
    if (layer.flow.mode == FlowMode::kOff) continue;
    const flow::ToolLabel label = flow::label_of(layer.flow, tool);
    std::string line = "its results are ";
    line += label.trust == flow::Trust::kTrusted     ? "trusted"
            : label.trust == flow::Trust::kUntrusted ? "untrusted"
                                                     : "as trusted as what was read before";
    line += " (" + label.origin + "); ";
    const bool all = std::ranges::count(label.destinations, "*") > 0;
    line += label.is_sink ? "it is a sink (" + std::string(to_string(layer.flow.mode)) + "), and " +
                                (label.destinations.empty() ? "no argument says"
                                 : all                      ? "all arguments say"
                                                            : joined(label.destinations) + " says") +
                                " where the effect goes"
                          : "it only reads";
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Adds what the filters of one layer say.
void add_filters(const Json& filters, const ToolCallPart& call, Judgement& judgement, PolicyAnswer& answer) {
  AgentSpec layer;
  layer.policy = JsonObject{{"filters", filters}};
  const auto set = filters::filters_of(layer);
  if (!set) return;
  filters::CallVerdict verdict = filters::judge(*set, call);
  std::ranges::move(verdict.redacted_by, std::back_inserter(answer.redacted_by));
  if (strictness(verdict.permission) <= strictness(judgement.permission)) return;
  judgement = {std::move(verdict.permission), verdict.author.principal};
  if (strictness(judgement.permission) > strictness(answer.permission))
    answer.permission = judgement.permission;
}

PolicyAnswer answer_of(const AgentSpec& agent, const ToolDefinition& tool, const ToolCallPart& call,
                       const State& at) {
  const std::vector<PolicyRules> rules = rules_of(agent);
  PolicyAnswer answer{judge_at(rules, tool, call, &at), {}};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::string name = rules[i].source;
    if (name.empty()) name = i + 1 < rules.size() ? "an agent above" : "the agent";
    answer.layers.push_back({std::move(name), explain_at(rules[i], tool, call, &at)});
    add_filters(rules[i].filters, call, answer.layers.back().judgement, answer);
    std::ranges::move(conditions_at(rules[i], tool.name, at), std::back_inserter(answer.conditions));
  }
  answer.origins = declarations(rules, tool);
  return answer;
}

/// The state just before the call was decided on; null: the log has no decision on it.
Result<std::optional<State>> state_before(const StoredSession& session, const CallId& call) {
  for (std::size_t i = 1; i < session.records.size(); ++i) {
    const RecordBody& body = session.records[i].record.body;
    const auto* const decided = std::get_if<records::Decided>(&body);
    const auto* const parked = std::get_if<records::Parked>(&body);
    const auto* const intended = std::get_if<records::EffectIntended>(&body);
    if ((decided == nullptr || decided->call != call) && (parked == nullptr || parked->step.call != call) &&
        (intended == nullptr || intended->call != call))
      continue;
    auto state = fold(session.records, i);
    if (!state) return fail(std::move(state.error()));
    return *std::move(state);
  }
  return std::nullopt;
}

/// A state that says no more than when a call is tried, and what was called before.
State state_of(const AgentSpec& agent, const ToolCallPart& call, const PolicyMoment& moment) {
  State state;
  state.time = moment.time;
  state.agent = std::make_shared<const AgentSpec>(agent);
  if (moment.calls > 0)
    state.started.push_back(
        {.tool = call.name, .arguments = call.arguments, .time = moment.time, .calls = moment.calls});
  return state;
}

/// Adds where the arguments of a call in a log came from.
void add_origins(const State& state, const ToolCallPart& call, PolicyAnswer& answer) {
  if (answer.origins.empty()) return;
  const CallState* const open = state.find_call(call.id);
  const ToolSpec* const tool = state.agent->find_tool(call.name);
  if (open == nullptr || tool == nullptr) return;
  const flow::Verdict verdict =
      flow::judge(rules_of(*state.agent), state, tool->definition, open->call, open->within);
  answer.origins.push_back(verdict.read.empty()
                               ? "the model had read no untrusted data"
                               : "the model had read untrusted data: " + joined(verdict.read));
  for (const flow::Finding& finding : verdict.findings) answer.origins.push_back(flow::to_text(finding));
  answer.permission = flow::narrowed(std::move(answer.permission), verdict);
}

const ToolDefinition* tool_named(const AgentSpec& agent, const std::string& name) {
  const auto found =
      std::ranges::find(agent.tools, name, [](const ToolSpec& tool) { return tool.definition.name; });
  return found == agent.tools.end() ? nullptr : &found->definition;
}

/// The calls of a transcript, those that handlers made among them, in their order.
std::vector<ToolCallPart> calls_in(const Json& transcript) {
  std::vector<ToolCallPart> calls;
  const auto add = [&](const Json& item) {
    ToolCallPart call;
    call.id = CallId(json_string(item, "call"));
    call.name = json_string(item, "tool");
    call.arguments = to_plain_text(json_at(item, "arguments"));
    calls.push_back(std::move(call));
  };
  for (const Json& item : json_at(transcript, "items").as_array()) {
    if (json_text(item, "type") == "inner_call") add(item);
    const JsonArray* const content = json_at(item, "content").if_array();
    for (std::size_t i = 0; content != nullptr && i < content->size(); ++i) {
      if (json_text((*content)[i], "type") == "call") add((*content)[i]);
    }
  }
  return calls;
}

constexpr std::array<std::string_view, 7> kCaseKeys{"agent", "tool", "arguments", "expect",
                                                    "by",    "at",   "calls"};

/// When the call of a case is tried: `at` and `calls`.
Result<PolicyMoment> read_moment(const Json& table, UnixMillis now) {
  PolicyMoment moment{now, 0};
  if (const Json& at = json_at(table, "at"); !at.is_null()) {
    const auto time = at.is_string() ? from_iso8601(at.get_string()) : std::nullopt;
    if (!time)
      return fail(ErrorCode::kInput,
                  "\"at\" must be a time such as \"2026-01-31T12:00:00Z\", not " + to_json_text(at));
    moment.time = *time;
  }
  if (const Json& calls = json_at(table, "calls"); !calls.is_null()) {
    if (!calls.is_int64() || calls.get_int64() < 0 || calls.get_int64() > kMostCallsBefore)
      return fail(ErrorCode::kInput,
                  "\"calls\" must be an integer from 0 to 1000000, not " + to_json_text(calls));
    moment.calls = static_cast<std::uint32_t>(calls.get_int64());
  }
  return moment;
}

Result<PolicyCase> read_case(const TomlDocument& document, const std::string& place, const Json& table,
                             UnixMillis now) {
  const auto wrong = [&](const std::string& what) { return document.mistake(place, what); };
  if (!table.is_object()) return wrong("a case must be a table");
  for (const auto& [key, value] : table.get_object()) {
    if (std::ranges::find(kCaseKeys, std::string_view(key)) == kCaseKeys.end())
      return wrong("a case has " + joined({kCaseKeys.begin(), kCaseKeys.end()}) + ", not \"" +
                   std::string(key) + '"');
  }
  PolicyCase read{.agent = json_string(table, "agent", json_text(document.json(), "agent")),
                  .call = {},
                  .expect = json_string(table, "expect"),
                  .by = json_string(table, "by")};
  read.call.name = json_string(table, "tool");
  const Json& arguments = json_at(table, "arguments");
  if (read.agent.empty()) return wrong("a case needs an \"agent\", its own or that of the file");
  if (read.call.name.empty()) return wrong("a case needs the name of a \"tool\"");
  if (!arguments.is_null() && !arguments.is_object())
    return wrong("\"arguments\" must be a table, not " + to_json_text(arguments));
  if (read.expect != "allow" && read.expect != "ask" && read.expect != "deny")
    return wrong("\"expect\" must be allow, ask or deny");
  read.call.arguments = arguments.is_null() ? "{}" : to_json_text(arguments);
  const auto moment = read_moment(table, now);
  if (!moment) return wrong(moment.error().message);
  read.moment = *moment;
  return read;
}

}  // namespace

std::string_view permission_name(const Permission& permission) {
  if (std::holds_alternative<Deny>(permission)) return "deny";
  return std::holds_alternative<NeedsApproval>(permission) ? "ask" : "allow";
}

std::string reason_of(const Permission& permission) {
  if (const auto* denied = std::get_if<Deny>(&permission)) return denied->reason;
  const auto* const asked = std::get_if<NeedsApproval>(&permission);
  return asked != nullptr ? asked->reason : "";
}

std::vector<PolicyRules> rules_of(const AgentSpec& agent) {
  std::vector<PolicyRules> rules;
  if (const JsonArray* const bounds = agent.bounds.if_array()) {
    for (const Json& above : *bounds) rules.push_back(policy_rules_from_json(above));
  }
  rules.push_back(policy_rules_from_json(agent.policy));
  return rules;
}

Result<PolicyAnswer> check_policy(const Agent& agent, const ToolCallPart& call, const PolicyMoment& moment) {
  const AgentSpec& spec = agent.spec();
  const State at = state_of(spec, call, moment);
  if (const ToolDefinition* const tool = tool_named(spec, call.name)) return answer_of(spec, *tool, call, at);
  if (!agent.description()->tool_sources.empty()) {
    ToolDefinition unknown;
    unknown.name = call.name;
    return answer_of(spec, unknown, call, at);
  }
  std::vector<std::string> names;
  for (const ToolSpec& tool : spec.tools) names.push_back(tool.definition.name);
  const auto meant = closest(call.name, names);
  return fail(usage_error(
      "the agent has no tool " + in_quotes(call.name) + (meant ? "; did you mean \"" + *meant + "\"?" : ""),
      names.empty() ? "" : "it has: " + joined(names)));
}

Result<ExplainedCall> explain_call(const StoredSession& session, const std::string& call) {
  const std::vector<ToolCallPart> calls = calls_in(transcript(session.records, session.state));
  auto found = std::ranges::find(calls, CallId(call), &ToolCallPart::id);
  std::size_t number = 0;
  const auto [end, wrong] = std::from_chars(call.data(), call.data() + call.size(), number);
  if (found == calls.end() && wrong == std::errc() && *end == '\0' && number > 0 && number <= calls.size())
    found = calls.begin() + static_cast<std::ptrdiff_t>(number - 1);
  if (found == calls.end())
    return fail(
        usage_error("the run has no call " + in_quotes(call) + "; it has " + std::to_string(calls.size()),
                    "praxis show --records lists their ids"));
  const AgentSpec& agent = *session.state.agent;
  ToolDefinition unknown;
  unknown.name = found->name;
  const ToolDefinition* const tool = tool_named(agent, found->name);
  const auto before = state_before(session, found->id);
  if (!before) return fail(before.error());
  const State& at = *before ? **before : session.state;
  ExplainedCall explained{*found, answer_of(agent, tool != nullptr ? *tool : unknown, *found, at)};
  if (*before) add_origins(at, *found, explained.answer);
  return explained;
}

Result<Agent> agent_named(const Workspace& workspace, const std::string& word) {
  auto choice = find_agent_file(workspace, word);
  if (!choice) return fail(std::move(choice.error()));
  if (!*choice) return fail(no_such_agent(workspace, word));
  AgentFileOptions reading = agent_file_options(workspace, make_http_client());
  if ((*choice)->project) bind_to_project(reading, (*choice)->project);
  reading.on_team = [](const TeamDescription&) {};
  return load_agent_file((*choice)->file, reading);
}

Result<std::vector<PolicyCase>> read_policy_cases(std::string_view text, const std::string& file,
                                                  UnixMillis now) {
  const auto document = TomlDocument::parse(text, file);
  if (!document) return fail(document.error());
  const JsonArray* const tables = document->at("cases").if_array();
  if (tables == nullptr || tables->empty()) return fail(ErrorCode::kInput, file + " has no [[cases]]");
  std::vector<PolicyCase> cases;
  for (std::size_t i = 0; i < tables->size(); ++i) {
    auto read = read_case(*document, "cases[" + std::to_string(i) + ']', (*tables)[i], now);
    if (!read) return fail(std::move(read.error()));
    cases.push_back(*std::move(read));
  }
  return cases;
}

}  // namespace praxis::app
