#include "driver/command_records.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/context.hpp"
#include "core/waiting.hpp"
#include "json/repeated_key.hpp"
#include "policy/filters.hpp"
#include "praxis/json/json.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

std::unexpected<Error> refused(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

Status check_verb(const ParkedStep& step, ApprovalVerb verb) {
  const std::vector<ApprovalVerb> allowed = allowed_approvals(step.kind);
  if (std::ranges::find(allowed, verb) != allowed.end()) return {};
  std::string can;
  for (const ApprovalVerb each : allowed) can += (can.empty() ? "" : ", ") + std::string(to_string(each));
  return refused(step.id.str() + " waits for a decision of the kind \"" + std::string(to_string(step.kind)) +
                 "\" (" + can + "); \"" + std::string(to_string(verb)) + "\" is not one of them");
}

/// Checks `value` against `schema`; `what` names the value in the error.
Status check_fit(const Json& schema, const Json& value, const std::string& what) {
  if (schema.is_null()) return {};
  const auto compiled = JsonSchema::compile(schema);
  if (!compiled) return {};
  std::string problems;
  for (const SchemaProblem& problem : compiled->validate(value)) {
    problems +=
        (problems.empty() ? "" : "; ") + (problem.path.empty() ? "" : problem.path + " ") + problem.message;
  }
  if (problems.empty()) return {};
  return refused(what + problems);
}

Status check_edit(const AgentSpec& agent, const ParkedStep& step, const std::string& arguments) {
  const auto json = parse_json(arguments);
  if (!json) return refused("the edited arguments of " + step.id.str() + " are not valid JSON");
  if (const auto key = repeated_key(arguments, *json))
    return refused("the edited arguments of " + step.id.str() + ": " + repeated_key_problem(*key));
  const ToolSpec* tool = agent.find_tool(step.tool);
  if (tool == nullptr) return {};
  return check_fit(tool->definition.parameters, *json,
                   "the edited arguments of " + step.id.str() + " do not fit \"" + step.tool + "\": ");
}

/// Checks an answer: a string, which must hold JSON if the step's schema requires it.
Status check_answer(const ParkedStep& step, const std::string& text) {
  const bool is_text = step.schema.is_null() || json_text(step.schema, "type") == "string";
  const auto json = is_text ? Result<Json>(Json(text)) : parse_json(text);
  if (!json) return refused("the answer to " + step.id.str() + " must be JSON: " + json.error().message);
  return check_fit(step.schema, *json, "the answer to " + step.id.str() + " does not fit: ");
}

Status check_decision(const State& state, const ParkedStep& step, const records::Decided& decided) {
  if (auto fits = check_verb(step, decided.verb); !fits) return fits;
  if (decided.verb == ApprovalVerb::kEdit) return check_edit(*state.agent, step, decided.text);
  if (decided.verb == ApprovalVerb::kAnswer) return check_answer(step, decided.text);
  return {};
}

/// What a person answers a question with goes into the run like a message. Returns the decision for the log;
/// error `kInput`: the answer is denied, and the step still waits.
Result<std::optional<records::Decided>> filter_answer(const State& state, const ParkedStep& step,
                                                      records::Decided& decided) {
  if (decided.verb != ApprovalVerb::kAnswer || step.kind != ParkKind::kQuestion) return std::nullopt;
  const auto filters = filters::filters_of(*state.agent);
  if (!filters) return std::nullopt;
  filters::Scan scan(*filters, filters::Point::kPrompt, "");
  scan.json_text(decided.text);
  if (scan.denies()) return refused(scan.why("denies", "the answer to " + step.id.str()));
  return filters::said(scan);
}

/// What the program of a client gave for its tool is filtered like any other result.
void filter_result(const State& state, records::Decided& decided) {
  const CallState* const call = state.find_call(decided.call);
  const ToolSpec* const tool = call != nullptr ? state.agent->find_tool(call->call.name) : nullptr;
  if (decided.verb != ApprovalVerb::kAnswer || tool == nullptr || tool->result_from != ResultFrom::kClient)
    return;
  const auto filters = filters::filters_of(*state.agent);
  if (!filters) return;
  filters::Scan scan(*filters, filters::Point::kToolOutput, call->call.name);
  scan.text(decided.text);
  if (scan.denies())
    decided.text = scan.why("withholds", "the result of \"" + call->call.name + '"') + " The call has run.";
}

Result<std::vector<RecordBody>> decision(const State& state, const ParkId& park, const Approval& approval,
                                         const Author& author) {
  const auto found = state.parked.find(park);
  if (found == state.parked.end()) {
    return refused("nothing is parked as \"" + park.str() + "\" (decided already, or the turn is over)");
  }
  records::Decided decided{park, found->second.call, approval.verb, approval.text, author};
  if (auto fits = check_decision(state, found->second, decided); !fits) return fail(fits.error());
  filter_result(state, decided);
  auto filtered = filter_answer(state, found->second, decided);
  if (!filtered) return fail(std::move(filtered.error()));
  std::vector<RecordBody> records;
  if (*filtered) records.emplace_back(**std::move(filtered));
  records.emplace_back(std::move(decided));
  return records;
}

/// The messages that change the task, in their order.
std::vector<std::uint64_t> task_changes(const Waiting& waiting) {
  std::vector<std::uint64_t> ids;
  for (const WaitingMessage& each : waiting.steering) {
    if (each.verb == CommandVerb::kModify) ids.push_back(each.id);
  }
  return ids;
}

/// Changes `waiting` too. The task that a session shows is that of the last change.
Status check_change_of_waiting(Waiting& waiting, CommandVerb verb, std::string_view text) {
  const std::vector<std::uint64_t> before = task_changes(waiting);
  if (auto changed = change_waiting(waiting, verb, text); !changed) return changed;
  if (task_changes(waiting) == before) return {};
  return refused("messages that change the task keep their order");
}

/// `waiting` is what the commands before it in the same request leave.
Status check_command(const State& state, Waiting& waiting, const Command& command, bool over) {
  const CommandVerb verb = command.verb;
  const std::string session = "session " + state.id.str();
  if (state.deleted) return refused(session + " is already deleted");
  if (over && verb != CommandVerb::kAnnotate) {
    return refused(session + " has ended: a sub-agent ends with the call that created it");
  }
  switch (verb) {
    case CommandVerb::kInterrupt:
      return state.turn ? Status{} : refused(session + " has no turn in progress to stop");
    case CommandVerb::kPause:
      return state.paused ? refused(session + " is already paused") : Status{};
    case CommandVerb::kUnpause:
      return state.paused ? Status{} : refused(session + " is not paused");
    case CommandVerb::kWithdraw:
    case CommandVerb::kMove:
      return check_change_of_waiting(waiting, verb, command.text);
    case CommandVerb::kCompact:
      return can_compact(state)
                 ? Status{}
                 : refused(session + " cannot be compacted: it follows a plan, or has no model");
    default:
      return {};
  }
}

}  // namespace

