#include "runtime/rulings.hpp"

#include <algorithm>
#include <set>

#include "praxis/json/json.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

std::unexpected<Error> refused(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

struct DecisionOf {
  const ParkedStep& step;
  const std::string& by;

  Decided operator()(const Allow&) const { return {step.id, step.call, Verb::kAllow, {}, by}; }
  Decided operator()(const Deny& v) const { return {step.id, step.call, Verb::kDeny, v.reason, by}; }
  Decided operator()(const Edit& v) const { return {step.id, step.call, Verb::kEdit, v.arguments, by}; }
  Decided operator()(const Ask& v) const { return {step.id, step.call, Verb::kAnswer, v.reason, by}; }
};

Status check_verb(const ParkedStep& step, Verb verb) {
  const std::vector<Verb> allowed = allowed_verbs(step.kind);
  if (std::ranges::find(allowed, verb) != allowed.end()) return {};
  std::string can;
  for (const Verb each : allowed) can += (can.empty() ? "" : ", ") + std::string(to_string(each));
  return refused(step.id.str() + " waits for a decision of the kind \"" + std::string(to_string(step.kind)) +
                 "\" (" + can + "); \"" + std::string(to_string(verb)) + "\" is none for it");
}

/// `what` is said of `value` when it does not fit.
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
  if (!json) return refused("the edited arguments of " + step.id.str() + " are no valid JSON");
  const ToolSpec* tool = agent.find_tool(step.tool);
  if (tool == nullptr) return {};
  return check_fit(tool->definition.parameters, *json,
                   "the edited arguments of " + step.id.str() + " do not fit \"" + step.tool + "\": ");
}

/// An answer is text, also where JSON is asked for.
Status check_answer(const ParkedStep& step, const std::string& text) {
  const bool is_text = step.schema.is_null() || json_text(step.schema, "type") == "string";
  const auto json = is_text ? Result<Json>(Json(text)) : parse_json(text);
  if (!json) return refused("the answer to " + step.id.str() + " must be JSON: " + json.error().message);
  return check_fit(step.schema, *json, "the answer to " + step.id.str() + " does not fit: ");
}

Status check_decision(const State& state, const ParkedStep& step, const Decided& decided) {
  if (auto fits = check_verb(step, decided.verb); !fits) return fits;
  if (decided.verb == Verb::kEdit) return check_edit(*state.agent, step, decided.text);
  if (decided.verb == Verb::kAnswer) return check_answer(step, decided.text);
  return {};
}

Result<RecordBody> decision(const State& state, const ParkId& park, const Verdict& verdict,
                            const std::string& by) {
  const auto found = state.parked.find(park);
  if (found == state.parked.end()) {
    return refused("nothing is parked as \"" + park.str() + "\" (decided already, or the turn is over)");
  }
  Decided decided = std::visit(DecisionOf{found->second, by}, verdict);
  if (auto fits = check_decision(state, found->second, decided); !fits) return fail(fits.error());
  return decided;
}

Status check_act(const State& state, Intervention kind, bool over) {
  const std::string session = "session " + state.id.str();
  if (state.deleted) return refused(session + " was deleted already");
  if (over && kind != Intervention::kAnnotate) {
    return refused(session + " has ended: a sub-agent lives as long as the call that made it");
  }
  switch (kind) {
    case Intervention::kInterrupt:
      return state.turn ? Status{} : refused(session + " has no turn in progress to stop");
    case Intervention::kPause:
      return state.paused ? refused(session + " is paused already") : Status{};
    case Intervention::kResume:
      return state.paused ? Status{} : refused(session + " is not paused");
    default:
      return {};
  }
}

}  // namespace

bool is_said(Intervention kind) {
  return kind == Intervention::kSteer || kind == Intervention::kEnqueue || kind == Intervention::kModify;
}

std::pair<SessionId, ParkId> split_id(const ParkId& id) {
  const auto slash = id.str().rfind('/');
  if (slash == std::string::npos) return {SessionId{}, id};
  return {SessionId{id.str().substr(0, slash)}, ParkId{id.str().substr(slash + 1)}};
}

Result<std::vector<RecordBody>> decision_records(const State& state, const Decisions& decisions,
                                                 const std::string& by) {
  std::vector<RecordBody> records;
  std::set<ParkId> decided;
  for (const auto& [id, verdict] : decisions) {
    const auto [session, park] = split_id(id);
    if (!session.empty() && session != state.id)
      return refused(id.str() + " is no step of session " + state.id.str());
    auto record = decision(state, park, verdict, by);
    if (!record) return fail(record.error());
    if (!decided.insert(park).second) return refused(id.str() + " is decided twice");
    records.push_back(*std::move(record));
  }
  return records;
}

Result<std::vector<RecordBody>> order_records(const State& state, const Order& order, bool over) {
  if (const auto* ruling = std::get_if<Ruling>(&order)) {
    return decision_records(state, {{ruling->park, ruling->verdict}}, ruling->by);
  }
  std::vector<RecordBody> records;
  for (const Act& act : std::get<Acts>(order)) {
    if (auto possible = check_act(state, act.kind, over); !possible) return fail(possible.error());
    records.emplace_back(Intervened{act.kind, act.text, nullptr});
  }
  return records;
}

Result<Acts> acts_of(const InterventionRequest& request) {
  Acts acts;
  const bool says = !request.content.empty();
  if (request.comment == "delete") {
    if (says || request.status) return refused("an agent that is deleted takes no content or status");
    return Acts{{Intervention::kDelete}};
  }
  if (request.comment == "modify") {
    if (!says) return refused("\"modify\" needs content: what the agent is to do instead");
    acts.push_back({Intervention::kModify, request.content});
  } else {
    if (request.comment != "unchanged") acts.push_back({Intervention::kAnnotate, request.comment});
    if (says) acts.push_back({Intervention::kSteer, request.content});
  }
  if (!request.status) return acts;
  const Intervention status = *request.status;
  if (status != Intervention::kPause && status != Intervention::kResume &&
      status != Intervention::kInterrupt) {
    return refused("\"" + std::string(to_string(status)) + "\" is no status; use pause, resume or interrupt");
  }
  acts.push_back({status});
  return acts;
}

}  // namespace praxis
