// A session among those above and below it: whose events it hears, what it may spend, and whether there is
// anything left to do before a person decides.
#include <algorithm>
#include <utility>

#include "runtime/agent_tree_nodes.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

using Phase = CallState::Phase;

/// Each level of sub-agents gets this much longer to stop, so that the level above hears how it ended.
constexpr std::chrono::milliseconds kGracePerLevel{20};

std::unexpected<Error> call_is_over(const CallId& call) {
  return fail(ErrorCode::kInput, "call " + call.str() + " is over; nothing more can be done on its behalf");
}

std::unexpected<Error> turn_ends(const CallId& call) {
  return fail(ErrorCode::kLimit, "call " + call.str() + " was not run: the turn ends");
}

/// What a model call without an answer used: what its vendor stated, else the request and what arrived. An
/// answer that broke off may be longer than the vendor had stated by then.
Usage used_without_answer(Usage in_doubt, const std::optional<Usage>& stated, std::size_t arrived) {
  constexpr std::size_t kBytesPerToken = 3;  // few, so that it is rather too much than too little
  const auto output = static_cast<std::int64_t>(arrived / kBytesPerToken);
  Usage used = stated.value_or(in_doubt);
  if (!stated) used.output = output;
  if (stated && stated->estimated) used.output = std::max(used.output, output);
  return used;
}

/// Whether a call will not run any more: a turn that ends only waits for what runs already.
bool is_too_late(const State& state, const CallState& call) {
  if (call.phase == Phase::kRunning || call.phase == Phase::kSettled) return false;
  if (state.turn->stop || state.turn->fatal) return true;
  const std::uint32_t most = state.agent->limits.max_tool_calls;
  const auto fresh = std::ranges::count_if(state.turn->calls, [](const CallState& c) {
    return c.attempt == 0 && (c.phase == Phase::kProposed || c.phase == Phase::kApproved);
  });
  return most != 0 && call.phase != Phase::kParked && state.turn->tool_calls + fresh > most;
}

/// What the handler of another call gets for a call that is settled.
Result<ToolOutput> output_of(const CallState& call) {
  const ToolResultPart& result = *call.result;
  if (result.status == ToolStatus::kError) return fail(ErrorCode::kTool, result.text);
  return ToolOutput{result.text, call.value, result.images, {}, result.files};
}

}  // namespace

// ---- events

bool SessionActor::heard_above(bool deltas) const {
  for (const SessionActor* above = origin_.above.get(); above != nullptr;
       above = above->origin_.above.get()) {
    if (above->collecting_) return true;
    if (deltas ? above->observers_.want_deltas() : above->observers_.want_any()) return true;
  }
  return false;
}

bool SessionActor::wants_deltas() const {
  return observers_.want_deltas() || services_->observers.want_deltas() || heard_above(true);
}

void SessionActor::readers_changed() { collecting_ = std::ranges::any_of(readers_, &EventQueue::collects); }

void SessionActor::overhear(std::shared_ptr<const Event> event) {
  post([this, event = std::move(event)] {
    observers_.publish(*event);
    for (const auto& reader : readers_) reader->push(*event);
    if (heard_above(is_delta(event->body))) origin_.above->overhear(event);
  });
}

// ---- sub-agents

void SessionActor::child_began(const SessionId& child, const CallId& call) {
  post([this, child, call] {
    if (!broken_ && state().find_call(call) != nullptr) children_[child] = Child{call, true, {}};
  });
}

void SessionActor::child_settled(ChildSettled settled, bool known) {
  post([this, known, settled = std::move(settled)]() mutable {
    const auto& children = state().children;
    const auto recorded = std::ranges::find(children, settled.child, &ChildState::id);
    if (broken_ || recorded == children.end()) return;
    if (known && recorded->settled && recorded->usage == settled.usage) return;
    if (const auto child = children_.find(settled.child); child != children_.end())
      child->second.busy = false;
    record(std::move(settled));
    advance();
  });
}

void SessionActor::report_last_turn() {
  const auto settled = query([](const State& s) {
    return ChildSettled{s.id, s.last ? s.last->reason.value_or(StopReason::kFinished) : StopReason::kFinished,
                        s.subtree_usage()};
  });
  if (origin_.above) origin_.above->child_settled(settled, true);
}

void SessionActor::child_waits(const SessionId& child, std::vector<ParkedStep> pending, bool attended) {
  post([this, child, attended, pending = std::move(pending)]() mutable {
    const auto known = children_.find(child);
    if (broken_ || known == children_.end()) return;
    known->second.pending = std::move(pending);
    known->second.attended = attended;
    commit();
  });
}