bool is_said(CommandVerb verb) {
  return verb == CommandVerb::kSteer || verb == CommandVerb::kEnqueue || verb == CommandVerb::kModify;
}

Status filter_said(const State& state, InboxRequest& request, std::vector<RecordBody>& decided) {
  auto* const commands = std::get_if<Commands>(&request);
  const auto filters = commands != nullptr && state.agent ? filters::filters_of(*state.agent) : nullptr;
  if (!filters) return {};
  for (Command& command : *commands) {
    if (!is_said(command.verb)) continue;
    filters::Scan scan(*filters, filters::Point::kPrompt, "");
    scan.text(command.text);
    auto decision = filters::said(scan);
    if (!decision) continue;
    if (decision->verb == ApprovalVerb::kReject) {
      std::string why = decision->text;
      decided = {*std::move(decision)};
      return fail(ErrorCode::kPolicy, ErrorKind::kContentPolicy, std::move(why));
    }
    decided.emplace_back(*std::move(decision));
  }
  return {};
}

Status check_target(const Commands& commands) {
  const bool same = std::ranges::all_of(
      commands, [&](const Command& command) { return command.target == commands.front().target; });
  if (same) return {};
  return refused("the commands of one request must have the same target");
}

std::pair<SessionId, ParkId> split_id(const ParkId& id) {
  const auto slash = id.str().rfind('/');
  if (slash == std::string::npos) return {SessionId{}, id};
  return {SessionId{id.str().substr(0, slash)}, ParkId{id.str().substr(slash + 1)}};
}

Result<std::vector<RecordBody>> approval_records(const State& state, const Approvals& approvals,
                                                 const Author& author) {
  std::vector<RecordBody> records;
  std::set<ParkId> decided;
  for (const auto& [id, approval] : approvals) {
    const auto [session, park] = split_id(id);
    if (!session.empty() && session != state.id)
      return refused(id.str() + " is not a step of session " + state.id.str());
    auto decisions = decision(state, park, approval, author);
    if (!decisions) return fail(decisions.error());
    if (!decided.insert(park).second) return refused(id.str() + " is decided twice");
    std::ranges::move(*decisions, std::back_inserter(records));
  }
  return records;
}

std::vector<RecordBody> command_records(const State& state, const Command& command) {
  std::vector<RecordBody> records;
  records.emplace_back(
      records::Intervened{command.verb, command.text, nullptr, command.author, command.original});
  if (command.verb != CommandVerb::kModify) return records;
  for (const auto& [id, step] : state.parked) {
    if (step.kind != ParkKind::kQuestion || !step.call.empty()) continue;
    records.emplace_back(records::Decided{
        ParkId(id), {}, ApprovalVerb::kReject, "the user has changed the request", by_policy()});
  }
  return records;
}

Result<std::vector<RecordBody>> after(std::vector<RecordBody> decided,
                                      Result<std::vector<RecordBody>> records) {
  if (!records) return fail(std::move(records.error()));
  std::ranges::move(*records, std::back_inserter(decided));
  return decided;
}

Result<std::vector<RecordBody>> request_records(const State& state, const InboxRequest& request, bool over) {
  if (const auto* step = std::get_if<StepApproval>(&request)) {
    return approval_records(state, {{step->park, step->approval}}, step->author);
  }
  std::vector<RecordBody> records;
  Waiting waiting(state);
  for (const Command& command : std::get<Commands>(request)) {
    if (auto possible = check_command(state, waiting, command, over); !possible)
      return fail(possible.error());
    std::ranges::move(command_records(state, command), std::back_inserter(records));
  }
  return records;
}

}  // namespace praxis
