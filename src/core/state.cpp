#include "praxis/core/state.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

std::uint32_t trailing_equal(const std::vector<Digest>& items) {
  std::uint32_t count = 0;
  for (auto it = items.rbegin(); it != items.rend() && *it == items.back(); ++it) ++count;
  return count;
}

/// Counts the pairs A B at the end, with A different from B.
std::uint32_t trailing_pairs(const std::vector<Digest>& items) {
  const std::size_t n = items.size();
  if (n < 4 || items[n - 1] == items[n - 2]) return 0;
  std::size_t matching = 2;
  while (matching < n && items[n - 1 - matching] == items[n + 1 - matching]) ++matching;
  return static_cast<std::uint32_t>(matching / 2);
}

}  // namespace

std::uint32_t Repetition::count() const {
  return std::max({trailing_equal(batches), trailing_pairs(batches), trailing_equal(errors)});
}

bool TurnState::in_flight() const {
  const bool effect_runs = effect && effect->phase == EffectState::Phase::kRunning;
  return effect_runs || !calls.in(CallState::Phase::kRunning).empty();
}

SessionStatus State::status() const {
  if (!turn) return rest_status;
  return !parked.empty() && !turn->in_flight() && !turn->stop ? SessionStatus::kAwaitingUser
                                                              : SessionStatus::kRunning;
}

Usage State::subtree_usage() const {
  Usage all = usage + settled_children;
  if (turn) all += turn->report.usage_children;
  return all;
}

std::uint32_t State::turn_calls() const {
  std::uint32_t calls = turn ? turn->tool_calls : 0;
  for (const ChildState& child : children) calls += child.tool_calls;
  return calls;
}

std::int64_t State::request_tokens() const {
  return (conversation.history().estimated_tokens() + overhead_tokens) * correction / 1000;
}

Usage State::usage_in_doubt() const {
  Usage taken;
  taken.input = request_tokens();
  taken.output = agent->options.max_output_tokens.value_or(0);
  taken.estimated = true;
  return taken;
}

std::int64_t State::context_window() const {
  if (!agent) return 0;
  const std::int64_t bound = agent->limits.max_context;
  return bound != 0 ? bound : agent->profile.context_window;
}

const Json& State::output_schema() const {
  return turn && !turn->output_schema.is_null() ? turn->output_schema : agent->options.output_schema;
}

const CallState* State::find_call(const CallId& call) const {
  return turn ? turn->calls.find(call) : nullptr;
}

const CallState* State::find_call(const EffectId& effect) const {
  return turn ? turn->calls.find(effect) : nullptr;
}

Status check_rewind(const State& state, const TurnId& turn) {
  const std::string session = "session " + state.id.str();
  if (state.turn)
    return fail(ErrorCode::kInput, session + " is in the middle of a turn; end it before a rewind");
  std::string have;
  for (const TurnMark& mark : state.marks) {
    if (mark.turn == turn) return {};
    have += (have.empty() ? "" : ", ") + mark.turn.str();
  }
  return fail(ErrorCode::kInput, session + " has no turn \"" + turn.str() + "\" (it has " +
                                     (have.empty() ? "none" : have) + ")");
}

ParkId qualified_id(const SessionId& session, const ParkId& park) {
  return ParkId{session.str() + "/" + park.str()};
}

Result<AgentResult> finished(Result<AgentResult> report) {
  if (!report || report->success || !report->reason) return report;
  const StopReason reason = *report->reason;
  const std::string session = report->session.str();
  Error error = report->error.value_or(make_error(
      ErrorCode::kCancelled,
      "session " + session + " ended its turn without an answer (" + std::string(to_string(reason)) + ")"));
  error.set("session", session).set("reason", to_string(reason));
  const bool stopped = reason == StopReason::kCancelled || reason == StopReason::kTimeLimit;
  if (stopped && std::ranges::count(report->actions, Outcome::kUnknown, &ActionResult::outcome) != 0)
    error = with_reach(std::move(error), Reach::kSent);
  return fail(std::move(error));
}

namespace {

Provenance provenance_of(const State& state, const AgentResult& result) {
  Provenance from{state.agent->id, state.described.settings, state.described.tools, {}};
  for (const ModelCall& call : result.model_calls) {
    if (std::ranges::count(from.models, call.model) == 0) from.models.push_back(call.model);
  }
  return from;
}

void add_messages(const State& state, AgentResult& result) {
  const auto& messages = state.conversation.history().messages();
  const std::size_t first = state.marks.empty() ? 0 : std::min(state.marks.back().messages, messages.size());
  result.messages.assign(messages.begin() + static_cast<std::ptrdiff_t>(first), messages.end());
  const bool answered = !result.messages.empty() && result.messages.back()->role == Role::kAssistant;
  if (answered && result.reason) result.message = result.messages.back();
}

}  // namespace

AgentResult result_of(const State& state) {
  AgentResult result = state.turn ? state.turn->report : state.last.value_or(AgentResult{});
  // The state has them in the order in which they ended.
  std::ranges::sort(result.actions, {}, [](const ActionResult& a) { return std::pair(a.step, a.position); });
  result.session = state.id;
  result.seed = state.seed;
  result.last_seq = state.seq;
  result.status = state.status();
  result.usage_total = state.subtree_usage();
  if (state.agent) {
    result.agent = state.agent->id;
    result.model = state.agent->model;
    result.provenance = provenance_of(state, result);
  }
  if (state.turn || state.last) add_messages(state, result);
  for (const auto& [id, parked] : state.parked) result.pending.push_back(parked);
  return result;
}

}  // namespace praxis