Result<SessionActor::Claim> SessionActor::claim_child(const CallId& call, const std::string& agent,
                                                      const std::string& key) {
  Claim claim;
  auto durable = submit([&](const State& s) -> Result<std::vector<RecordBody>> {
    const CallState* caller = state().find_call(call);
    if (caller == nullptr || caller->phase != Phase::kRunning) return call_is_over(call);
    claim.depth = s.depth + 1;
    const auto known =
        std::ranges::find_if(s.children, [&](const ChildState& c) { return c.call == call && c.key == key; });
    if (known != s.children.end()) {
      claim.id = known->id;
      return std::vector<RecordBody>{};
    }
    claim.id = SessionId{services_->options.environment->new_id()};
    return std::vector<RecordBody>{ChildSpawned{claim.id, call, agent, key}};
  });
  if (!durable) return fail(durable.error());
  return claim;
}

void SessionActor::retire() {
  post([this] { retired_ = true; });
}

void SessionActor::when_settled(Task done) {
  post([this, done = std::move(done)]() mutable {
    if (broken_ || !state().turn) return done();
    settle_waiters_.push_back(std::move(done));
  });
}

void SessionActor::forget_step(ParkId step, Task done) {
  post([this, step = std::move(step), done = std::move(done)]() mutable {
    for (auto& [id, child] : children_) {
      std::erase_if(child.pending, [&](const ParkedStep& waiting) { return waiting.id == step; });
    }
    if (!origin_.above) return done();
    origin_.above->forget_step(std::move(step), std::move(done));
  });
}

void SessionActor::appear(UnixMillis created, UnixMillis updated) {
  post([this, created, updated] {
    show(created);
    show(updated);
  });
}

/// Brings what the agent tree shows of this session up to date; `updated` when something was recorded.
void SessionActor::show(std::optional<UnixMillis> updated) {
  if (broken_ || !state().agent) return;
  if (!place_) {
    const SessionActor* root = this;
    while (root->origin_.above) root = root->origin_.above.get();
    place_ = services_->tree.enter(root->id(), state(), updated.value_or(UnixMillis{}));
  }
  const bool waits = !state().deleted && waits_for_people();
  place_->show(state(), waits ? SessionStatus::kAwaitingUser : shown_status(state()), updated);
}

// ---- waiting for people

/// Whether a running call cannot go on before a person decides: somebody who works for it waits, and nobody
/// who works for it does anything else.
bool SessionActor::blocked(const CallState& call) const {
  bool waits = false;
  for (const auto& [id, child] : children_) {
    if (child.call != call.call.id || !child.busy) continue;
    if (child.pending.empty()) return false;
    waits = true;
  }
  for (const CallState& within : state_->turn->calls) {
    if (within.within != call.call.id || within.phase == Phase::kSettled) continue;
    const bool runs = within.phase == Phase::kRunning;
    if (!runs && is_too_late(*state_, within)) continue;
    if (runs ? !blocked(within) : within.phase != Phase::kParked) return false;
    waits = true;
  }
  return waits;
}

bool SessionActor::waits_for_people() {
  const auto& turn = state().turn;
  if (!turn) return false;
  // What runs is let finish when a budget is spent; else it was told to stop.
  if (turn->stop == StopReason::kCancelled || turn->stop == StopReason::kTimeLimit) return false;
  if (!turn->stop && state().status() == SessionStatus::kAwaitingUser) return true;
  if (turn->effect || !turn->in_flight()) return false;
  return std::ranges::all_of(turn->calls, [this](const CallState& call) {
    if (call.phase == Phase::kRunning) return blocked(call);
    return call.phase == Phase::kSettled || call.phase == Phase::kParked || is_too_late(state(), call);
  });
}

/// The result of a turn that waits, with what those below wait for.
AgentResult SessionActor::waiting_result() {
  AgentResult result = result_of(state());
  result.status = SessionStatus::kAwaitingUser;
  for (const auto& [id, child] : children_) {
    if (child.busy) result.pending.insert(result.pending.end(), child.pending.begin(), child.pending.end());
  }
  return result;
}

/// What those above are told that this session and those below wait for: with ids by which each of them can
/// decide it.
std::vector<ParkedStep> SessionActor::pending_for_above() {
  std::vector<ParkedStep> pending = waiting_result().pending;
  for (ParkedStep& step : pending) {
    if (step.session == id()) step.id = qualified_id(id(), step.id);
  }
  return pending;
}

