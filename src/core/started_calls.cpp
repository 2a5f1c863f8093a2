// The calls that have begun, for rules that count them. Kept only while a rule of the agent, or of the agents
// above it, counts; the counts follow from the records alone.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "core/apply_parts.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostStarted = 4'000;
constexpr std::size_t kMostArguments = std::size_t{4} * 1024;

bool has_counting_rule(const Json& policy) {
  const JsonArray* const rules = json_at(policy, "rules").if_array();
  return rules != nullptr && std::ranges::any_of(*rules, [](const Json& rule) {
           return !json_at(rule, "at_most").is_null() || !json_at(rule, "after").is_null();
         });
}

bool counts_calls(const AgentSpec& agent) {
  const JsonArray* const above = agent.bounds.if_array();
  return has_counting_rule(agent.policy) ||
         (above != nullptr && std::ranges::any_of(*above, has_counting_rule));
}

/// Adds the older half up by tool: the time is that of the last, and the arguments are lost, so that a rule
/// counts rather too many than too few.
void compact_started(State& state) {
  const auto is_open = [&](const StartedCall& call) {
    return !call.child.empty() && std::ranges::count(state.children, call.child, &ChildState::id) > 0;
  };
  std::map<std::string, StartedCall> sums;
  std::vector<StartedCall> kept;
  for (std::size_t i = 0; i < state.started.size(); ++i) {
    StartedCall& call = state.started[i];
    if (i >= state.started.size() / 2 || is_open(call)) {
      kept.push_back(std::move(call));
      continue;
    }
    StartedCall& sum = sums.try_emplace(call.tool, StartedCall{.tool = call.tool, .calls = 0}).first->second;
    sum.calls += call.calls;
    sum.time = std::max(sum.time, call.time);
  }
  state.started.clear();
  for (auto& [tool, sum] : sums) state.started.push_back(std::move(sum));
  std::ranges::move(kept, std::back_inserter(state.started));
}

}  // namespace

void note_started(State& state, UnixMillis time, const CallState& call) {
  if (!counts_calls(*state.agent)) return;
  std::string arguments = call.call.arguments.empty() ? "{}" : call.call.arguments;
  if (arguments.size() > kMostArguments) arguments.clear();
  state.started.push_back({.tool = call.call.name, .arguments = std::move(arguments), .time = time});
  if (state.started.size() > kMostStarted) compact_started(state);
}

void note_started_below(State& state, UnixMillis time, const records::ChildSettled& r) {
  if (r.started.empty() || !counts_calls(*state.agent)) return;
  std::erase_if(state.started, [&](const StartedCall& call) { return call.child == r.child; });
  for (const auto& [tool, calls] : r.started)
    state.started.push_back({.tool = tool, .time = time, .calls = calls, .child = r.child});
}

std::map<std::string, std::uint32_t> State::started_by_tool() const {
  std::map<std::string, std::uint32_t> sums;
  for (const StartedCall& call : started) sums[call.tool] += call.calls;
  return sums;
}

}  // namespace praxis
