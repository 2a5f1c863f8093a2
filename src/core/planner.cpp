// The view of a session that planners get.
#include "praxis/core/planner.hpp"

#include <algorithm>

#include "praxis/core/state.hpp"

namespace praxis {
namespace {

template <class Number>
std::optional<Number> left_of(Number limit, Number used) {
  if (limit == Number{}) return std::nullopt;
  return used < limit ? limit - used : Number{};
}

}  // namespace

UseTools use_tool(std::string name, const Json& arguments) {
  return {{}, {{CallId{}, std::move(name), to_json_text(arguments), true, nullptr}}};
}

const SessionId& PlannerState::session() const { return state_.id; }
const TurnId& PlannerState::turn() const { return state_.turn->id; }
std::uint32_t PlannerState::step() const { return state_.turn->step; }
const std::string& PlannerState::prompt() const { return state_.turn->prompt; }
const std::string& PlannerState::request() const {
  return state_.turn->task.empty() ? state_.turn->prompt : state_.turn->task;
}
const History& PlannerState::conversation() const { return state_.conversation.history(); }
std::span<const StepResult> PlannerState::results() const { return state_.turn->results; }
std::span<const StepResult> PlannerState::results_for_request() const {
  return results().subspan(state_.turn->modified_at);
}
const std::optional<Answer>& PlannerState::answer() const { return state_.turn->answer; }
const AgentSpec& PlannerState::agent() const { return *state_.agent; }

RemainingBudget PlannerState::budget() const {
  const Limits& limits = state_.agent->limits;
  const TurnState& turn = *state_.turn;
  const Usage used = turn.report.usage + turn.report.usage_children;
  RemainingBudget left;
  left.steps = left_of(limits.max_steps, turn.step);
  left.tool_calls = left_of(limits.max_tool_calls, turn.tool_calls);
  left.tokens = left_of(limits.max_tokens, used.total());
  if (const auto cost = left_of(limits.max_usd.value, used.cost.value)) left.cost = MicroUsd{*cost};
  return left;
}

const MemoryStore& PlannerState::memory(std::string_view store) const { return state_.memory.store(store); }

std::vector<CallId> PlannerState::open_calls() const {
  std::vector<CallId> open;
  for (const CallState& call : state_.turn->calls) {
    if (call.within.empty() && call.phase != CallState::Phase::kSettled) open.push_back(call.call.id);
  }
  return open;
}

bool PlannerState::request_changes() const { return state_.turn->modified; }

}  // namespace praxis