void SessionActor::finish_waiting() {
  Readers leaving;
  std::erase_if(readers_, [&](const auto& reader) {
    if (reader->stays()) return false;
    leaving.push_back(reader);
    return true;
  });
  readers_changed();
  if (!leaving.empty()) finish(leaving, waiting_result());
}

void SessionActor::tell_above(bool waits) {
  if (!origin_.above || (!waits && !told_above_)) return;
  told_above_ = waits;
  origin_.above->child_waits(id(), waits ? pending_for_above() : std::vector<ParkedStep>{}, attended());
}

/// The time limit of a call does not run while it waits for people.
void SessionActor::hold_clocks() {
  if (broken_ || !state().turn) return;
  for (auto& [effect, active] : active_) {
    const CallState* call = active.kind == EffectKind::kTool ? state().find_call(effect) : nullptr;
    if (call == nullptr) continue;
    const bool waits = blocked(*call);
    const auto now = services_->options.environment->monotonic();
    if (waits && !active.waits_since) {
      active.waits_since = now;
      if (active.timer != 0) services_->options.executor->cancel(std::exchange(active.timer, 0));
    } else if (!waits && active.waits_since) {
      active.waited += now - *std::exchange(active.waits_since, std::nullopt);
      limit_tool(effect, active);
    }
  }
}

// ---- calls within calls

Result<CallId> SessionActor::propose_within(const CallId& within, ToolCallPart call, std::string key,
                                            CallDone done) {
  return query([&](const State& s) -> Result<CallId> {
    if (broken_) return fail(*broken_);
    const CallState* outer = state().find_call(within);
    if (outer == nullptr || outer->phase != Phase::kRunning) return call_is_over(within);
    const auto& calls = s.turn->calls;
    const auto known =
        std::ranges::find_if(calls, [&](const CallState& c) { return c.within == within && c.key == key; });
    if (known != calls.end()) call.id = known->call.id;
    if (known != calls.end() && known->phase == Phase::kSettled) {
      done(output_of(*known));
      return call.id;
    }
    if (known == calls.end()) {
      const auto siblings = std::ranges::count(calls, within, &CallState::within);
      call.id = CallId{within.str() + "." + std::to_string(siblings + 1)};
    }
    hand_backs_[call.id].push_back(std::move(done));
    CallId id = call.id;
    if (known == calls.end()) record(CallProposed{within, std::move(call), std::move(key)});
    advance();
    return id;
  });
}

void SessionActor::hand_back(const CallId& id) {
  const auto waiting = hand_backs_.find(id);
  const CallState* call = state().find_call(id);
  if (waiting == hand_backs_.end() || call == nullptr) return;
  std::vector<CallDone> all = std::move(waiting->second);
  hand_backs_.erase(waiting);
  const Result<ToolOutput> output = output_of(*call);
  for (CallDone& done : all) done(output);
}

/// Those who wait for calls that are gone with the call that asked for them, or that will not run any more.
void SessionActor::drop_hand_backs() {
  if (broken_) return;
  // They may come back here when they hear of it, so nobody is told before the list is whole.
  std::vector<std::pair<CallDone, std::unexpected<Error>>> lost;
  for (auto it = hand_backs_.begin(); it != hand_backs_.end();) {
    const CallState* asked = state().find_call(it->first);
    if (asked != nullptr && !is_too_late(state(), *asked)) {
      ++it;
      continue;
    }
    const auto why = asked == nullptr ? call_is_over(it->first) : turn_ends(it->first);
    for (CallDone& done : it->second) lost.emplace_back(std::move(done), why);
    it = hand_backs_.erase(it);
  }
  for (auto& [done, why] : lost) done(why);
}

void SessionActor::stop_within(const CallId& outer) {
  post([this, outer] {
    if (broken_ || !state().turn) return;
    std::vector<std::pair<EffectId, std::uint32_t>> stopping;
    for (auto& [effect, running] : active_) {
      const CallState* call = state().find_call(effect);
      if (call == nullptr || call->within != outer) continue;
      running.stop.request_stop();
      stopping.emplace_back(effect, running.attempt);
    }
    settle_unstopped(std::move(stopping));
  });
}

// ---- budgets

std::shared_ptr<Budget> SessionActor::budget() {
  if (std::exchange(budget_known_, true) || !state().turn) return budget_;
  const Limits& limits = state().agent->limits;
  const bool bounded = limits.max_tokens != 0 || limits.max_cost.value != 0 || limits.max_tool_calls != 0;
  if (!bounded && !origin_.budget) return nullptr;
  const AgentResult& report = state().turn->report;
  const Usage usage = report.usage + report.usage_children;
  const Amount spent{usage.total(), usage.cost, state().turn->tool_calls};
  budget_ = Budget::create(origin_.budget, limits, spent, spent);
  return budget_;
}

