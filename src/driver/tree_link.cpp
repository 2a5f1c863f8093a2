#include "driver/tree_link.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/decisions.hpp"
#include "praxis/core/next.hpp"

namespace praxis::driver {
namespace {

Error turn_ends(const CallId& call) {
  return {ErrorCode::kLimit, "call " + call.str() + " was not run: the turn ends", false, nullptr, nullptr};
}

}  // namespace

Error call_is_over(const CallId& call) {
  return {ErrorCode::kInput, "call " + call.str() + " is over; nothing more can be done on its behalf", false,
          nullptr, nullptr};
}

Result<ToolOutcome> outcome_of(const CallState& call) {
  if (call.result->status == ToolStatus::kError) return fail(ErrorCode::kTool, call.result->text);
  return ToolOutcome{*call.result, call.value, nullptr};
}

void TreeLink::began(const SessionId& child, const CallId& call) {
  rest(child);
  children_[child] = Child{call};
  busy_[call].insert(child);
}

void TreeLink::ended(const SessionId& child) { rest(child); }

bool TreeLink::lost(const SessionId& child) {
  rest(child);
  return children_.erase(child) != 0;
}

void TreeLink::forget_children() {
  children_.clear();
  busy_.clear();
}

/// No turn of `child` is in progress any more.
void TreeLink::rest(const SessionId& child) {
  const auto known = children_.find(child);
  if (known == children_.end() || !std::exchange(known->second.busy, false)) return;
  const auto siblings = busy_.find(known->second.call);
  siblings->second.erase(child);
  if (siblings->second.empty()) busy_.erase(siblings);
}

bool TreeLink::waits(ChildWaits waiting) {
  const auto known = children_.find(waiting.child);
  if (known == children_.end()) return false;
  known->second.pending = std::move(waiting.pending);
  known->second.attended = waiting.attended;
  known->second.sleeps = waiting.sleeps;
  return true;
}

void TreeLink::decided(const ParkId& step) {
  for (auto& [id, child] : children_) {
    std::erase_if(child.pending, [&](const ParkedStep& waiting) { return waiting.id == step; });
  }
}

bool TreeLink::is_blocked(const State& state, const CallState& call, Waits waits) const {
  bool has_waiting = false;
  if (const auto below = busy_.find(call.call.id); below != busy_.end()) {
    for (const SessionId& id : below->second) {
      const Child& child = children_.at(id);
      const bool sleeps = waits == Waits::kForPeopleOrTimers && child.sleeps;
      if (child.pending.empty() && !sleeps) return false;
    }
    has_waiting = true;
  }
  if (call.open_within == 0) return has_waiting;
  const CallBatch& calls = state.turn->calls;
  for (const std::uint32_t at : calls.within(call.call.id)) {
    const CallState& within = calls[at];
    if (within.phase == CallState::Phase::kSettled) continue;
    const bool runs = within.phase == CallState::Phase::kRunning;
    if (!runs && never_starts(state, within)) continue;
    const bool stands = within.phase == CallState::Phase::kParked || lacks_a_place(state, within);
    if (runs ? !is_blocked(state, within, waits) : !stands) return false;
    has_waiting = true;
  }
  return has_waiting;
}

bool TreeLink::rests(const State& state) const {
  const bool sleeps = state.turn && state.turn->effect && state.turn->effect->kind == EffectKind::kTimer;
  return sleeps || is_at_rest(state, Waits::kForPeopleOrTimers);
}

bool TreeLink::is_at_rest(const State& state, Waits waits) const {
  const auto& turn = state.turn;
  if (!turn) return false;
  // A spent budget lets running calls finish; these two reasons asked them to stop.
  if (turn->stop == StopReason::kCancelled || turn->stop == StopReason::kTimeLimit) return false;
  if (!turn->stop && state.status() == SessionStatus::kAwaitingUser) return true;
  if (turn->effect || !turn->in_flight()) return false;
  const CallBatch& calls = turn->calls;
  for (const std::uint32_t at : calls.in(CallState::Phase::kRunning)) {
    if (!is_blocked(state, calls[at], waits)) return false;
  }
  // Whether a call that does not run can start depends on its phase alone.
  using enum CallState::Phase;
  return std::ranges::all_of(std::array{kProposed, kApproved, kInDoubt, kBarred}, [&](auto phase) {
    if (calls.in(phase).empty()) return true;
    const CallState& call = calls[*calls.in(phase).begin()];
    return never_starts(state, call) || lacks_a_place(state, call);
  });
}

bool TreeLink::attended() const {
  return std::ranges::any_of(children_, [](const auto& c) { return c.second.busy && c.second.attended; });
}

std::vector<ParkedStep> TreeLink::pending() const {
  std::vector<ParkedStep> pending;
  for (const auto& [id, child] : children_) {
    if (child.busy) pending.insert(pending.end(), child.pending.begin(), child.pending.end());
  }
  return pending;
}

bool TreeLink::tells(bool waits) {
  const bool told = std::exchange(told_above_, waits);
  return waits || told;
}

std::vector<Token> TreeLink::take(const CallId& call) {
  auto found = awaited_.extract(call);
  return found ? std::move(found.mapped()) : std::vector<Token>{};
}

std::vector<Token> TreeLink::take_all() {
  std::vector<Token> all;
  for (const auto& [call, waiters] : std::exchange(awaited_, {}))
    all.insert(all.end(), waiters.begin(), waiters.end());
  return all;
}

std::vector<std::pair<Token, Error>> TreeLink::take_lost(const State& state) {
  std::vector<std::pair<Token, Error>> lost;
  std::erase_if(awaited_, [&](const auto& awaited) {
    const CallState* call = state.find_call(awaited.first);
    if (call != nullptr && !never_starts(state, *call)) return false;
    for (const Token waiter : awaited.second)
      lost.emplace_back(waiter, call == nullptr ? call_is_over(awaited.first) : turn_ends(awaited.first));
    return true;
  });
  return lost;
}

}  // namespace praxis::driver