/// With its price, where that is known.
Usage SessionActor::usage_in_doubt() {
  Usage usage = state().usage_in_doubt();
  if (model_) usage.cost = model_->price(usage);
  return usage;
}

/// What the next model call may take: the request, and the longest answer it may get. Where nobody knows how
/// long that is or what it costs, more than any limit leaves: such a call is made while no other draws on it.
Amount SessionActor::longest_answer() {
  constexpr std::int64_t kEndless = 1'000'000'000;
  constexpr MicroUsd kPriceless{1'000'000'000'000};
  Usage usage = state().usage_in_doubt();
  const std::int64_t most = model_ ? model_->capabilities().max_output : 0;
  const bool may_be_raised = !agent_->hooks.before_model.empty();
  if (usage.output == 0 || may_be_raised) usage.output = most != 0 ? most : kEndless;
  const MicroUsd cost = model_ ? model_->price(usage) : MicroUsd{};
  return {usage.total(), cost.value != 0 ? cost : kPriceless, 0};
}

/// What a model call took becomes known to the budgets. One that gave no answer may have been paid for all
/// the same: its request and what arrived count, unless it never went out or was refused.
void SessionActor::settle_grant(const Active& call, EffectSettled& ended) {
  const auto* answer = std::get_if<ModelResponse>(&ended.result);
  const std::size_t arrived = call.arrived ? call.arrived->load() : 0;
  const auto stated = ended.error ? take_reported_usage(*ended.error) : std::nullopt;
  const bool asked = call.arrived && (arrived != 0 || stated || !ended.error || may_have_cost(*ended.error));
  if (answer == nullptr && asked) {
    ended.spent = used_without_answer(state().usage_in_doubt(), stated, arrived);
    if (ended.spent.cost.value == 0) ended.spent.cost = model_->price(ended.spent);
  }
  if (!grant_) return;
  const Usage usage = answer != nullptr ? answer->usage + answer->failed_usage : ended.spent;
  grant_->settle({usage.total(), usage.cost, 0});
  grant_.reset();
}

/// A model call that was granted but is not made now, because somebody paused the session meanwhile, holds
/// nothing back from the others.
void SessionActor::drop_idle_grant() {
  if (grant_ && !hook_running_ && state_->turn && !state_->turn->effect) grant_.reset();
}

void SessionActor::out_of_budget(StopReason reason) {
  record(Intervened{CommandVerb::kBudget, std::string(to_string(reason)), nullptr, by_runtime()});
}

/// What is to be done must wait until others have settled what they hold, or not be done at all: then the log
/// says so.
SessionActor::Spending SessionActor::spend_on(const Decision& decision) {
  const bool asks =
      std::holds_alternative<CallModel>(decision) || std::holds_alternative<Summarise>(decision);
  if (!asks || grant_) return Spending::kGranted;
  const auto shared = budget();
  if (!shared) return Spending::kGranted;
  auto answer = shared->reserve(longest_answer(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->post([self] { self->advance(); });
  });
  if (auto* granted = std::get_if<Budget::Grant>(&answer)) {
    grant_.emplace(std::move(*granted));
    return Spending::kGranted;
  }
  if (std::holds_alternative<Budget::Busy>(answer)) return Spending::kHasToWait;
  out_of_budget(std::get<StopReason>(answer));
  return Spending::kSpent;
}

bool SessionActor::may_call() {
  const auto shared = budget();
  if (!shared) return true;
  auto answer = shared->reserve({0, {}, 1}, [] {});
  if (auto* granted = std::get_if<Budget::Grant>(&answer)) {
    granted->settle({0, {}, 1});
    return true;
  }
  out_of_budget(StopReason::kMaxToolCalls);
  return false;
}

std::chrono::milliseconds SessionActor::grace() const {
  return services_->options.cancel_grace + height_.load() * kGracePerLevel;
}

Error SessionActor::retired_error() const {
  return {ErrorCode::kInput,
          "sub-agent " + lease_.session.str() + " lived as long as the call that made it, which is over",
          false, nullptr, nullptr};
}

Error SessionActor::deleted_error() const {
  return {ErrorCode::kInput, "session " + lease_.session.str() + " was deleted by a person", false, nullptr,
          nullptr};
}

}  // namespace praxis
